#!/usr/bin/env python3
"""Set-up of the oracle's tests: the LiteRT interpreter's answers to all models, in FOLDER.

Installs the interpreter into a virtual environment below FOLDER, once. Where that fails (no network, no wheel for this
machine) it says why, writes the reason to unavailable.txt, and exits with 77: the tests are skipped.
"""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "scripts"))
import pypi  # noqa: E402

REQUIREMENTS = HERE / "requirements-check.txt"
SKIPPED = 77


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    reason_file = folder / "unavailable.txt"
    reason_file.unlink(missing_ok=True)
    (folder / "expected.json").unlink(missing_ok=True)
    try:
        python = pypi.installed(folder / "venv", REQUIREMENTS, "ai-edge-litert", seconds=240)
    except pypi.Unavailable as reason:
        reason_file.write_text(f"{reason}\n")
        print("SKIP:", reason)
        return SKIPPED
    return subprocess.run([python, HERE / "run_interpreter.py", folder], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

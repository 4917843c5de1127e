#!/usr/bin/env python3
"""Set-up of the oracle's tests: the LiteRT interpreter's answers to all models, in FOLDER.

Installs the interpreter into a virtual environment below FOLDER, once. Where that fails (no network, no wheel for this
machine) it says why, writes the reason to unavailable.txt, and exits with 77: the tests are skipped.
"""

import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
REQUIREMENTS = HERE / "requirements-check.txt"
SKIPPED = 77


def install(venv):
    """The environment's Python, with the packages of REQUIREMENTS."""
    python, stamp = venv / "bin" / "python", venv / "installed.txt"
    if stamp.exists() and stamp.read_text() == REQUIREMENTS.read_text():
        return python
    shutil.rmtree(venv, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True, capture_output=True, text=True)
    subprocess.run(
        [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--only-binary=:all:",
            "--retries=0",
            "--timeout=20",
            "--requirement",
            REQUIREMENTS,
        ],
        check=True,
        capture_output=True,
        text=True,
        timeout=240,
    )
    stamp.write_text(REQUIREMENTS.read_text())
    return python


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    reason_file = folder / "unavailable.txt"
    reason_file.unlink(missing_ok=True)
    (folder / "expected.json").unlink(missing_ok=True)
    try:
        python = install(folder / "venv")
    except (OSError, subprocess.SubprocessError) as error:
        words = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        reason = f"ai-edge-litert cannot be installed: {words[-1] if words else error}"
        reason_file.write_text(reason + "\n")
        print("SKIP:", reason)
        return SKIPPED
    return subprocess.run([python, HERE / "run_interpreter.py", folder], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

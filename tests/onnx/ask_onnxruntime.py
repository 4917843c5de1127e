#!/usr/bin/env python3
"""Installs onnx and onnxruntime below FOLDER, once, and runs run_cases.py with the other arguments.

Where they cannot be installed (no network, no wheel for this machine) it says why and exits with 77: a skip.
"""

import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "scripts"))
import pypi  # noqa: E402


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        python = pypi.installed(folder / "venv", HERE / "requirements-check.txt", "onnxruntime", seconds=240)
    except pypi.Unavailable as reason:
        print("SKIP:", reason)
        return 77
    return subprocess.run([python, HERE / "run_cases.py", *sys.argv[2:]], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

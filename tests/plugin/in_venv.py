#!/usr/bin/env python3
"""in_venv.py ANSWERS SCRIPT ARGUMENT...: runs a test script with the Python that has the LiteRT interpreter.

ANSWERS is the folder of the oracle's set-up, which installs it. Without one: says why, exits with 77.
"""

import os
import pathlib
import sys

SKIPPED = 77


def main():
    answers = pathlib.Path(sys.argv[1])
    python = answers / "venv" / "bin" / "python"
    if not (answers / "venv" / "installed.txt").exists():
        reason = answers / "unavailable.txt"
        print("SKIP:", reason.read_text().strip() if reason.exists() else "ai-edge-litert is not installed")
        return SKIPPED
    os.environ["HEARTH_ORACLE_ANSWERS"] = str(answers)
    os.execv(python, [str(python), *sys.argv[2:]])


if __name__ == "__main__":
    sys.exit(main())

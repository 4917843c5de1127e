#!/usr/bin/env python3
"""No file of C++ is longer than 400 lines: a longer one holds more than one subject. Prints those that are."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = ("core", "hal", "backends", "cache", "frontends", "include", "redis", "runtime", "conformance", "tools", "tests", "benchmarks", "examples")
MOST_LINES = 400


def main():
    files, failures = 0, 0
    for file in sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*") if file.suffix in (".cc", ".h", ".c")):
        files += 1
        path = str(file.relative_to(ROOT))
        lines = file.read_text(encoding="utf-8").count("\n")
        if lines > MOST_LINES:
            print(f"{path} has {lines} lines; {MOST_LINES} are allowed: split it by subject")
            failures += 1
    print(f"{files} files, {failures} too long")
    sys.exit(1 if failures or not files else 0)


main()

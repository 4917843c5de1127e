#!/usr/bin/env python3
"""Prints why tests were skipped, from the log that ctest leaves (Testing/Temporary/LastTest.log): each reason once,
with the number of tests and the name of the first."""

import re
import sys

TEST = re.compile(r"^\d+/\d+ Test: (.+)$")
GTEST_SKIP = re.compile(r"^\S+:\d+: Skipped$")
SCRIPT_SKIP = re.compile(r"^SKIP: (.+)$")


def tests_by_reason(log_lines):
    reasons = {}
    test, reason_follows = "", False
    for line in log_lines:
        line = line.rstrip("\n")
        if match := TEST.match(line):
            test, reason_follows = match[1], False
        elif GTEST_SKIP.match(line):
            reason_follows = True
        elif reason_follows or (match := SCRIPT_SKIP.match(line)):
            reasons.setdefault(line if reason_follows else match[1], []).append(test)
            reason_follows = False
    return reasons


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: skip_reasons.py LastTest.log")
    try:
        with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
            reasons = tests_by_reason(log)
    except OSError as error:
        sys.exit(f"skip_reasons.py: {error}")
    for reason, tests in sorted(reasons.items(), key=lambda entry: -len(entry[1])):
        print(f"SKIPPED {len(tests)}: {reason or '(no reason given)'} [{tests[0]}{', ...' if len(tests) > 1 else ''}]")


if __name__ == "__main__":
    main()

#!/usr/bin/env bash
# expect.sh TEXT PROGRAM ARGUMENT...: runs the program and fails unless it succeeds and prints TEXT somewhere. Skipped (77)
# when an argument names a file that is not there.
set -euo pipefail
text=$1
shift
for argument in "${@:2}"; do
  if [[ $argument == /* && ! -e $argument ]]; then
    echo "SKIP: no $argument: set HEARTH_SHARED to the shared data when configuring"
    exit 77
  fi
done
output=$("$@")
echo "$output"
grep --quiet --fixed-strings -- "$text" <<<"$output" || { echo "expected: $text" >&2; exit 1; }

#!/usr/bin/env bash
# All C++ and C is formatted as .clang-format says. Skipped (77) without clang-format.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if ! command -v clang-format >/dev/null; then
  echo "SKIP: clang-format is not installed"
  exit 77
fi
find core hal backends cache redis runtime frontends tools tests benchmarks examples '(' -name '*.cc' -o -name '*.c' -o -name '*.h' ')' -print0 |
  xargs --null clang-format --dry-run -Werror

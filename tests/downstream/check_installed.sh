#!/usr/bin/env bash
# check_installed.sh BUILD_FOLDER: installs Hearth into a temporary folder, moves that folder, and builds and runs programs
# of a project that knows nothing but the installed package: by CMake (C and C++, and C alone), and by pkg-config.
# Also: the library exports nothing but Hearth's names and says its soname.
set -euo pipefail
build=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp --directory "${TMPDIR:-/tmp}/hearth-install.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/made" >"$scratch/install.log" || { cat "$scratch/install.log"; exit 1; }
mv "$scratch/made" "$scratch/moved"
prefix=$scratch/moved
pc=$(find "$prefix" -name hearth.pc)
lib=$(dirname "$(dirname "$pc")")

# expect_negated NAME PROGRAM
expect_negated() {
  local answer
  answer=$("$2") || { echo "FAILED: $1 does not run" >&2; exit 1; }
  [[ $answer == "-1 -2 -3" ]] || { echo "FAILED: $1 says '$answer'" >&2; exit 1; }
  echo "fine: $1"
}

for languages in "C" "C;CXX"; do
  folder=$scratch/cmake-${languages//;/-}
  cmake -S "$here" -B "$folder" -G Ninja -DLANGUAGES="$languages" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_BUILD_TYPE=Release >"$scratch/configure.log" 2>&1 || { cat "$scratch/configure.log"; exit 1; }
  cmake --build "$folder" -- --quiet
  expect_negated "find_package, C ($languages)" "$folder/negate_c"
done
expect_negated "find_package, C++" "$scratch/cmake-C-CXX/negate_cpp"

export PKG_CONFIG_PATH=$lib/pkgconfig
read -ra flags <<<"$(pkg-config --cflags --libs hearth) -Wl,-rpath,$lib"
cc -std=c11 -Wall -Wextra -pedantic -Werror "$here/negate.c" -o "$scratch/by_pkg_config_c" "${flags[@]}"
expect_negated "pkg-config, C" "$scratch/by_pkg_config_c"
c++ -std=c++20 "$here/negate.cc" -o "$scratch/by_pkg_config_cpp" "${flags[@]}"
expect_negated "pkg-config, C++" "$scratch/by_pkg_config_cpp"

"$prefix/bin/hearth" --version >/dev/null || { echo "FAILED: the installed program does not start" >&2; exit 1; }

library=$lib/libhearth.so
version=$(pkg-config --modversion hearth)
soname=$(readelf --dynamic --wide "$library" | sed --quiet 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[[ $soname == "libhearth.so.${version%%.*}" ]] || { echo "FAILED: the soname is $soname" >&2; exit 1; }
# Weak templates of the standard library are seen from outside in every C++ library; all else must be ours, or what
# XNNPACK calls to share out its loops (backends/cpu/xnnpack/own_threads.h).
foreign=$(nm --dynamic --defined-only "$library" | awk '$2 ~ /[TDBR]/ {print $3}' | c++filt |
  grep --invert-match --extended-regexp '^(hearth_|hearth::|pthreadpool_|typeinfo (name )?for hearth::|vtable for hearth::)' || true)
[[ -z $foreign ]] || { echo "FAILED: exported, but not Hearth's: ${foreign:0:2000}" >&2; exit 1; }
echo "fine: soname and exported names"

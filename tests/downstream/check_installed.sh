#!/usr/bin/env bash
# check_installed.sh BUILD_FOLDER: installs Hearth into a temporary folder, moves that folder, and builds and runs programs
# of a project that knows nothing but the installed package: by CMake (C and C++, and C alone), and by pkg-config, with the
# shared library and with libhearth.a. Also: the library exports nothing but Hearth's names and says its soname.
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

# built_by_cmake FOLDER LANGUAGES LIBRARY
built_by_cmake() {
  cmake -S "$here" -B "$1" -G Ninja -DLANGUAGES="$2" -DLIBRARY="$3" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_BUILD_TYPE=Release >"$scratch/configure.log" 2>&1 || { cat "$scratch/configure.log"; exit 1; }
  cmake --build "$1" -- --quiet
}

for languages in "C" "C;CXX"; do
  folder=$scratch/cmake-${languages//;/-}
  built_by_cmake "$folder" "$languages" hearth::hearth
  expect_negated "find_package, C ($languages)" "$folder/negate_c"
done
expect_negated "find_package, C++" "$scratch/cmake-C-CXX/negate_cpp"

# Not -std=c++20 for the C++ program: the package says it.
export PKG_CONFIG_PATH=$lib/pkgconfig
strict=(-Wall -Wextra -pedantic -Werror)
read -ra c_flags <<<"$(pkg-config --cflags --libs hearth-c) -Wl,-rpath,$lib"
read -ra cpp_flags <<<"$(pkg-config --cflags --libs hearth) -Wl,-rpath,$lib"
cc -std=c11 "${strict[@]}" "$here/negate.c" -o "$scratch/by_pkg_config_c" "${c_flags[@]}"
expect_negated "pkg-config, C" "$scratch/by_pkg_config_c"
c++ "$here/negate.cc" -o "$scratch/by_pkg_config_cpp" "${cpp_flags[@]}"
expect_negated "pkg-config, C++" "$scratch/by_pkg_config_cpp"

# needs_no_library PROGRAM: nothing of Hearth's is looked for at its start
needs_no_library() {
  if readelf --dynamic --wide "$1" | grep --quiet 'NEEDED.*libhearth'; then
    echo "FAILED: $1 needs libhearth.so" >&2
    exit 1
  fi
}

if [[ -f $lib/libhearth.a ]]; then
  built_by_cmake "$scratch/cmake-static" "C;CXX" hearth::static
  for program in negate_c negate_cpp; do
    needs_no_library "$scratch/cmake-static/$program"
    expect_negated "find_package with COMPONENTS static, $program" "$scratch/cmake-static/$program"
  done
  # As where only the archive is installed: -lhearth takes the shared library first.
  mkdir "$scratch/aside"
  mv "$lib"/libhearth.so* "$scratch/aside"
  read -ra c_flags <<<"$(pkg-config --static --cflags --libs hearth-c)"
  read -ra cpp_flags <<<"$(pkg-config --static --cflags --libs hearth)"
  cc -std=c11 "${strict[@]}" "$here/negate.c" -o "$scratch/static_c" "${c_flags[@]}"
  c++ "$here/negate.cc" -o "$scratch/static_cpp" "${cpp_flags[@]}"
  for program in static_c static_cpp; do
    needs_no_library "$scratch/$program"
    expect_negated "pkg-config --static, $program" "$scratch/$program"
  done
  if "$prefix/bin/hearth" devices | grep --quiet '^gles.* yes'; then
    # The backend is a library of its own, which libhearth.a opens.
    answer=$(LD_LIBRARY_PATH=$lib "$scratch/static_c" gles)
    [[ $answer == "-1 -2 -3" ]] || { echo "FAILED: OpenGL ES with libhearth.a says '$answer'" >&2; exit 1; }
  fi
  mv "$scratch"/aside/* "$lib"
elif grep --quiet '^HEARTH_STATIC:BOOL=ON' "$build/CMakeCache.txt"; then
  echo "FAILED: libhearth.a is not installed" >&2
  exit 1
fi

for page in docs/cache.md examples/c/classify.c THIRD_PARTY_LICENCES.txt LICENSE; do
  [[ -s $prefix/share/doc/hearth/$page ]] || { echo "FAILED: share/doc/hearth/$page is not installed" >&2; exit 1; }
done

"$prefix/bin/hearth" --version >/dev/null || { echo "FAILED: the installed program does not start" >&2; exit 1; }

library=$lib/libhearth.so
version=$(pkg-config --modversion hearth)
soname=$(readelf --dynamic --wide "$library" | sed --quiet 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[[ $soname == "libhearth.so.${version%%.*}" ]] || { echo "FAILED: the soname is $soname" >&2; exit 1; }
# Nothing but ours, under the name of its interface's version, and what XNNPACK calls to share out its loops
# (backends/cpu/xnnpack/own_threads.h): no template of the standard library either, weak or not.
foreign=$(nm --dynamic --defined-only --without-symbol-versions "$library" | awk '$2 != "A" {print $3}' | c++filt |
  grep --invert-match --extended-regexp '^(hearth_|hearth::|pthreadpool_|(non-virtual thunk to |typeinfo (name )?for |vtable for |VTT for |guard variable for )hearth::)' || true)
[[ -z $foreign ]] || { echo "FAILED: exported, but not Hearth's: ${foreign:0:2000}" >&2; exit 1; }
names=$(nm --dynamic --defined-only "$library")
[[ $names == *"hearth_session_run@@HEARTH_${version%%.*}"* ]] || { echo "FAILED: exported names carry no version" >&2; exit 1; }
echo "fine: soname and exported names"

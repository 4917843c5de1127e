#!/usr/bin/env bash
# check_packages.sh BUILD_FOLDER: makes the .deb files, unpacks them together, and starts what is in them. Installing them
# takes a Debian of its own; README.md says how that is tried. Skipped (77) without dpkg's tools.
set -euo pipefail
build=$1
for tool in cpack dpkg-deb dpkg-shlibdeps; do
  command -v "$tool" >/dev/null || { echo "SKIP: $tool is not installed"; exit 77; }
done
scratch=$(mktemp --directory "${TMPDIR:-/tmp}/hearth-packages.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

cpack --config "$build/CPackConfig.cmake" -B "$scratch/made" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
for package in libhearth0 libhearth-dev hearth-tools; do
  deb=("$scratch/made/${package}_"*.deb)
  [[ -f ${deb[0]} ]] || { echo "FAILED: there is no $package" >&2; exit 1; }
  depends=$(dpkg-deb --field "${deb[0]}" Depends)
  echo "$package depends on $depends"
  if grep --extended-regexp 'opencl|vulkan|egl|gles|sodium|ssl' <<<"$depends"; then
    echo "FAILED: $package depends on what is opened at run time" >&2
    exit 1
  fi
  dpkg-deb --extract "${deb[0]}" "$scratch/root"
done

"$scratch/root/usr/bin/hearth" devices | grep --quiet '^cpu *yes' || { echo "FAILED: no CPU is found" >&2; exit 1; }
cc "$(dirname "$0")/negate.c" -o "$scratch/negate" -I"$scratch/root/usr/include" -L"$scratch/root/usr/lib" -lhearth
answer=$(LD_LIBRARY_PATH=$scratch/root/usr/lib "$scratch/negate")
[[ $answer == "-1 -2 -3" ]] || { echo "FAILED: the library says '$answer'" >&2; exit 1; }

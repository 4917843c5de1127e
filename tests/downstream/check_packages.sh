#!/usr/bin/env bash
# check_packages.sh BUILD_FOLDER: makes the .deb files, unpacks them together, and starts what is in them. Installing them
# takes a Debian of its own; README.md says how that is tried. Skipped (77) without dpkg's tools.
set -euo pipefail
build=$1
for tool in cpack dpkg-deb dpkg-shlibdeps dpkg-architecture; do
  command -v "$tool" >/dev/null || { echo "SKIP: $tool is not installed"; exit 77; }
done
scratch=$(mktemp --directory "${TMPDIR:-/tmp}/hearth-packages.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

cpack --config "$build/CPackConfig.cmake" -B "$scratch/made" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
packages=(libhearth0 libhearth-dev hearth-tools)
if [[ -e $build/lib/hearth.jar ]]; then packages+=(libhearth-java); fi
for package in "${packages[@]}"; do
  deb=("$scratch/made/${package}_"*.deb)
  [[ -f ${deb[0]} ]] || { echo "FAILED: there is no $package" >&2; exit 1; }
  depends=$(dpkg-deb --field "${deb[0]}" Depends)
  echo "$package depends on $depends"
  if grep --extended-regexp 'opencl|vulkan|egl|gles|sodium|ssl' <<<"$depends"; then
    echo "FAILED: $package depends on what is opened at run time" >&2
    exit 1
  fi
  dpkg-deb --extract "${deb[0]}" "$scratch/tree"
done

field() { dpkg-deb --field "$scratch/made/$1"_*.deb "$2"; }
[[ $(field libhearth0 Maintainer) == *"<"*"@"*">" ]] || { echo "FAILED: the maintainer has no address" >&2; exit 1; }

# Debian's folder for this architecture, which its loader, pkg-config and CMake look into.
lib=$scratch/tree/usr/lib/$(dpkg-architecture --query DEB_HOST_MULTIARCH)
share=$scratch/tree/usr/share
for file in "$lib"/libhearth.so.0 "$lib"/libhearth_{spirv,gles}-*.so "$lib"/libhearth.so "$lib"/pkgconfig/{hearth,hearth-c}.pc "$lib"/cmake/hearth/hearthConfig.cmake \
  "$share"/man/man1/hearth.1 "$share"/doc/libhearth-dev/{docs/cache.md,examples/c/classify.c,README.md,CHANGELOG.md}; do
  [[ -s $file ]] || { echo "FAILED: ${file#"$scratch/tree"} is in no package" >&2; exit 1; }
done
strays=$(find "$scratch/tree/usr/lib" -mindepth 1 -maxdepth 1 -not -path "$lib")
[[ -z $strays ]] || { echo "FAILED: outside of the architecture's folder: $strays" >&2; exit 1; }

# The licence text of every project inside, and those that the texts name only by their place in Debian.
licences=$share/doc/libhearth0/THIRD_PARTY_LICENCES.txt
packages=$(sed '/^## In tests/,$d' "$share/doc/libhearth0/THIRD_PARTY_NOTICES.md" | awk -F ' [|] ' '/^[|] / && NR > 1 {print $2}' |
  grep --invert-match 'Debian package' | tr ',' '\n' | tr -d ' ')
for text in $packages /usr/share/common-licenses/Apache-2.0 /usr/share/common-licenses/GPL-3; do
  grep --quiet --line-regexp --fixed-strings "==== $text ====" "$licences" || { echo "FAILED: no licence text of $text" >&2; exit 1; }
done

LD_LIBRARY_PATH=$lib "$scratch/tree/usr/bin/hearth" devices | grep --quiet '^cpu *yes' || { echo "FAILED: no CPU is found" >&2; exit 1; }
jar=$share/java/hearth.jar
if [[ -s $jar ]] && command -v java >/dev/null; then
  # As Debian's Java finds it, but for the place of the tree.
  LD_LIBRARY_PATH=$lib java -Djava.library.path="$lib/jni" -cp "$jar" "$(dirname "$0")/Devices.java" | grep --quiet '^cpu ' ||
    { echo "FAILED: no CPU is found from Java" >&2; exit 1; }
fi
cc "$(dirname "$0")/negate.c" -o "$scratch/negate" -I"$scratch/tree/usr/include" -L"$lib" -lhearth
answer=$(LD_LIBRARY_PATH=$lib "$scratch/negate")
[[ $answer == "-1 -2 -3" ]] || { echo "FAILED: the library says '$answer'" >&2; exit 1; }

#!/usr/bin/env bash
# check_aarch64.sh BUILD_FOLDER: builds the program for 64-bit Arm and runs the CPU device under qemu-user. Skipped (77)
# without the compiler, the emulator or the libraries (docs/cross-compiling.md).
set -euo pipefail
build=$1
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for tool in aarch64-linux-gnu-g++ qemu-aarch64; do
  command -v "$tool" >/dev/null || { echo "SKIP: $tool is not installed"; exit 77; }
done
libraries=${HEARTH_AARCH64_SYSROOT:-}/usr/lib/aarch64-linux-gnu
[[ -n ${HEARTH_AARCH64_SYSROOT:-} && -d $libraries ]] || { echo "SKIP: HEARTH_AARCH64_SYSROOT names no folder that tools/arm64_sysroot filled"; exit 77; }

if [[ ! -f $build/CMakeCache.txt ]]; then cmake --preset aarch64 -B "$build" >/dev/null; fi
cmake --build "$build" --target hearth_cli

scratch=$(mktemp --directory "${TMPDIR:-/tmp}/hearth-aarch64.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
hearth() { qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$libraries" -E "HEARTH_CACHE_DIR=$scratch/cache" "$build/bin/hearth" "$@"; }

file --brief "$build/bin/hearth" | grep --quiet aarch64 || { echo "FAILED: $build/bin/hearth is not for aarch64"; exit 1; }
for start in cold warm; do
  echo "the demo, $start:"
  hearth run tools/demo/shapes_f32.tflite tools/demo/shapes.png --labels tools/demo/labels.txt --device cpu --output-dir "$scratch/$start"
done
cmp "$scratch"/{cold,warm}/*.npy
hearth compare tools/demo/shapes_f32.tflite tools/demo/shapes.png --device cpu --against reference --no-cache
hearth conformance --device cpu --quiet

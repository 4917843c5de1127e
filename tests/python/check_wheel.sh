#!/usr/bin/env bash
# check_wheel.sh FOLDER [WHEEL]: tools/wheel's wheel (or WHEEL) installs and works on a bare Debian 12, made by debootstrap in
# FOLDER, which has Python and numpy but neither a compiler nor XNNPACK, fmt, libsodium or drivers. Needs root, the network and minutes;
# skipped (77) without them.
set -euo pipefail
folder=$1 wheel=${2-}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
((EUID == 0)) || { echo "SKIP: debootstrap needs root"; exit 77; }
command -v debootstrap >/dev/null || { echo "SKIP: debootstrap is not installed"; exit 77; }
mkdir -p "$folder"
if [[ -z $wheel ]]; then
  PYTHON=/usr/bin/python3 "$root/tools/wheel" "$folder/wheel"
  wheel=$(ls "$folder"/wheel/hearth-*.whl)
fi
bare=$folder/bare
if [[ ! -f $bare/made ]]; then
  rm -rf "$bare"
  debootstrap --variant=minbase --include=python3,python3-pip,python3-numpy bookworm "$bare" >"$folder/log" 2>&1 ||
    { tail -3 "$folder/log"; echo "SKIP: Debian's packages cannot be reached"; exit 77; }
  touch "$bare/made"
fi
# A program finds the libraries beside it through /proc.
mount -t proc proc "$bare/proc"
trap 'umount "$bare/proc"' EXIT
cp "$wheel" "$root/tools/demo/shapes_f32.tflite" "$bare/tmp/"
chroot "$bare" python3 -m pip install --quiet --no-deps --no-index --force-reinstall --break-system-packages --root-user-action=ignore \
  "/tmp/$(basename "$wheel")"
chroot "$bare" hearth --version
# libepoxy is the wheel's own; EGL is the machine's.
chroot "$bare" hearth devices | grep --quiet 'libEGL.so.1' || { echo "FAILED: the reason against OpenGL ES is another" >&2; exit 1; }
chroot "$bare" hearth run /tmp/shapes_f32.tflite --device cpu --random-inputs 1 --no-cache >"$folder/answer"
grep --quiet . "$folder/answer" || { echo "FAILED: the program says nothing" >&2; exit 1; }
# No libsodium is installed there: the wheel's own signs and verifies. The run makes the cache, in which the CPU keeps nothing.
chroot "$bare" sh -ec '
  cd "$(mktemp --directory)" && export HEARTH_CACHE_DIR=$PWD/cache
  hearth cache key key
  hearth run /tmp/shapes_f32.tflite --device cpu --random-inputs 1 >answer
  hearth cache export bundle.tar --sign key
  hearth cache import bundle.tar --keys key.pub'
chroot "$bare" python3 -c '
import ctypes, os, hearth
graph = hearth.Graph()
graph.output(graph.unary("neg", graph.input("x", (1, 3))), "y")
answer = hearth.Session(graph.build(), device="cpu", cache=False).run([[1, 2, 3]])[0].tolist()
assert answer == [[-1.0, -2.0, -3.0]], answer
assert ctypes.CDLL(hearth.delegate_path()).tflite_plugin_create_delegate
assert os.path.getsize(os.path.join(os.path.dirname(hearth.__file__), "THIRD_PARTY_LICENCES.txt")) > 10000
print("module, program and plugin work")'

#!/usr/bin/env bash
# Mesa 26.1's lavapipe flushes denormals and its min and max give the second operand for a NaN; 22.3 did neither.
#
# Guess: a new version is faster and calculates the same.
# Seen: 1e-40 + 1e-40 is 0 in 26.1, the root of 1e-40 is 0, min(1, NaN) is NaN and min(NaN, 1) is 1. Integers of NaN and
# of 3e9, which were -2147483648, are 0 and 2147483647. What is passed through keeps its denormals.
. "$(dirname "$0")/lib/finding.sh"
installed mesa-vulkan-drivers=22.3.6-1+deb12u2 glslang-tools=12.0.0-2
packages vulkan==1.3.275.1 numpy==2.4.6
cat >"$work/edges.py" <<'PY'
import sys
import numpy as np
from finding import expect
from vulkan_compute import evaluate, name

print("Mesa", sys.argv[1], name)
old = sys.argv[1] == "22.3"
tiny = np.array([1e-40], np.float32)
expect("1e-40 passed on", evaluate("x", tiny), 1e-40)
expect("1e-40 + 1e-40", evaluate("x + x", tiny), 2e-40 if old else 0)
expect("sqrt(1e-40)", evaluate("sqrt(x)", tiny), 1e-20 if old else 0)
one, nan = np.ones(1, np.float32), np.array([np.nan], np.float32)
expect("min(NaN, 1)", evaluate("min(x, y)", nan, one), 1)
expect("min(1, NaN)", evaluate("min(x, y)", one, nan), 1 if old else np.nan)
expect("int(NaN), int(3e9)", evaluate("int(x)", np.array([np.nan, 3e9], np.float32), result=np.int32),
       [-2147483648] * 2 if old else [0, 2147483647])
PY
vulkan /usr/share/vulkan/icd.d/lvp_icd.x86_64.json
python edges.py 22.3

# Mesa 26 needs a newer C library than Debian 12 has, so Python is started by that of Debian 13.
unpack trixie libc6 libgcc-s1 libstdc++6 libvulkan1 libllvm19 libdisplay-info2 libdrm2 libdrm-amdgpu1 libelf1t64 libexpat1 \
  libpng16-16t64 libwayland-client0 libx11-xcb1 libxcb1 libxcb-dri3-0 libxcb-present0 libxcb-randr0 libxcb-shm0 libxcb-sync1 \
  libxcb-xfixes0 libxshmfence1 libzstd1 zlib1g libedit2 libtinfo6 libxml2 libffi8 libbsd0 libmd0 liblzma5 libz3-4 libxau6 \
  libxdmcp6 libudev1 libcap2 >"$work/debian-13"
libraries=$root/usr/lib/x86_64-linux-gnu
unpack trixie-backports mesa-vulkan-drivers
vulkan "$root/usr/share/vulkan/icd.d/lvp_icd.json" "$root/usr/lib/x86_64-linux-gnu/libvulkan_lvp.so"
cd "$work"
PYTHONPATH=$lib:$("$environment/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') PYTHONWARNINGS=ignore \
  "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" "$(readlink -f "$environment/bin/python")" edges.py 26.1

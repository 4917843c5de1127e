#!/usr/bin/env bash
# Mesa 25.0's lavapipe does not round a number that is packed to half and unpacked again; 22.3 does.
#
# Guess: unpackHalf2x16(packHalf2x16(x)) is x rounded to float16, on every driver: it is how a shader rounds to 16 bits.
# Seen: Mesa 25.0.7 removes the pair, so 2049 stays 2049 and 100000 is not infinity. 22.3.6 rounds.
. "$(dirname "$0")/lib/finding.sh"
installed mesa-vulkan-drivers=22.3.6-1+deb12u2 glslang-tools=12.0.0-2
packages vulkan==1.3.275.1 numpy==2.4.6
round_trip() {
  python - "$@" <<'PY'
import sys
import numpy as np
from finding import expect
from vulkan_compute import evaluate

x = np.array([2049, 65519, 1e5, 3e-8], np.float32)
pair, stored = "unpackHalf2x16(packHalf2x16(vec2(x, 0.0))).x", "uintBitsToFloat(packHalf2x16(vec2(x, 0.0)))"
rounded = x.astype(np.float16)
expect(f"Mesa {sys.argv[1]}: 2049, 65519, 1e5, 3e-8", evaluate(pair, x), rounded if sys.argv[2] == "rounds" else x)
expect("only packed", evaluate(stored, x).view(np.float16)[::2], rounded)
PY
}
icd=/usr/share/vulkan/icd.d/lvp_icd
vulkan $icd.x86_64.json
round_trip 22.3 rounds
unpack bookworm-backports mesa-vulkan-drivers mesa-libgallium libdrm2 libdrm-amdgpu1
vulkan "$root/usr/share/vulkan/icd.d/lvp_icd.json" "$root/usr/lib/x86_64-linux-gnu/libvulkan_lvp.so"
export LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu
round_trip 25.0 keeps

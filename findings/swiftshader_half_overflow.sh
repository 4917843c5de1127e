#!/usr/bin/env bash
# SwiftShader's packHalf2x16 turns infinity, and finite numbers from 65600 on, into NaN.
#
# Guess: infinity stays infinity, and what is too large becomes infinity or 65504.
# Seen: 65520 to 65568 become infinity; larger numbers and infinity become NaN. lavapipe gives infinity for all of them.
. "$(dirname "$0")/lib/finding.sh"
installed chromium-common=156.0.8078.108-1~deb12u1 glslang-tools=12.0.0-2
packages vulkan==1.3.275.1 numpy==2.4.6
for driver in /usr/lib/chromium/vk_swiftshader_icd.json /usr/share/vulkan/icd.d/lvp_icd.x86_64.json; do
  vulkan $driver
  python - <<'PY'
import numpy as np
from finding import expect
from vulkan_compute import evaluate, name

x = np.array([65519, 65520, 65568, 65600, 1e5, 3e38, np.inf], np.float32)
half = evaluate("packHalf2x16(vec2(x, 0.0))", x, result=np.uint32).astype(np.uint16).view(np.float16)
too_large = [np.nan if "SwiftShader" in name else np.inf] * 4
expect(f"{name}: 65519, 65520, 65568, 65600, 1e5, 3e38, inf", half, [65504, np.inf, np.inf, *too_large])
PY
done

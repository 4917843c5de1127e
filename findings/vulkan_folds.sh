#!/usr/bin/env bash
# NaN and products in lavapipe and SwiftShader: x * 0.0 is 0 for NaN and infinity, and fma(x, y, z) rounds twice.
#
# Guess: x * 0.0 and x - x keep NaN, since no fast-math flag is set; fma is one rounding on a processor that has FMA.
# Seen: both drivers make x * 0.0 the constant 0; lavapipe makes x - x 0 too. fma is a product and a sum in both, so that
# fma(x, y, -(x * y)) is 0 where it should be the product's rounding error.
. "$(dirname "$0")/lib/finding.sh"
processor fma
installed mesa-vulkan-drivers=22.3.6-1+deb12u2 chromium-common=156.0.8078.108-1~deb12u1 glslang-tools=12.0.0-2
packages vulkan==1.3.275.1 numpy==2.4.6
for driver in /usr/share/vulkan/icd.d/lvp_icd.x86_64.json /usr/lib/chromium/vk_swiftshader_icd.json; do
  vulkan $driver
  python - <<'PY'
import numpy as np
from finding import expect
from vulkan_compute import evaluate, name

x = np.array([1, np.nan, np.inf], np.float32)
nan = 0 if "llvmpipe" in name else np.nan
expect(f"{name}: x * 0.0 of 1, NaN, inf", evaluate("x * 0.0", x), [0, 0, 0])
expect("x - x", evaluate("x - x", x), [0, nan, nan])
expect("x * y with a y of 0 from memory", evaluate("x * y", x, np.zeros(3, np.float32)), [0, np.nan, np.nan])
x, y = np.array([3.3333333], np.float32), np.array([3.1], np.float32)
print("rounding error of the product:", x.astype(np.float64) * y - (x * y).astype(np.float64))
expect("fma(x, y, -(x * y))", evaluate("fma(x, y, z)", x, y, -(x * y)), 0)
PY
done

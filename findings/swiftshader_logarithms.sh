#!/usr/bin/env bash
# SwiftShader's log of a negative number is the logarithm of its absolute value, of 0 it is -88.03, of NaN 89.1
# (GLSL leaves negative numbers open).
#
# Guess: NaN for negative numbers and NaN, -infinity for 0.
# Seen: finite numbers for all of them.
. "$(dirname "$0")/lib/finding.sh"
installed chromium-common=156.0.8078.108-1~deb12u1 glslang-tools=12.0.0-2
packages vulkan==1.3.275.1 numpy==2.4.6
vulkan /usr/lib/chromium/vk_swiftshader_icd.json
python - <<'PY'
import numpy as np
from finding import expect
from vulkan_compute import evaluate, name

print(name)
x = np.array([-1, -.1, -1e-30, 0, np.nan, -np.inf], np.float32)
expect("log(-1, -0.1, -1e-30, 0, NaN, -inf)", evaluate("log(x)", x), [0, -2.302585, -69.07755, -88.02969, 89.1283, 88.72284])
expect("pow(-2, 2) and pow(-8, 1/3)", evaluate("pow(x, y)", np.array([-2, -8], np.float32), np.array([2, 1 / 3], np.float32)), [4, 2])
expect("acosh(0.5)", evaluate("acosh(x)", np.array([.5], np.float32)), 89.1283)
PY

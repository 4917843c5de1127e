#!/usr/bin/env bash
# SwiftShader's tanh is NaN from +-89 on, and its exp of NaN is infinity.
#
# Guess: +-1 from about 9 on, though Vulkan only asks for the precision of sinh / cosh; NaN of NaN.
# Seen: NaN at +-89 and beyond, infinity included: it is infinity over infinity. exp(NaN) is infinity.
. "$(dirname "$0")/lib/finding.sh"
installed chromium-common=156.0.8078.108-1~deb12u1 glslang-tools=12.0.0-2
packages vulkan==1.3.275.1 numpy==2.4.6
vulkan /usr/lib/chromium/vk_swiftshader_icd.json
python - <<'PY'
import numpy as np
from finding import expect
from vulkan_compute import evaluate, name

print(name)
x = np.array([9, 88, 89, 1000, np.inf, -89, -np.inf], np.float32)
expect("tanh(9, 88, 89, 1000, inf, -89, -inf)", evaluate("tanh(x)", x), [1, 1] + [np.nan] * 5)
expect("1 - 2 / (exp(2 x) + 1)", evaluate("1.0 - 2.0 / (exp(2.0 * x) + 1.0)", x), np.tanh(x))
expect("exp(NaN)", evaluate("exp(x)", np.array([np.nan], np.float32)), np.inf)
PY

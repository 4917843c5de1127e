#!/usr/bin/env bash
# Mesa's lavapipe: tanh and sinh of any tiny number are 2.98e-8, asinh and atanh are 0, the log of a denormal is -88.
#
# Guess: tanh(x) = x for tiny x, to a few units in the last place; log(1e-40) is -92.1, or -infinity if denormals are flushed.
# Seen: (e^x - e^-x) / 2 keeps 24 bits around 1, so the smallest positive result is 2^-25, for 1e-30 as for 1e-45, and
# 1e-5 is off by 0.1 %. The logarithm takes a denormal's exponent for -127 and its digits for those of a normal number.
. "$(dirname "$0")/lib/finding.sh"
installed mesa-vulkan-drivers=22.3.6-1+deb12u2 glslang-tools=12.0.0-2
packages vulkan==1.3.275.1 numpy==2.4.6
vulkan /usr/share/vulkan/icd.d/lvp_icd.x86_64.json
python - <<'PY'
import numpy as np
from finding import expect
from vulkan_compute import evaluate, name

print(name)
x = np.array([1e-45, 1e-30, 1e-10, 1e-5], np.float32)
for function, was in [("tanh", [2.98023e-8] * 3 + [1.001358e-5]), ("sinh", [2.98023e-8] * 3 + [1.001358e-5]),
                      ("asinh", [0, 0, 0, 1.001353e-5]), ("atanh", [0, 0, 0, 1.001348e-5])]:
    expect(f"{function}(1e-45, 1e-30, 1e-10, 1e-5)", evaluate(f"{function}(x)", x), was)
x = np.array([2e-38, 1e-40, 1e-45], np.float32)
expect("log(2e-38, 1e-40, 1e-45)", evaluate("log(x)", x), [-86.80509, -88.02122, -88.02969])
PY

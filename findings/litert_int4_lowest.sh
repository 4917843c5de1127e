#!/usr/bin/env bash
# A 4-bit weight of -8 counts as +8 in LiteRT's plain FULLY_CONNECTED; default and reference kernels read -8.
#
# Guess: int4 weights from -8 to 7 give the same numbers in all three sets of kernels, but for the rounding of the input.
# Seen: -7 to 7 do. -8, which ai-edge-quantizer's recipes with a rotation write, is 8 in the plain kernel from 4 rows and 32
# inputs on (x86-64 with AVX2), and 16 where all inputs are 1.
. "$(dirname "$0")/lib/finding.sh"
processor avx2
packages ai-edge-litert==2.3.0 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect
from tflite_model import Net, litert

INT4 = 17
x = np.zeros((1, 32), np.float32)
x[0, 0] = 1
values = np.arange(-8, 8)
weights = np.zeros((16, 32), np.int8)
weights[:, 0] = values
net = Net()
i, y = net.input(x.shape), net.tensor((1, 16))
packed = (weights[:, ::2] & 15 | weights[:, 1::2] << 4).astype(np.uint8)
w = net.tensor(weights.shape, np.int8, np.ones(16), np.zeros(16), packed)
net.graph.tensors[w].type = INT4
net.operator("FULLY_CONNECTED", [i, w, -1], [y], "FullyConnected", version=10)
for kernels, lowest in [("default", -8), ("plain", 8), ("reference", -8)]:
    expect(f"weights -8 to 7, {kernels}", litert(net.file(y), x, kernels=kernels)[0].round(), [lowest, *values[1:]])
expect("the first with inputs of 1, plain", litert(net.file(y), x * 0 + 1, kernels="plain")[0][0, 0].round(), 16)
PY

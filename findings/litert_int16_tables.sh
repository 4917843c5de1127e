#!/usr/bin/env bash
# LiteRT's LOG and RSQRT of 16-bit numbers are off by thousands of the 65,536 steps where their curves are steep.
#
# Guess: operators of int16 give the nearest step or the one beside it, as those of int8 do: that is what one pays 16 bits
# for.
# Seen: a table of 513 values spans the whole range of the input, and lines lie between them. Inputs 1 to 100 of 32,767
# all lie on the first line beside 0. SQRT and EXP of the same numbers are right to a step. RESIZE_BILINEAR takes
# places from 10 bits: 18 steps here. LiteRT's reference kernels give the same.
. "$(dirname "$0")/lib/finding.sh"
packages ai-edge-litert==2.3.0 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect
from tflite_model import Net, litert

numbers = np.array([[10, 100, 1000, 10000]], np.int16)
step = 2 / 32768
for kind, function, top, was in [("LOG", np.log, 8, [215, -1335, -3, 0]), ("RSQRT", lambda x: 1 / np.sqrt(x), 64, [4830, 3854, 1, 1]),
                                 ("SQRT", np.sqrt, 2, [-1, 0, -1, 0]), ("EXP", np.exp, 8, [0, 0, 0, 0])]:
    for kernels in ["plain", "reference"]:
        net = Net()
        x, y = net.input(numbers.shape, np.int16, step), net.tensor(numbers.shape, np.int16, top / 32768)
        net.operator(kind, [x], [y])
        right = np.round(function(numbers * step) / (top / 32768)).astype(np.int64)
        expect(f"{kind}, {kernels}: steps too many", litert(net.file(y), numbers, kernels=kernels)[0].astype(np.int64) - right, was)

net = Net()
x, size = net.input((1, 3, 1, 1), np.int16, 1.0), net.constant(np.array([7, 1], np.int32))
y = net.tensor((1, 7, 1, 1), np.int16, 1.0)
net.operator("RESIZE_BILINEAR", [x, size], [y], "ResizeBilinear", halfPixelCenters=True)
ends = np.array([-32768, 32767, -32768], np.int16)
right = np.round(np.interp(np.clip((np.arange(7) + 0.5) * 3 / 7 - 0.5, 0, 2), [0, 1, 2], ends)).astype(np.int64)
expect("RESIZE_BILINEAR: steps too many", litert(net.file(y), ends.reshape(1, 3, 1, 1))[0].reshape(-1) - right, [0, -18, -10, 0, -10, -18, 0])
PY

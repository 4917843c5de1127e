#!/usr/bin/env bash
# LiteRT's MEAN of integers of 8 or 16 bits without a scale is 0, and their SUM the type's lowest number or 0.
#
# Guess: a tensor of plain int8 is a tensor of integers, so the mean of 10, 20, 30, 40 is 25; or the file is refused.
# Seen: a missing scale counts as 0, without a word. REDUCE_MAX of the same tensor is right; so are all for int32.
. "$(dirname "$0")/lib/finding.sh"
packages ai-edge-litert==2.3.0 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect
from tflite_model import Net, litert

for dtype, mean, total in [(np.int8, 0, -128), (np.uint8, 0, 0), (np.int16, 0, -32768), (np.int32, 25, 100)]:
    for kind, was in [("MEAN", mean), ("SUM", total), ("REDUCE_MAX", 40)]:
        net = Net()
        i, axis, y = net.input((1, 4), dtype), net.constant(np.array([1], np.int32)), net.tensor((1,), dtype)
        net.operator(kind, [i, axis], [y], "Reducer")
        expect(f"{kind} of {dtype.__name__} 10 20 30 40", litert(net.file(y), np.array([[10, 20, 30, 40]], dtype))[0], was)
PY

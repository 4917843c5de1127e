#!/usr/bin/env bash
# An infinity in LiteRT: a 1x1 convolution of one channel spreads it to its neighbours as NaN; plain kernels make it 3.4e38.
#
# Guess: an infinite pixel is infinite after a 1x1 convolution with a filter of 1, and its neighbours stay as they are.
# Seen: by default pixels 0 and 1 are NaN where only pixel 2 is infinite (with two channels they are not). The plain and
# reference kernels clamp to float32's range though the file asks for no activation: infinity becomes 3.4028e38.
. "$(dirname "$0")/lib/finding.sh"
processor avx512f
packages ai-edge-litert==2.3.0 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect
from tflite_model import Net, litert

inf, nan, largest = np.inf, np.nan, np.finfo(np.float32).max
for channels, default in [(1, [nan, nan, inf, 0]), (2, [0, 0, inf, 0])]:
    x = np.zeros((1, 1, 4, channels), np.float32)
    x[0, 0, 2, 0] = inf
    net = Net()
    i, y = net.input(x.shape), net.tensor(x.shape)
    w, b = net.constant(np.ones((channels, 1, 1, channels), np.float32)), net.constant(np.zeros(channels, np.float32))
    net.operator("CONV_2D", [i, w, b], [y], "Conv2D", strideW=1, strideH=1)
    for kernels, was in [("default", default), ("plain", [0, 0, largest, 0]), ("reference", [0, 0, largest, 0])]:
        expect(f"channels {channels}, {kernels}, channel 0", litert(net.file(y), x, kernels=kernels)[0][..., 0], was)
PY

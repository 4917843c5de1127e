#!/usr/bin/env bash
# LiteRT's default QUANTIZE of int8 to int8 rounds the ratio of the scales to 8 bits; its plain kernel does not.
#
# Guess: both give the exactly rounded product of value and ratio, but for ties.
# Seen: with a ratio of 128.5/256 64 of the 256 values are a step off by default (XNNPACK: round(256 * ratio)),
# none with the plain kernels but for ties.
. "$(dirname "$0")/lib/finding.sh"
processor avx2
packages ai-edge-litert==2.3.0 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect
from tflite_model import Net, litert

x = np.arange(-128, 128, dtype=np.int8)
for numerator, by_default, plain in [(128, 0, 0), (128.5, 64, 0)]:
    net = Net()
    i, y = net.input(x.shape, np.int8, numerator / 256), net.tensor(x.shape, np.int8, 1)
    net.operator("QUANTIZE", [i], [y], "Quantize", version=2)
    product = x * (numerator / 256)
    ties = np.abs(product - np.floor(product) - .5) < 1e-6
    for kernels, was in [("default", by_default), ("plain", plain)]:
        off = (litert(net.file(y), x, kernels=kernels)[0] != np.rint(product)) & ~ties
        expect(f"ratio {numerator}/256, {kernels}: values off that are no ties", off.sum(), was)
PY

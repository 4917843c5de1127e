#!/usr/bin/env bash
# LiteRT's SCATTER_ND of 8-bit numbers fills and adds stored bytes: a row without an update is minus the zero point's
# real number, and updates that meet are off by it.
#
# Guess: with scale 0.5 and zero point 7 a row without an update is the real 0 (stored 7), and 1.0 and 2.0 at one index
# are 3.0 (stored 13); or a file whose zero point is not 0 is refused.
# Seen: the empty row is stored 0 (-3.5), the sum of stored 9 and 11 is 20 (6.5), and 120 + 120 wraps to -16. PAD of the
# same tensor fills with the zero point, as it should.
. "$(dirname "$0")/lib/finding.sh"
packages ai-edge-litert==2.3.0 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect
from tflite_model import Net, litert

STEPS = {"scale": 0.5, "zero": 7}


def made(kind, updates, before, after, options):
    net = Net()
    x, y = net.input((2, 1), np.int8, **STEPS), net.tensor((3, 1), np.int8, **STEPS)
    constants = [[net.constant(np.array(c, np.int32)) for c in side] for side in (before, after)]
    net.operator(kind, [*constants[0], x, *constants[1]], [y], options)
    for kernels in ("default", "reference"):
        yield kernels, litert(net.file(y), np.array(updates, np.int8), kernels=kernels)[0]


for updates, was in [([[9], [11]], [0, 20, 0]), ([[120], [120]], [0, -16, 0])]:
    for kernels, y in made("SCATTER_ND", updates, [[[1], [1]]], [[3, 1]], "ScatterNd"):
        expect(f"{kernels}: stored {updates} at the middle one of three rows", y, was)
for kernels, y in made("PAD", [[9], [11]], [], [[[0, 1], [0, 0]]], "Pad"):
    expect(f"{kernels}: the same two rows, padded to three", y, [9, 11, 7])
PY

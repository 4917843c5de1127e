#!/usr/bin/env bash
# int8 in LiteRT, where input and output have other scales: some operators rescale, some keep the bytes, some refuse.
#
# Guess: operators that only move or choose numbers either rescale or refuse unequal scales, all alike.
# Seen: RELU and ABS rescale; RESHAPE, MAXIMUM, RESIZE_NEAREST_NEIGHBOR and AVERAGE_POOL_2D keep the bytes, so that numbers
# double here; CONCATENATION refuses int8 and rescales uint8; MAX_POOL_2D fails by default and keeps the bytes when plain.
. "$(dirname "$0")/lib/finding.sh"
packages ai-edge-litert==2.3.0 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, refused
from tflite_model import Net, litert

x = np.array([10, 20, 30, 40], np.int8)  # 1, 2, 3, 4 with a scale of 0.1; results have the scale 0.2


def file(kind, options, shape, result, *constants, twice=False, dtype="int8", **values):
    net = Net()
    inputs = [net.input(shape, dtype, .1)] * (2 if twice else 1) + [net.constant(c) for c in constants]
    y = net.tensor(result, dtype, .2)
    net.operator(kind, inputs, [y], options, version=1 if kind == "RESHAPE" else 2, **values)
    return net.file(y), x.astype(dtype).reshape(shape)


line, image, half = (4,), (1, 1, 4, 1), (1, 1, 2, 1)
pool = {"filterWidth": 2, "filterHeight": 1, "strideW": 2, "strideH": 1}
max_pool = file("MAX_POOL_2D", "Pool2D", image, half, **pool)
for what, answer, was in [
        ("RELU", litert(*file("RELU", None, line, line)), [1, 2, 3, 4]),
        ("ABS", litert(*file("ABS", "Abs", line, line)), [1, 2, 3, 4]),
        ("RESHAPE", litert(*file("RESHAPE", "Reshape", line, (2, 2), np.array([2, 2], np.int32))), [2, 4, 6, 8]),
        ("MAXIMUM", litert(*file("MAXIMUM", "MaximumMinimum", line, line, twice=True)), [2, 4, 6, 8]),
        ("RESIZE_NEAREST_NEIGHBOR", litert(*file("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighbor", image, half,
                                                 np.array([1, 2], np.int32))), [2, 6]),
        ("AVERAGE_POOL_2D", litert(*file("AVERAGE_POOL_2D", "Pool2D", image, half, **pool)), [3, 7]),
        ("MAX_POOL_2D, plain", litert(*max_pool, kernels="plain"), [4, 8]),
        ("CONCATENATION of uint8", litert(*file("CONCATENATION", "Concatenation", line, (8,), twice=True, dtype="uint8")),
         [1, 2, 3, 4] * 2)]:
    expect(f"{what}, times 0.2", answer[0] * .2, was)
refused("MAX_POOL_2D, default", lambda: litert(*max_pool))
refused("CONCATENATION of int8", lambda: litert(*file("CONCATENATION", "Concatenation", line, (8,), twice=True)))
PY

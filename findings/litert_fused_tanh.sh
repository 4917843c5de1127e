#!/usr/bin/env bash
# LiteRT ignores a fused TANH in ADD and CONV_2D, which run as if the file asked for no activation.
#
# Guess: the schema has TANH as a fused activation, so it is calculated, or the file is refused.
# Seen: no activation, no word, in default, plain and reference kernels. FULLY_CONNECTED refuses it.
. "$(dirname "$0")/lib/finding.sh"
packages ai-edge-litert==2.3.0 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, refused
from tflite_model import KERNELS, Net, litert

RELU6, TANH = 3, 4


def add(activation):
    net = Net()
    a, b, y = net.input((1, 2)), net.input((1, 2)), net.tensor((1, 2))
    net.operator("ADD", [a, b], [y], "Add", fusedActivationFunction=activation)
    return net.file(y), np.array([[3, -3]], np.float32), np.array([[5, 2]], np.float32)


def product(kind, options, shape, **values):
    def file(activation):
        net = Net()
        i, w, b = net.input(shape), net.constant(np.eye(2, dtype=np.float32).reshape(2, *shape[1:])), net.constant(np.zeros(2, np.float32))
        y = net.tensor(shape)
        net.operator(kind, [i, w, b], [y], options, fusedActivationFunction=activation, **values)
        return net.file(y), np.array([8, -1], np.float32).reshape(shape)
    return file


for kind, file in [("ADD", add), ("CONV_2D", product("CONV_2D", "Conv2D", (1, 1, 1, 2), strideW=1, strideH=1)),
                   ("FULLY_CONNECTED", product("FULLY_CONNECTED", "FullyConnected", (1, 2)))]:
    expect(f"{kind} + RELU6", litert(*file(RELU6))[0], [6, 0])
    for kernels in KERNELS if kind != "FULLY_CONNECTED" else []:
        expect(f"{kind} + TANH, {kernels}", litert(*file(TANH), kernels=kernels)[0], [8, -1])
refused("FULLY_CONNECTED + TANH", lambda: litert(*file(TANH)))
PY

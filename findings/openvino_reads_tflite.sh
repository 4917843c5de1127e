#!/usr/bin/env bash
# One .tflite file in LiteRT and in OpenVINO: four operators give other numbers, none is refused.
#
# Guess: OpenVINO calculates a fused TANH that LiteRT ignores, and reads UINT8 weights as unsigned, with their zero point;
# coordinates of RESIZE_NEAREST_NEIGHBOR and the epsilon of L2_NORMALIZATION are LiteRT's.
# Seen: the first two as guessed. half_pixel_centers is dropped. 1e-6 is the least sum of squares in OpenVINO and the least
# root of it in LiteRT, so that a vector of length 5e-4 gets the length 0.5.
. "$(dirname "$0")/lib/finding.sh"
packages ai-edge-litert==2.3.0 openvino==2026.4.1 numpy==2.4.6
python - <<'PY'
import numpy as np
import openvino
from finding import expect
from tflite_model import Net, litert


def ask(what, net, y, x, in_litert, in_openvino):
    with open("model.tflite", "wb") as file:
        file.write(net.file(y))
    compiled = openvino.Core().compile_model("model.tflite", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    expect(f"{what}, LiteRT", litert(net.file(y), *x)[0], in_litert)
    expect(f"{what}, OpenVINO", compiled(list(x))[compiled.outputs[0]], in_openvino)


net = Net()
a, b, y = net.input((1, 2)), net.input((1, 2)), net.tensor((1, 2))
net.operator("ADD", [a, b], [y], "Add", fusedActivationFunction=4)
ask("ADD with TANH", net, y, (np.array([[.5, -3]], np.float32), np.array([[.5, 2]], np.float32)), [1, -1], [.7615942, -.7615942])

net = Net()
i, w, y = net.input((1, 2)), net.constant(np.array([[10, 20], [200, 255]], np.uint8), 1, 5), net.tensor((1, 2))
net.operator("FULLY_CONNECTED", [i, w, -1], [y], "FullyConnected", version=3)
ask("UINT8 weights", net, y, (np.ones((1, 2), np.float32),), [30, -57], [20, 445])

net = Net()
i, size, y = net.input((1, 1, 5, 1)), net.constant(np.array([1, 3], np.int32)), net.tensor((1, 1, 3, 1))
net.operator("RESIZE_NEAREST_NEIGHBOR", [i, size], [y], "ResizeNearestNeighbor", halfPixelCenters=True, version=3)
ask("half pixels", net, y, (np.arange(5, dtype=np.float32).reshape(1, 1, 5, 1),), [0, 2, 4], [0, 1, 3])

net = Net()
i, y = net.input((1, 2)), net.tensor((1, 2))
net.operator("L2_NORMALIZATION", [i], [y], "L2Norm")
ask("L2_NORMALIZATION", net, y, (np.array([[3e-4, 4e-4]], np.float32),), [.6, .8], [.3, .4])
PY

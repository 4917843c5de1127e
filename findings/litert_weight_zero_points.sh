#!/usr/bin/env bash
# LiteRT under float inputs: 8-bit weights of type UINT8 are read as signed, and any weights' zero point is ignored.
#
# Guess: UINT8 weights, which old converters wrote, are scale * (q - zero point), in all kernels; where a kernel has no such
# path, it refuses.
# Seen: a byte of 255 counts as -1 and the zero point for nothing, in XNNPACK's default, plain and reference kernels.
# CONV_2D with a scale per channel uses the first channel's for all. DEPTHWISE_CONV_2D refuses UINT8.
. "$(dirname "$0")/lib/finding.sh"
packages ai-edge-litert==2.3.0 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, refused
from tflite_model import KERNELS, Net, litert

x = np.ones((1, 1, 1, 2), np.float32)
bytes_ = np.array([[10, 20], [200, 255]], np.uint8)


def dense(weights, scale, zero):
    net = Net()
    i, w, y = net.input((1, 2)), net.constant(weights, scale, zero), net.tensor((1, 2))
    net.operator("FULLY_CONNECTED", [i, w, -1], [y], "FullyConnected", version=3)
    return net.file(y)


def convolution(weights, scale, zero, kind="CONV_2D", options="Conv2D", **more):
    net = Net()
    i, w, b, y = net.input(x.shape), net.constant(weights, scale, zero), net.constant(np.zeros(2, np.float32)), net.tensor(x.shape)
    net.operator(kind, [i, w, b], [y], options, version=2, strideW=1, strideH=1, **more)
    return net.file(y)


signed = bytes_.view(np.int8).astype(np.float32).sum(1)
print("unsigned, zero point 128:", (bytes_.astype(int) - 128).sum(1), "signed, no zero point:", signed)
for kernels in KERNELS:
    expect(f"FULLY_CONNECTED, {kernels}", litert(dense(bytes_, 1, 128), x.reshape(1, 2), kernels=kernels)[0].round(), signed)
filters = bytes_.reshape(2, 1, 1, 2)
expect("CONV_2D", litert(convolution(filters, 1, 128), x)[0].round(), signed)
expect("CONV_2D, scales 1 and 10", litert(convolution(filters, [1, 10], [128, 128]), x)[0].round(), signed)
depthwise = convolution(bytes_[:1].reshape(1, 1, 1, 2), 1, 128, "DEPTHWISE_CONV_2D", "DepthwiseConv2D", depthMultiplier=1)
refused("DEPTHWISE_CONV_2D", lambda: litert(depthwise, x))
expect("FULLY_CONNECTED, int8, zero point 5, plain", litert(dense(bytes_.view(np.int8), 1, 5), x.reshape(1, 2), kernels="plain")[0].round(), signed)
PY

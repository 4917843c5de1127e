#!/usr/bin/env bash
# onnxslim makes a constant of RandomNormal, and a scale per column after a convolution into one per channel.
#
# Guess: an operator that gives other numbers each time is left alone; a scale is folded into a filter only if its shape
# says that it is one per output channel.
# Seen: after onnxslim every run adds the same noise. A scale of shape [2] (columns) on 2 channels is taken for channels.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 onnxslim==0.1.98 numpy==2.4.6
python - <<'PY'
import numpy as np
import onnxruntime
import onnxslim
from finding import expect, onnx_model


def run_twice(model, inputs):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return [session.run(None, inputs)[0] for _ in range(2)]


x = np.zeros(4, np.float32)
model = onnx_model([("RandomNormal", "", "noise", {"shape": [4]}), ("Add", "x,noise", "y", {})], {"x": x})
first, second = run_twice(model, {"x": x})
expect("noise, two runs are equal", np.array_equal(first, second), False)
first, second = run_twice(onnxslim.slim(model), {"x": x})
expect("noise after onnxslim, two runs are equal", np.array_equal(first, second), True)

x = np.ones((1, 1, 1, 3), np.float32)
constants = {"filter": np.ones((2, 1, 1, 2), np.float32), "scale": np.array([1, 10], np.float32)}
model = onnx_model([("Conv", "x,filter", "c", {}), ("Mul", "c,scale", "y", {})], {"x": x}, constants)
expect("Conv, Mul per column", run_twice(model, {"x": x})[0], [2, 20, 2, 20])
expect("the same after onnxslim", run_twice(onnxslim.slim(model), {"x": x})[0], [2, 2, 20, 20])
PY

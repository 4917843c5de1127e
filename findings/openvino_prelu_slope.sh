#!/usr/bin/env bash
# PRelu with a slope of one dimension: OpenVINO takes it for one number per channel, all others broadcast it to the last axis.
#
# Guess: the standard broadcasts a slope of [3] to the last axis of [1, 3, 2, 3]; OpenVINO's operator of that name has a
# rule of its own for one dimension, and its reader forgets to reshape the slope, where channels and columns are equal.
# Seen: so it is; the same formula of Relu, Sub, Mul and Add broadcasts as the standard says.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime, openvino

x = -np.ones((1, 3, 2, 3), np.float32)
slope = np.array([1, 2, 3], np.float32)
model = onnx_model(("PRelu", "x,slope", "y", {}), {"x": x}, {"slope": slope})
by_column, by_channel = x * slope, x * slope.reshape(3, 1, 1)
expect("reference", onnx_reference(model, {"x": x})[0], by_column)
expect("onnxruntime", onnxruntime(model, {"x": x})[0], by_column)
expect("OpenVINO", openvino(model, {"x": x})[0], by_channel)
model = onnx_model([("Relu", "x", "positive", {}), ("Sub", "x,positive", "negative", {}),
                    ("Mul", "negative,slope", "scaled", {}), ("Add", "positive,scaled", "y", {})], {"x": x}, {"slope": slope})
expect("OpenVINO, the same formula of four operators", openvino(model, {"x": x})[0], by_column)
PY

#!/usr/bin/env bash
# onnxruntime joins two pairs of QuantizeLinear and DequantizeLinear into one with a scale of its own, on neither grid.
#
# Guess: the optimizer removes the second pair only where scale and zero point are equal.
# Seen: with other zero points it computes a third scale: multiples of 0.1 become multiples of 0.08902, by default.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime

x = np.array([1, 2.5, -3.9, 9], np.float32)
nodes = [("QuantizeLinear", "x,s,z1", "q1", {}), ("DequantizeLinear", "q1,s,z1", "d1", {}),
         ("QuantizeLinear", "d1,s,z2", "q2", {}), ("DequantizeLinear", "q2,s,z2", "y", {})]
constants = {"s": np.float32(.1), "z1": np.uint8(128), "z2": np.uint8(100)}
model = onnx_model(nodes, {"x": x}, constants)
expect("reference", onnx_reference(model, {"x": x})[0], [1, 2.5, -3.9, 9])
expect("onnxruntime, no optimization", onnxruntime(model, {"x": x}, optimized=False)[0], [1, 2.5, -3.9, 9])
expect("onnxruntime", onnxruntime(model, {"x": x})[0], [0.9792157, 2.4925492, -3.916863, 8.990981])
PY

#!/usr/bin/env bash
# onnxruntime's Sigmoid in float32 goes up and down below -15, and is 0 from -18: its logarithm is -inf where -18 is right
# (x86-64 with FMA).
#
# Guess: the kernel clamps its input to +-18 and gives 0 below; above, the result is right to a relative 1e-6.
# Seen: below -15 the results are multiples of 2^-25: Sigmoid(-17) is larger than Sigmoid(-16), errors are up to 4 times the
# value, and -18 gives 0. In float64 it is right.
. "$(dirname "$0")/lib/finding.sh"
processor fma
packages onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime

x = np.array([-18, -17, -16, -10] * 2, np.float32)
model = onnx_model(("Sigmoid", "x", "y", {}), {"x": x})
expect("reference", onnx_reference(model, {"x": x})[0][:4], [1.523e-8, 4.1399e-8, 1.12535e-7, 4.53979e-5])
expect("onnxruntime, float32", onnxruntime(model, {"x": x})[0][:4], [0, 8.9407e-8, 5.96046e-8, 4.5389e-5])
wide = x.astype(np.float64)
expect("onnxruntime, float64", onnxruntime(onnx_model(("Sigmoid", "x", "y", {}), {"x": wide}), {"x": wide})[0][:4],
       [1.523e-8, 4.1399e-8, 1.12535e-7, 4.53979e-5])
model = onnx_model([("Sigmoid", "x", "s", {}), ("Log", "s", "y", {})], {"x": x})
expect("logarithm, onnxruntime", onnxruntime(model, {"x": x})[0][:4], [-np.inf, -16.23013, -16.63553, -10.00020])
x = np.linspace(-18, -10, 4001, dtype=np.float32)
y = onnxruntime(onnx_model(("Sigmoid", "x", "y", {}), {"x": x}), {"x": x})[0]
expect("steps down on the way up from -18 to -10", int((np.diff(y) < 0).sum() > 0), 1)
PY

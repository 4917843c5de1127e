#!/usr/bin/env bash
# Two functions convert_float_to_float16: onnxconverter-common's makes 10000 of a weight of 30000, onnxruntime's does not.
#
# Guess: onnxruntime's is a copy of the other one, so both clamp weights to +-10000 and lift tiny ones to 1e-7.
# Seen: only the first does so. onnxruntime's keeps 30000, makes 65504 of 1e5 and 6e-8 of 1e-8.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 onnxconverter-common==1.16.0 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, onnx_model
from onnx import numpy_helper
from onnxconverter_common import float16 as common
from onnxruntime.transformers import float16 as runtimes

weights = np.array([30000, 1e5, 1e-8, -1e-8, 0], np.float32)
for what, converter, was in [("onnxconverter-common", common, [1e4, 1e4, 1.192e-7, -1.192e-7, 0]),
                             ("onnxruntime", runtimes, [30000, 65504, 5.96e-8, -5.96e-8, 0])]:
    model = onnx_model(("Mul", "x,w", "y", {}), {"x": np.ones(5, np.float32)}, {"w": weights}, opset=13)
    converted = converter.convert_float_to_float16(model)
    expect(f"{weights.tolist()} by {what}", numpy_helper.to_array(converted.graph.initializer[0]), was)
PY

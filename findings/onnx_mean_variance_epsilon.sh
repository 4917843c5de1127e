#!/usr/bin/env bash
# MeanVarianceNormalization: onnxruntime has no epsilon where the standard's function body adds 1e-9 to the deviation.
#
# Guess: onnxruntime and the reference add 1e-9 to the deviation; OpenVINO adds it to the variance, so that an input with
# a deviation of 1e-9 gives +-0.5 in the first two and +-3e-5 in OpenVINO; a constant input gives 0 in all.
# Seen: +-1 in onnxruntime, +-0.5 in the other two. A constant input, whose result should be 0, is NaN in onnxruntime.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime, openvino

small = np.array([0, 2e-9, 0, 2e-9], np.float32).reshape(1, 1, 2, 2)
for what, x, others, ours in [("deviation 1e-9", small, [-.5, .5, -.5, .5], [-1, 1, -1, 1]),
                              ("constant", small * 0 + 3, [0] * 4, [np.nan] * 4)]:
    model = onnx_model(("MeanVarianceNormalization", "x", "y", {}), {"x": x})
    expect(f"{what}, reference", onnx_reference(model, {"x": x})[0], others)
    expect(f"{what}, OpenVINO", openvino(model, {"x": x})[0], others)
    expect(f"{what}, onnxruntime", onnxruntime(model, {"x": x})[0], ours)
PY

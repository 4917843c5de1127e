#!/usr/bin/env bash
# RoiAlign, mode "max": the largest of weighted corners (onnxruntime, reference) or of interpolated points and 0 (OpenVINO).
#
# Guess: the largest weighted corner in onnxruntime and the reference, the largest interpolated point in OpenVINO; the
# standard's text says "max pooling" and no more.
# Seen: so it is, but OpenVINO's maximum begins at 0: a region of negative numbers gives 0.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime, openvino

constants = {"regions": np.array([[0, 0, 2, 2]], np.float32), "batch": np.array([0], np.int64)}
for corners, mean, largest_corner, from_zero in [([1, 2, 3, 30], 9, 7.5, 9), ([-1, -2, -3, -30], -9, -.25, 0)]:
    x = np.array(corners, np.float32).reshape(1, 1, 2, 2)
    print("one point between", corners)
    for mode, others, other in [("avg", mean, mean), ("max", largest_corner, from_zero)]:
        attributes = {"mode": mode, "sampling_ratio": 1}
        model = onnx_model(("RoiAlign", "x,regions,batch", "y", attributes), {"x": x}, constants, 16)
        expect(f"{mode}, reference", onnx_reference(model, {"x": x})[0], others)
        expect(f"{mode}, onnxruntime", onnxruntime(model, {"x": x})[0], others)
        expect(f"{mode}, OpenVINO", openvino(model, {"x": x})[0], other)
PY

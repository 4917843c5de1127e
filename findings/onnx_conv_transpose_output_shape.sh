#!/usr/bin/env bash
# ConvTranspose with output_shape: which end loses the odd row depends on the runtime, and OpenVINO ignores SAME_UPPER.
#
# Guess: all runtimes agree: with an odd total padding SAME_UPPER pads one more at the end (the last row is lost), anything
# else one more at the beginning.
# Seen: onnxruntime and the reference do so. OpenVINO loses the first row in SAME_UPPER too, but only where output_shape is
# given; without it SAME_UPPER is right. tract loses the last row where auto_pad is not given.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6 tract==0.23.9
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnxruntime, openvino, tract

x = np.array([1, 2, 3], np.float32).reshape(1, 1, 1, 3)
filter = np.array([1, 10, 100], np.float32).reshape(1, 1, 1, 3)  # all rows: 1 10 102 20 203 30 300
first_lost, last_lost = [10, 102, 20, 203, 30, 300], [1, 10, 102, 20, 203, 30]


def model(**attributes):
    return onnx_model(("ConvTranspose", "x,filter", "y", {"strides": [1, 2], **attributes}), {"x": x}, {"filter": filter})


given = {"output_shape": [1, 6]}
expect("SAME_UPPER, onnxruntime", onnxruntime(model(auto_pad="SAME_UPPER", **given), {"x": x})[0], last_lost)
expect("SAME_UPPER, OpenVINO", openvino(model(auto_pad="SAME_UPPER", **given), {"x": x})[0], first_lost)
expect("SAME_UPPER without output_shape, OpenVINO", openvino(model(auto_pad="SAME_UPPER"), {"x": x})[0], last_lost)
expect("no auto_pad, onnxruntime", onnxruntime(model(**given), {"x": x})[0], first_lost)
expect("no auto_pad, OpenVINO", openvino(model(**given), {"x": x})[0], first_lost)
expect("no auto_pad, tract", tract(model(**given), {"x": x})[0], last_lost)
PY

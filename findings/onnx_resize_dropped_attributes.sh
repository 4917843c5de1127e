#!/usr/bin/env bash
# OpenVINO reads an ONNX Resize and drops antialias, keep_aspect_ratio_policy and exclude_outside without a word.
#
# Guess: onnx's reference evaluator, onnxruntime and OpenVINO agree about all three; where OpenVINO lacks one, its reader
# refuses the node, as it does for half_pixel_symmetric.
# Seen: OpenVINO runs each as if the attribute were not there, so a size of 3x7 with not_larger stays 3x7 where it is 3x5.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime, openvino, refused

row = np.array([7, 1, 8, 2, 9, 3, 10, 4], np.float32).reshape(1, 1, 1, 8)


def resize(x, size, **attributes):
    sizes = {"size": np.array(size, np.int64)}
    return onnx_model(("Resize", "x,,,size", "y", attributes), {"x": x}, sizes, opset=19), {"x": x}


for what, attributes, size, right, other in [
        ("antialias", {"mode": "linear", "antialias": 1}, 3, [4.7674, 5.5, 6.2326], [2, 5.5, 9]),
        ("exclude_outside", {"mode": "cubic", "exclude_outside": 1}, 5, [5.1943, 7.75, 5.5, 3.25, 5.8057],
         [4.9953, 7.75, 5.5, 3.25, 6.0047])]:
    model = resize(row, [1, 1, 1, size], **attributes)
    expect(f"{what}, reference", onnx_reference(*model)[0], right)
    expect(f"{what}, onnxruntime", onnxruntime(*model)[0], right)
    expect(f"{what}, OpenVINO", openvino(*model)[0], other)

model = resize(np.zeros((1, 1, 4, 6), np.float32), [3, 7], axes=[2, 3], keep_aspect_ratio_policy="not_larger")
expect("shape, not_larger, onnxruntime", onnxruntime(*model)[0].shape, [1, 1, 3, 5])
expect("shape, not_larger, OpenVINO", openvino(*model)[0].shape, [1, 1, 3, 7])
model = resize(row, [1, 1, 1, 5], mode="linear", coordinate_transformation_mode="half_pixel_symmetric")
refused("half_pixel_symmetric, OpenVINO", lambda: openvino(*model))
PY

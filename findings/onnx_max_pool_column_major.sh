#!/usr/bin/env bash
# MaxPool's indices with storage_order 1: three runtimes, three answers, and OpenVINO gives the shape of the transpose.
#
# Guess: storage_order 1 counts positions column by column (h + w * H), and all three do so.
# Seen: onnxruntime does. The reference counts something else, and in OpenVINO the indices' shape is [1, 1, 3, 2], so that
# it is not the shape of the values.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime, openvino

x = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)  # the maximum of each window is its lower right element
right = [h + w * 3 for h in (1, 2) for w in (1, 2, 3)]
model = onnx_model(("MaxPool", "x", "y,i", {"kernel_shape": [2, 2], "storage_order": 1}), {"x": x}, opset=12,
                   outputs=("y", "i"))
print("h + w * H of each maximum:", right)
expect("onnxruntime", onnxruntime(model, {"x": x})[1], right)
expect("reference", onnx_reference(model, {"x": x})[1], [4, 5, 6, 8, 9, 10])
values, indices = openvino(model, {"x": x})
expect("OpenVINO", indices, [5, 9, 6, 10, 7, 11])
expect("shapes in OpenVINO", values.shape + indices.shape, [1, 1, 2, 3, 1, 1, 3, 2])
PY

#!/usr/bin/env bash
# AffineGrid with align_corners over a picture of one row: each runtime puts the row somewhere else.
#
# Guess: the only row is the middle one, 0, as in PyTorch, whose function the operator was made for.
# Seen: onnxruntime puts it at 1, the lower edge; onnx's reference at -1, the upper edge; OpenVINO at 0, and gives two rows.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime, openvino

theta = np.array([[[1, 0, 0], [0, 1, 0]]], np.float32)
size = np.array([1, 1, 1, 3], np.int64)
model = onnx_model(("AffineGrid", "theta,size", "y", {"align_corners": 1}), {"theta": theta}, {"size": size}, opset=20)
for run, row, rows in ((onnxruntime, 1, 1), (onnx_reference, -1, 1), (openvino, 0, 2)):
    grid = np.asarray(run(model, {"theta": theta})[0])
    expect(f"the row, {run.__name__}", grid[..., 1], [row] * 3 * rows)
    expect(f"its columns, {run.__name__}", grid[..., 0], [-1, 0, 1] * rows)
PY

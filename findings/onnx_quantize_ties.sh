#!/usr/bin/env bash
# QuantizeLinear: OpenVINO rounds after it has added the zero point, so ties go the other way for an odd zero point;
# onnx's reference evaluator turns infinity into 0.
#
# Guess: the standard rounds x / scale to even, then adds the zero point. onnxruntime and the reference do so; OpenVINO
# adds first. Infinity is 255 in all three.
# Seen: the guess about ties holds; the reference gives 0 for infinity, whatever the zero point is.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime, openvino

x = np.array([.5, 1.5, 2.5, 3.5, 254.6, np.inf], np.float32)
for zero_point, standard, added_first in [(0, [0, 2, 2, 4, 255], [0, 2, 2, 4, 255]), (1, [1, 3, 3, 5, 255], [2, 2, 4, 4, 255])]:
    model = onnx_model(("QuantizeLinear", "x,scale,zero", "y", {}), {"x": x},
                       {"scale": np.float32(1), "zero": np.uint8(zero_point)})
    expect(f"zero point {zero_point}, reference", onnx_reference(model, {"x": x})[0], standard + [0])
    expect(f"zero point {zero_point}, onnxruntime", onnxruntime(model, {"x": x})[0], standard + [255])
    expect(f"zero point {zero_point}, OpenVINO", openvino(model, {"x": x})[0], added_first + [255])
PY

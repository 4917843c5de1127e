#!/usr/bin/env bash
# A dynamically quantized layer whose input holds a NaN, which tells of a broken sensor or a division by zero.
#
# Guess: the layer's step is the range of its input divided by 255, so it is NaN, and so is every output; onnxruntime
# and OpenVINO follow onnx's reference.
# Seen: the reference does. onnxruntime skips the NaN when it looks for the range and takes 0 for it, so all outputs are
# finite and look right. OpenVINO does the same, unless the NaN is the last element: then all are NaN. A layer of floats
# shows NaN in its row.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime, openvino

nan = np.nan
layer = [("DynamicQuantizeLinear", "x", "q,step,zero", {}), ("MatMulInteger", "q,w,zero", "sums", {}),
         ("Cast", "sums", "whole", {"to": 1}), ("Mul", "whole,step", "y", {})]
weights = {"w": np.eye(2, dtype=np.int8)}
all_nan = [nan] * 4
for x, *answers in [((1, 2, nan, 4), all_nan, [1.00392, 1.99216, 0, 4], [1.00392, 2.00784, 0, 4]),
                    ((nan, 2, 1, 4), all_nan, [0, 1.99216, 1.00392, 4], [0, 2.00784, 1.00392, 4]),
                    ((1, 2, 4, nan), all_nan, [1.00392, 1.99216, 4, 0], all_nan)]:
    inputs = {"x": np.array(x, np.float32).reshape(2, 2)}
    for runtime, answer in zip((onnx_reference, onnxruntime, openvino), answers):
        expect(f"{x}, {runtime.__name__}", runtime(onnx_model(layer, inputs, weights), inputs)[0], answer)
PY

#!/usr/bin/env bash
# auto_pad SAME_UPPER with dilations: onnxruntime pads as if there were none, so a pool shrinks and a convolution fails.
#
# Guess: SAME means that the output is as large as the input, so the padding is that of the dilated window.
# Seen: the reference, OpenVINO and tract do so. onnxruntime pads a dilated MaxPool for the window without dilation, and its
# output is shorter; a Conv with the same attributes passes its checks when it is loaded, and is refused when it runs.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6 tract==0.23.9
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime, openvino, refused, tract

x = np.arange(1, 8, dtype=np.float32).reshape(1, 1, 7)
same = {"kernel_shape": [3], "dilations": [2], "auto_pad": "SAME_UPPER"}
pool = onnx_model(("MaxPool", "x", "y", same), {"x": x}, opset=13)
sums = onnx_model(("Conv", "x,w", "y", same), {"x": x}, {"w": np.ones((1, 1, 3), np.float32)}, opset=13)
for run in (onnx_reference, openvino, tract):
    expect(f"MaxPool, {run.__name__}", run(pool, {"x": x})[0], [3, 4, 5, 6, 7, 6, 7])
    expect(f"Conv, {run.__name__}", run(sums, {"x": x})[0], [4, 6, 9, 12, 15, 10, 12])
expect("MaxPool, onnxruntime", onnxruntime(pool, {"x": x})[0], [4, 5, 6, 7, 6])
refused("Conv, onnxruntime", lambda: onnxruntime(sums, {"x": x}))
PY

#!/usr/bin/env bash
# auto_pad SAME_UPPER with strides wider than the window: onnxruntime shifts the windows, or fails when it runs.
#
# Guess: where no padding is needed, SAME pads nothing, as in TensorFlow, from where the attribute comes: windows of 2
# that lie 5 apart in 10 elements are 1 2 and 6 7.
# Seen: OpenVINO and tract do so. onnxruntime pads by a negative number: its Conv and LpPool begin one element later, with
# SAME_LOWER only LpPool; its MaxPool and AveragePool are loaded and fail in each run. The reference's pools fail, but for
# MaxPool, which begins two elements later.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6 tract==0.23.9
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime, openvino, refused, tract

x = np.arange(1, 11, dtype=np.float32).reshape(1, 1, 10)


def model_of(op, pad, weights=None, **more):
    same = {"kernel_shape": [2], "strides": [5], "auto_pad": pad, **more}
    return onnx_model((op, "x,w" if weights else "x", "y", same), {"x": x}, weights or {}, opset=13)


def seen(what, run, model, numbers):
    if numbers:
        expect(f"{what}, {run.__name__}", np.ravel(run(model, {"x": x})[0]), numbers)
    else:
        refused(f"{what}, {run.__name__}", lambda: run(model, {"x": x}))


for pad in ("SAME_UPPER", "SAME_LOWER"):
    sums = model_of("Conv", pad, {"w": np.ones((1, 1, 2), np.float32)})
    largest, mean, norm = model_of("MaxPool", pad), model_of("AveragePool", pad), model_of("LpPool", pad, p=1)
    for run in (openvino, tract):
        seen(f"Conv {pad}", run, sums, [3, 13])
        seen(f"MaxPool {pad}", run, largest, [2, 7])
        seen(f"AveragePool {pad}", run, mean, [1.5, 6.5])
    seen(f"LpPool {pad}", openvino, norm, [3, 13])
    seen(f"Conv {pad}", onnx_reference, sums, [3, 13])
    seen(f"MaxPool {pad}", onnx_reference, largest, [4, 9])
    for pool in (mean, norm):
        seen(f"another pool {pad}", onnx_reference, pool, None)
    seen(f"Conv {pad}", onnxruntime, sums, [5, 15] if pad == "SAME_UPPER" else [3, 13])
    seen(f"LpPool {pad}", onnxruntime, norm, [5, 15])
    for pool in (largest, mean):
        seen(f"another pool {pad}", onnxruntime, pool, None)
PY

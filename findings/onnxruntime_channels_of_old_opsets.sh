#!/usr/bin/env bash
# onnxruntime's quantizer writes QDQ files that onnxruntime refuses, where weights have a scale for each channel and the
# model is older than opset 13.
#
# Guess: quantize_static(per_channel=True) raises the opset of an older model, as it does for opset 9, or refuses it.
# Seen: it leaves opsets 10 to 12 (and makes 11 of 9), and gives DequantizeLinear the attribute axis, which opset 13
# brought. It says nothing; onnx's checker and onnxruntime refuse the file. With one scale for each tensor, and in the
# form QOperator, the files are valid.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
python - <<'PY'
import logging
import warnings

import numpy as np
import onnx
from finding import expect, onnx_model, onnxruntime, refused
from onnxruntime import quantization

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)
x = {"x": np.linspace(-1, 1, 108, dtype=np.float32).reshape(1, 3, 6, 6)}
filters = {"w": np.linspace(-1, 1, 108, dtype=np.float32).reshape(4, 3, 3, 3)}


class Once:
    def __init__(self):
        self.left = [x]

    def get_next(self):
        return self.left.pop() if self.left else None


for opset, becomes in ((9, 11), (10, 10), (11, 11), (12, 12), (13, 13)):
    model = onnx_model(("Conv", "x,w", "y", {}), x, filters, opset)
    model.ir_version = 8
    onnx.save(model, "model.onnx")
    for form, channels in (("QDQ", True), ("QDQ", False), ("QOperator", True)):
        quantization.quantize_static("model.onnx", "quantized.onnx", Once(), per_channel=channels,
                                     quant_format=quantization.QuantFormat[form])
        made = onnx.load("quantized.onnx")
        what = f"opset {opset}, {form}, {'channels' if channels else 'one scale'}"
        expect(f"{what}: its opset", made.opset_import[0].version, becomes)
        if form == "QDQ" and channels and becomes < 13:
            refused(f"{what}: onnx.checker", lambda: onnx.checker.check_model(made))
            refused(f"{what}: onnxruntime", lambda: onnxruntime(made, x))
        else:
            onnx.checker.check_model(made)
            expect(f"{what}: elements", onnxruntime(made, x)[0].size, 64)
PY

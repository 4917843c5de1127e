#!/usr/bin/env bash
# onnxruntime's static quantizer gives an attention mask of -inf an infinite scale, and the quantized file answers 0.
#
# Guess: -inf is left out of the range, or clamped to the lowest float, which only coarsens the scores.
# Seen: no error, warnings of numpy alone; the scale of the mask and of the masked scores is inf, every output is 0.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
python - <<'PY'
import numpy as np
import onnx
from onnx import numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static
from finding import expect, onnx_model, onnxruntime

x = np.arange(16, dtype=np.float32).reshape(1, 4, 4) / 16
mask = np.where(np.tril(np.ones((4, 4))) > 0, 0, -np.inf).astype(np.float32)[None]
nodes = [("Add", "x,mask", "scores", {}), ("Softmax", "scores", "shares", {"axis": -1}),
         ("MatMul", "shares,v", "y", {})]
model = onnx_model(nodes, {"x": x}, {"mask": mask, "v": np.float32([[1], [2], [3], [4]])})


class Samples(CalibrationDataReader):
    def __init__(self):
        self.samples = iter([{"x": x}])

    def get_next(self):
        return next(self.samples, None)


onnx.save(model, "float.onnx")
quantize_static("float.onnx", "quantized.onnx", Samples(), quant_format=QuantFormat.QDQ)
quantized = onnx.load("quantized.onnx")
scales = {i.name: numpy_helper.to_array(i) for i in quantized.graph.initializer if i.name.endswith("_scale")}
expect("scale of the mask", scales["mask_scale"], np.inf)
expect("scale of the masked scores", scales["scores_scale"], np.inf)
expect("before", onnxruntime(model, {"x": x})[0].ravel(), [1, 1.51562, 2.04164, 2.57804])
expect("quantized", onnxruntime(quantized, {"x": x})[0].ravel(), [0, 0, 0, 0])
PY

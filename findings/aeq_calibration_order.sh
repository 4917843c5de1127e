#!/usr/bin/env bash
# ai-edge-quantizer's calibration is a moving average: the range depends on the order of the samples, and later ones hardly count.
#
# Guess: the range is the least and the largest number of all samples, as in TensorFlow's converter.
# Seen: samples of +-1 and +-10 give a range of +-1.44 in this order and +-9.5 in the other one; 50 samples of 1 after a 10
# shrink it to 1.7. Whatever lies beyond is clipped by the quantized model.
. "$(dirname "$0")/lib/finding.sh"
packages ai-edge-litert==2.3.0 ai-edge-quantizer==0.10.0 numpy==2.4.6
python - 2>/dev/null <<'PY'
import contextlib

import ai_edge_quantizer as aeq
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_quantizer import recipe
from finding import expect
from tflite_model import fully_connected

signs = np.where(np.arange(64) % 2, 1, -1).astype(np.float32).reshape(1, 64)
model = fully_connected(signs / 64)
for what, sizes, was in [("1, 10", [1, 10], 1.4443138), ("10, 1", [10, 1], 9.512549), ("10 and 50 times 1", [10] + [1] * 50, 1.6858662)]:
    quantizer = aeq.quantizer.Quantizer(bytearray(model), recipe.static_wi8_ai8())
    statistics = quantizer.calibrate({"serving_default": [{"t0": size * signs} for size in sizes]})
    with contextlib.redirect_stdout(None):
        file = bytes(quantizer.quantize(statistics).quantized_model)
    quantization = schema.ModelT.InitFromPackedBuf(file, 0).subgraphs[0].tensors[0].quantization
    expect(f"samples {what}: largest number of the input", quantization.scale[0] * (127 - quantization.zeroPoint[0]), was)
PY

#!/usr/bin/env bash
# onnxruntime's 4-bit quantizer: the same weights in its two formats; in QDQ form the activations too are rounded to 8 bits.
#
# Guess: both formats multiply float32 activations with the dequantized weights, as the MatMulNBits node does that the
# quantizer writes by default (no accuracy_level).
# Seen: so it is for QOperator. For QDQ the session fuses the nodes to a MatMulNBits of accuracy level 4: 0.7 % off,
# though both files hold the same numbers and without optimization they agree. A session option undoes it.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 onnx-ir==1.1.0 numpy==2.4.6
python - <<'PY'
import logging

import numpy as np
import onnxruntime as runtime
from finding import expect, onnx_model
from onnxruntime.quantization import QuantFormat
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

logging.disable(logging.INFO)
random = np.random.default_rng(0)
x, weights = (random.standard_normal(shape).astype(np.float32) for shape in ((4, 64), (64, 32)))


def run(model, **options):
    session_options = runtime.SessionOptions()
    for key, value in options.items():
        session_options.add_session_config_entry(f"session.{key}", value)
    return runtime.InferenceSession(model.SerializeToString(), session_options, ["CPUExecutionProvider"]).run(None, {"x": x})[0]


results = []
for form in (QuantFormat.QOperator, QuantFormat.QDQ):
    quantizer = MatMulNBitsQuantizer(onnx_model(("MatMul", "x,w", "y", {}), {"x": x}, {"w": weights}), block_size=32,
                                     is_symmetric=True, quant_format=form, op_types_to_quantize=("MatMul",))
    quantizer.process()
    results.append(run(quantizer.model.model))
exact = run(quantizer.model.model, qdq_matmulnbits_accuracy_level="1")
for what, result, differs in [("QOperator", results[0], False), ("QDQ", results[1], True)]:
    error = np.abs(result - exact).max() / np.abs(exact).max()
    print(f"{what}: {error:.1e} of the largest value off")
    expect(f"{what} differs from float32 activations by more than 1e-3", error > 1e-3, differs)
PY

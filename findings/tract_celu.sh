#!/usr/bin/env bash
# tract: Celu forgets to multiply by alpha, and ReduceLogSumExp overflows where its input is 100.
#
# Guess: as onnxruntime: Celu(-1) with alpha 2 is -0.787, the logarithm of a sum of exponentials subtracts the maximum first.
# Seen: -0.393, which is right for no alpha, and infinity.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 tract==0.23.9
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime, tract

for kind, attributes, x, right, wrong in [("Celu", {"alpha": 1.0}, [-1, 1], [-.6321206, 1], [-.6321206, 1]),
                                          ("Celu", {"alpha": 2.0}, [-1, 1], [-.7869387, 1], [-.3934693, 1]),
                                          ("ReduceLogSumExp", {"keepdims": 0}, [100, 100], 100.693147, np.inf)]:
    inputs = {"x": np.array(x, np.float32)}
    model = onnx_model((kind, "x", "y", attributes), inputs)
    for runtime, was in [(onnx_reference, right), (onnxruntime, right), (tract, wrong)]:
        expect(f"{kind} {attributes} of {x}, {runtime.__name__}", runtime(model, inputs)[0], was)
PY

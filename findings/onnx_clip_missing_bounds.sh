#!/usr/bin/env bash
# Clip with a bound left out: onnxruntime and OpenVINO make the largest finite numbers of infinities.
#
# Guess: a bound that is not there changes nothing in any runtime, and Clip without bounds is its operand.
# Seen: the reference and tract do so. The other two clip to the type's range, so a Clip between a mask and Softmax makes
# an even row of one that is NaN without it, and an overflow of float16 comes out as 65504.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6 tract==0.23.9
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime, openvino, tract

inf, nan = np.inf, np.nan
for dtype in (np.float32, np.float16):
    x, zero, most = np.array([inf, -inf, 5], dtype), np.array(0, dtype), np.finfo(dtype).max
    for what, takes, open_bounds, finite in (("no bound", "x", [inf, -inf, 5], [most, -most, 5]),
                                             ("minimum 0", "x,zero", [inf, 0, 5], [most, 0, 5]),
                                             ("maximum 0", "x,,zero", [0, -inf, 0], [0, -most, 0])):
        given = {"x": x} | ({} if takes == "x" else {"zero": zero})
        model = onnx_model(("Clip", takes, "y", {}), given)
        for runtime, was in ((onnx_reference, open_bounds), (tract, open_bounds), (onnxruntime, finite), (openvino, finite)):
            expect(f"{what}, {runtime.__name__}", runtime(model, given)[0], was)

masked = {"x": np.full((1, 4), -inf, np.float32)}
model = onnx_model([("Clip", "x", "c", {}), ("Softmax", "c", "y", {})], masked)
for runtime, was in ((onnx_reference, nan), (tract, nan), (onnxruntime, 0.25), (openvino, 0.25)):
    expect(f"Softmax behind it, all masked, {runtime.__name__}", runtime(model, masked)[0], [was] * 4)
PY

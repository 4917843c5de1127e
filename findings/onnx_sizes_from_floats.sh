#!/usr/bin/env bash
# How large is Resize's result for 10 elements times 0.7, and how many numbers are in Range(0, 0.6, 0.1)? It depends.
#
# Guess: floor(10 * 0.7) is 6 everywhere, since the float32 nearest to 0.7 is below it; Range has 6 numbers but in
# onnxruntime, where it has 7.
# Seen: onnx's shape inference and its reference give 6, onnxruntime, OpenVINO and tract 7 (they round the product to
# float32 first). tract refuses a file that says what was inferred. Range has 7 numbers in all but OpenVINO, which has 6.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6 tract==0.23.9
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime, openvino, refused, tract

for scale, size, inferred, run in [(.7, 10, 6, 7), (.29, 100, 28, 29), (.35, 20, 6, 7), (.1, 30, 3, 3)]:
    x = {"x": np.zeros((1, 1, 1, size), np.float32)}
    model = onnx_model(("Resize", "x,,scales", "y", {}), x, {"scales": np.array([1, 1, 1, scale], np.float32)}, opset=19)
    expect(f"{size} * {scale}, inferred", model.graph.output[0].type.tensor_type.shape.dim[3].dim_value, inferred)
    for runtime, was in [(onnx_reference, inferred), (onnxruntime, run), (openvino, run)]:
        expect(f"{size} * {scale}, {runtime.__name__}", runtime(model, x)[0].shape[3], was)
    if inferred != run:
        refused(f"{size} * {scale} with the inferred size, tract", lambda: tract(model, x))
        model.graph.output[0].type.tensor_type.ClearField("shape")
        del model.graph.value_info[:]
    expect(f"{size} * {scale}, tract", tract(model, x)[0].shape[3], run)
ends = {name: np.array(value, np.float32) for name, value in [("start", 0), ("limit", .6), ("step", .1)]}
model = onnx_model(("Range", "start,limit,step", "y", {}), ends)
for runtime, was in [(onnx_reference, 7), (onnxruntime, 7), (tract, 7), (openvino, 6)]:
    expect(f"numbers in Range(0, 0.6, 0.1), {runtime.__name__}", runtime(model, ends)[0].size, was)
PY

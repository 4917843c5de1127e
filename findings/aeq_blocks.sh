#!/usr/bin/env bash
# ai-edge-quantizer's weights with a scale per block: the recipes for 8 bits quantize nothing, those for 4 bits make files
# that LiteRT's reference kernels calculate wrongly.
#
# Guess: a recipe that the package names works or complains; the reference kernels know all that the others know, or refuse.
# Seen: dynamic_wi8b32_afp32 and dynamic_wi8b64_afp32 give the float model back; only "Ratio: 1.00" tells. A file with blocks of 4
# bits gives other numbers with BUILTIN_REF than with LiteRT's default and plain kernels, which agree to 1e-5.
. "$(dirname "$0")/lib/finding.sh"
packages ai-edge-litert==2.3.0 ai-edge-quantizer==0.10.0 numpy==2.4.6
python - <<'PY'
import contextlib

import ai_edge_quantizer as aeq
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_quantizer import recipe
from finding import expect
from tflite_model import KERNELS, fully_connected, litert

random = np.random.default_rng(0)
weights, x = (random.standard_normal(shape).astype(np.float32) for shape in ((64, 128), (1, 128)))
model = fully_connected(weights)
FLOAT32, INT8, INT4 = 0, 9, 17
for name, was in [("dynamic_wi8c_afp32", INT8), ("dynamic_wi8b32_afp32", FLOAT32), ("dynamic_wi8b64_afp32", FLOAT32),
                  ("dynamic_wi4b32_afp32", INT4)]:
    with contextlib.redirect_stdout(None):
        file = bytes(aeq.quantizer.Quantizer(bytearray(model), getattr(recipe, name)()).quantize().quantized_model)
    tensors = schema.ModelT.InitFromPackedBuf(file, 0).subgraphs[0].tensors
    expect(f"{name}: type of the weights", tensors[1].type, was)
right = x @ weights.T
results = {kernels: litert(file, x, kernels=kernels)[0] for kernels in KERNELS}
print("off the float model, of the largest number:",
      {kernels: round(float(np.abs(result - right).max() / np.abs(right).max()), 3) for kernels, result in results.items()})
for kernels, result in results.items():
    expect(f"4 bits, {kernels} differs from default", np.abs(result - results["default"]).max() > .1, kernels == "reference")
PY

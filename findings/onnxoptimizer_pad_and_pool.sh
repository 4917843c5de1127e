#!/usr/bin/env bash
# onnxoptimizer fuses Pad with zeros into MaxPool, whose own padding is no zero, and merges Reshapes whose 0 means "as before".
#
# Guess: fuse_pad_into_pool knows that MaxPool's padding is minus infinity, and Reshape after Reshape keeps its meaning.
# Seen: maxima of negative numbers lose the zeros around them; the second Reshape then copies a dimension of the wrong shape.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 onnxoptimizer==0.4.2 numpy==2.4.6
python - <<'PY'
import numpy as np
import onnxoptimizer
from finding import expect, onnx_model, onnxruntime, refused

fusions = onnxoptimizer.get_fuse_and_elimination_passes()
x = -np.ones((1, 1, 1, 3), np.float32)
pads = {"pads": np.array([0, 0, 0, 1, 0, 0, 0, 1], np.int64)}
model = onnx_model([("Pad", "x,pads", "p", {}), ("MaxPool", "p", "y", {"kernel_shape": [1, 2]})], {"x": x}, pads)
expect("Pad, MaxPool", onnxruntime(model, {"x": x})[0], [0, -1, -1, 0])
model = onnxoptimizer.optimize(model, fusions)
print("optimized:", [node.op_type for node in model.graph.node])
expect("the same, optimized", onnxruntime(model, {"x": x})[0], [-1, -1, -1, -1])

x = np.arange(12, dtype=np.float32).reshape(2, 6)
shapes = {"first": np.array([3, 4], np.int64), "second": np.array([0, 2, 2], np.int64)}
model = onnx_model([("Reshape", "x,first", "r", {}), ("Reshape", "r,second", "y", {})], {"x": x}, shapes)
expect("two Reshapes", onnxruntime(model, {"x": x})[0].shape, [3, 2, 2])
model = onnxoptimizer.optimize(model, fusions)
refused("the same, optimized", lambda: onnxruntime(model, {"x": x}))
PY

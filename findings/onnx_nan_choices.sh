#!/usr/bin/env bash
# One NaN in ONNX models: whether it survives depends on the operator, the operand's side, its place and the runtime.
#
# Guess: the reference keeps NaN; onnxruntime keeps it in Relu and Max, and skips it in ArgMax and ReduceMax unless it is
# first; OpenVINO's Relu gives 0, its ArgMax is like onnxruntime's.
# Seen: OpenVINO's Max keeps a NaN of the second operand and drops one of the first, its ReduceMax keeps one that is last
# (of three), and tract drops it everywhere, also where it is ReduceMax's or ArgMax's first.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6 tract==0.23.9
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime, openvino, tract

nan = np.nan


def ask(what, node, inputs, *answers, **options):
    model = onnx_model(node, inputs, **options)
    for runtime, answer in zip((onnx_reference, onnxruntime, openvino, tract), answers):
        expect(f"{what}, {runtime.__name__}", runtime(model, inputs)[0].reshape(-1)[:3], answer)


def row(*values):
    return np.array(values, np.float32)


ask("Relu [nan, 1, -1]", ("Relu", "x", "y", {}), {"x": row(nan, 1, -1)}, [nan, 1, 0], [nan, 1, 0], [0, 1, 0], [0, 1, 0])
ask("Max([nan, 1], 0)", ("Max", "x,o", "y", {}), {"x": row(nan, 1), "o": row(0, 0)}, [nan, 1], [nan, 1], [0, 1], [0, 1])
ask("Max(0, [nan, 1])", ("Max", "o,x", "y", {}), {"o": row(0, 0), "x": row(nan, 1)}, [nan, 1], [nan, 1], [nan, 1], [0, 1])
for values, largest, place in [((nan, 1, 3), (nan, nan, 3, 3), (0, 0, 0, 2)), ((1, nan, 3), (nan, 3, 3, 3), (1, 2, 2, 2)),
                               ((1, 3, nan), (nan, 3, nan, 3), (2, 1, 1, 1))]:
    ask(f"ReduceMax {values}", ("ReduceMax", "x", "y", {"keepdims": 0}), {"x": row(*values)}, *largest)
    ask(f"ArgMax {values}", ("ArgMax", "x", "y", {"axis": 0, "keepdims": 0}), {"x": row(*values)}, *place)
PY

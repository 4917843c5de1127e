#!/usr/bin/env bash
# Attention with is_causal, a past, one query and two new keys: three answers from four runtimes.
#
# Guess: the query stands behind the past, so it sees the past and the first new key, as the first of two queries does.
# Seen: onnx's reference does so. onnxruntime and OpenVINO let a single query see all keys, though with two queries the first
# of them sees what the guess says in onnxruntime. tract sees the past alone.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6 tract==0.23.9
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime, openvino, tract


def seen(run, queries):
    """The first query's mean over the keys that it sees: their values are 1 of the past, then 10 and 100."""
    inputs = {"q": np.zeros((1, 1, queries, 2)), "k": np.zeros((1, 1, 2, 2)), "v": np.array([[[[10, 0], [100, 0]]]]),
              "past_k": np.zeros((1, 1, 1, 2)), "past_v": np.array([[[[1, 0]]]])}
    inputs = {name: value.astype(np.float32) for name, value in inputs.items()}
    node = ("Attention", "q,k,v,,past_k,past_v", "y,present_k,present_v", {"is_causal": 1})
    model = onnx_model(node, inputs, opset=23, outputs=("y", "present_k", "present_v"))
    return np.asarray(run(model, inputs)[0]).reshape(-1)[0]


expect("one query, the reference", seen(onnx_reference, 1), 5.5)
expect("one query, onnxruntime", seen(onnxruntime, 1), 37)
expect("one query, OpenVINO", seen(openvino, 1), 37)
expect("one query, tract", seen(tract, 1), 1)
expect("the first of two, the reference", seen(onnx_reference, 2), 5.5)
expect("the first of two, onnxruntime", seen(onnxruntime, 2), 5.5)
PY

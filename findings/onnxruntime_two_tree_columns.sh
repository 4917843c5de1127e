#!/usr/bin/env bash
# A TreeEnsembleClassifier of two classes, 10 and 20, whose leaves have a score for each.
#
# Guess: the class with the larger score, as for three classes; the reference agrees.
# Seen: onnxruntime gives 1 where the second score is above 0 and else 0, which are no classes of the model; the scores
# beside are right. With a third class that no leaf scores, the classes are right.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
python - <<'PY'
import numpy as np
import onnx
from finding import expect, onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

x = np.array([[-1], [1]], np.float32)  # the first row goes left, the second right


def ask(what, scores, classes, labels, of_reference):
    node = helper.make_node(
        "TreeEnsembleClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml", nodes_treeids=[0, 0, 0],
        nodes_nodeids=[0, 1, 2], nodes_featureids=[0, 0, 0], nodes_values=[0.0, 0.0, 0.0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0],
        class_treeids=[0] * 4, class_nodeids=[1, 1, 2, 2], class_ids=[0, 1, 0, 1], class_weights=scores,
        classlabels_int64s=classes)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
                              [helper.make_tensor_value_info("label", TensorProto.INT64, [2]),
                               helper.make_tensor_value_info("scores", TensorProto.FLOAT, [2, len(classes)])])
    model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 18),
                                                                  helper.make_opsetid("ai.onnx.ml", 3)])
    onnx.checker.check_model(model)
    got = onnxruntime(model, {"x": x})
    expect(f"{what}, onnxruntime", got[0], labels)
    expect(f"{what}, onnxruntime's scores", got[1][:, :2].reshape(-1), scores)
    expect(f"{what}, reference", ReferenceEvaluator(model).run(None, {"x": x})[0], of_reference)


ask("0.9 0.1 / 0.2 0.8", [0.9, 0.1, 0.2, 0.8], [10, 20], [1, 1], [10, 20])
ask("0.9 0.1 / -0.5 -0.2", [0.9, 0.1, -0.5, -0.2], [10, 20], [1, 0], [10, 20])
ask("three classes", [0.9, 0.1, 0.2, 0.8], [10, 20, 30], [10, 20], [10, 20])
PY

#!/usr/bin/env bash
# post_transform of ai.onnx.ml's models, by onnxruntime and onnx's reference.
#
# Guess: LOGISTIC makes 0.88 of a sum of 2, in each form of the operator; in TreeEnsemble 5, where it is a number, 1 is
# SOFTMAX and 2 LOGISTIC, as the standard lists them.
# Seen: onnxruntime drops LOGISTIC where there is one target (TreeEnsembleRegressor, LinearRegressor) and applies it where
# there are two; in TreeEnsemble 5 it takes 1 for LOGISTIC and 2 for SOFTMAX. The reference refuses the first and
# drops the second.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, onnx_reference, onnxruntime
from onnx import TensorProto, checker, helper, numpy_helper

x = np.array([[-1]], np.float32)


def ask(what, node, version, targets, of_onnxruntime, of_reference):
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, targets])])
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21),
                                                                   helper.make_opsetid("ai.onnx.ml", version)])
    checker.check_model(model)
    expect(f"{what}, onnxruntime", np.round(onnxruntime(model, {"x": x})[0].reshape(-1), 3), of_onnxruntime)
    if of_reference is not None:
        expect(f"{what}, reference", np.round(onnx_reference(model, {"x": x})[0].reshape(-1), 3), of_reference)


def trees(targets):
    return helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", nodes_treeids=[0], nodes_nodeids=[0],
        nodes_featureids=[0], nodes_values=[0.0], nodes_modes=["LEAF"], nodes_truenodeids=[0], nodes_falsenodeids=[0],
        target_treeids=[0] * targets, target_nodeids=[0] * targets, target_ids=list(range(targets)),
        target_weights=[2.0] * targets, n_targets=targets, post_transform="LOGISTIC")


def linear(targets):
    return helper.make_node("LinearRegressor", ["x"], ["y"], domain="ai.onnx.ml", coefficients=[-2.0] * targets,
                            targets=targets, post_transform="LOGISTIC")


def of_version_5(transform):
    """Two trees of one node each, whose leaves give 2 to the first target and 0 to the second."""
    return helper.make_node(
        "TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", tree_roots=[0, 1], n_targets=2, post_transform=transform,
        aggregate_function=1, nodes_featureids=[0, 0], nodes_splits=numpy_helper.from_array(np.zeros(2, np.float32)),
        nodes_modes=numpy_helper.from_array(np.zeros(2, np.uint8)), nodes_truenodeids=[0, 1], nodes_falsenodeids=[0, 1],
        nodes_trueleafs=[1, 1], nodes_falseleafs=[1, 1], leaf_targetids=[0, 1],
        leaf_weights=numpy_helper.from_array(np.array([2, 0], np.float32)))


for kind in (trees, linear):
    ask(f"LOGISTIC of 2, {kind.__name__}", kind(1), 3, 1, [2.0], None)
    ask(f"LOGISTIC of 2 and 2, {kind.__name__}", kind(2), 3, 2, [0.881, 0.881], None)
ask("TreeEnsemble 5, post_transform=1", of_version_5(1), 5, 2, [0.881, 0.5], [2.0, 0.0])
ask("TreeEnsemble 5, post_transform=2", of_version_5(2), 5, 2, [0.881, 0.119], [2.0, 0.0])
PY

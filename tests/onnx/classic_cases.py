"""Models of ai.onnx.ml, as scikit-learn's, LightGBM's and XGBoost's converters write them."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from one_case import case, network, seeded

DOMAIN = "ai.onnx.ml"


def _classic(name, op, inputs, outputs=1, version=3, constants=(), **attributes):
    made = case(f"{op}_{name}", op, inputs, list(constants), outputs, domain=DOMAIN, **attributes)
    next(one for one in made.model.opset_import if one.domain == DOMAIN).version = version
    return made


def _numbers(name, *shape, low=-1.0, high=1.0):
    return seeded(name, shape, low=low, high=high).flatten().tolist()


def linear_models():
    x = seeded("x", (5, 4), low=-2, high=2)
    for transform in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
        yield _classic(f"of_three_{transform}", "LinearClassifier", [x], 2, coefficients=_numbers("c", 3, 4),
                       intercepts=_numbers("i", 3), classlabels_ints=[7, -2, 5], post_transform=transform)
        yield _classic(transform, "LinearRegressor", [x], targets=3, coefficients=_numbers("c", 3, 4),
                       intercepts=_numbers("i", 3), post_transform=transform)
    for transform in ("NONE", "LOGISTIC", "SOFTMAX"):
        yield _classic(f"of_one_row_{transform}", "LinearClassifier", [x], 2, coefficients=_numbers("c", 4),
                       intercepts=[0.1], classlabels_ints=[3, 4], post_transform=transform)
    yield _classic("of_integers", "LinearClassifier", [seeded("i", (3, 4), np.int64, -9, 9)], 2,
                   coefficients=_numbers("c", 2, 4), intercepts=[0.5, 0.0], classlabels_ints=[0, 1])
    yield _classic("of_a_vector", "LinearRegressor", [x[0]], coefficients=_numbers("c", 4))


def features():
    x = seeded("x", (5, 4), low=-2, high=2)
    yield _classic("each", "Scaler", [x], offset=_numbers("o", 4), scale=_numbers("s", 4))
    yield _classic("one", "Scaler", [seeded("i", (5, 4), np.int64, -9, 9)], offset=[1.5], scale=[0.25])
    with_zeros = x.copy()
    with_zeros[2] = 0
    for norm in ("MAX", "L1", "L2"):
        yield _classic(norm, "Normalizer", [with_zeros], norm=norm)
    yield _classic("above", "Binarizer", [x], threshold=0.3)
    missing = x.copy()
    missing[1, 2] = missing[3, 0] = np.nan
    yield _classic("not_a_number", "Imputer", [missing], imputed_value_floats=_numbers("m", 4), replaced_value_float=np.nan)
    yield _classic("integers", "Imputer", [seeded("i", (5, 4), np.int64, 0, 2)], imputed_value_int64s=[9],
                   replaced_value_int64=1)
    places = np.array([[3, 0, 3]])
    yield _classic("columns", "ArrayFeatureExtractor", [x, places], constants=[1])
    yield _classic("of_a_list", "ArrayFeatureExtractor", [x[0], places], constants=[0])
    yield _classic("joined", "FeatureVectorizer", [x, seeded("y", (5, 2))], inputdimensions=[4, 2])
    numbers = seeded("k", (4, 3), np.int64, 0, 4)
    yield _classic("places", "OneHotEncoder", [numbers], cats_int64s=[3, 0, 1])
    yield _classic("reals", "LabelEncoder", [numbers], keys_int64s=[3, 0, 1], values_floats=[0.5, -1.0, 2.0],
                   default_float=9.0)
    yield _classic("integers", "LabelEncoder", [np.array([1.5, np.nan, 2.0, 7.0], np.float32)],
                   keys_floats=[2.0, 1.5, np.nan], values_int64s=[4, 5, 6], default_int64=-3, version=4)


def wide_integers():
    """Those that doubles do not hold, and a list that a reader takes from the file where it lies."""
    least = 2 ** 53
    wide = np.array([[least], [least + 1], [least + 2]])
    yield _classic("wide", "LabelEncoder", [wide], version=2, keys_int64s=[least, least + 1],
                   values_int64s=[least + 1, 2 ** 62 + 1], default_int64=2 ** 62 + 3)
    yield _classic("wide", "OneHotEncoder", [wide], cats_int64s=[least, least + 1])
    yield _classic("wide", "Imputer", [wide], replaced_value_int64=least + 1, imputed_value_int64s=[2 ** 62 + 1])
    keys = np.arange(3000)
    yield _classic("of_tensors", "LabelEncoder", [np.array([5, 2999, -7])], version=4,
                   keys_tensor=numpy_helper.from_array(keys), values_tensor=numpy_helper.from_array(keys.astype(np.float32) / 3),
                   default_tensor=numpy_helper.from_array(np.array([-1], np.float32)))


def support_vectors():
    x, vectors = seeded("x", (6, 3)), _numbers("v", 5, 3)
    for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        kept = dict(kernel_type=kernel, kernel_params=[0.5, 0.2, 3.0], support_vectors=vectors)
        yield _classic(kernel, "SVMRegressor", [x], **kept, coefficients=_numbers("c", 5), rho=[0.3], n_supports=5)
        yield _classic(f"{kernel}_of_three", "SVMClassifier", [x], 2, **kept, coefficients=_numbers("c", 2, 5),
                       rho=_numbers("r", 3), vectors_per_class=[1, 2, 2], classlabels_ints=[4, 2, 9])
    kept = dict(kernel_type="RBF", kernel_params=[0.5, 0.0, 0.0], support_vectors=vectors)
    yield _classic("one_class", "SVMRegressor", [x], **kept, coefficients=_numbers("c", 5), rho=[0.1], n_supports=5,
                   one_class=1)
    yield _classic("no_vectors", "SVMRegressor", [x], kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0],
                   coefficients=_numbers("c", 3), rho=[0.3])
    far = dict(kept, support_vectors=(np.float32(vectors) + 10000).tolist())
    yield _classic("far_from_zero", "SVMRegressor", [x + np.float32(10000)], **far, coefficients=_numbers("c", 5), rho=[0.3],
                   n_supports=5)
    infinite = x.copy()
    infinite[1, 2], infinite[3, 0] = np.inf, -np.inf
    yield _classic("infinitely_far", "SVMRegressor", [infinite], **kept, coefficients=_numbers("c", 5), rho=[0.3],
                   n_supports=5)
    two = dict(kept, coefficients=_numbers("c", 5), rho=[0.1], vectors_per_class=[2, 3], classlabels_ints=[8, 3])
    for transform in ("NONE", "LOGISTIC", "SOFTMAX"):
        yield _classic(f"of_two_{transform}", "SVMClassifier", [x], 2, **two, post_transform=transform)


def _forest(trees, depth, features, modes=("BRANCH_LEQ",), seed=1):
    """Attributes of full trees, one level less in every other tree, and the leaves as (tree, node)."""
    rng, rows, leaves = np.random.default_rng(seed), [], []
    for tree in range(trees):
        inner = 2 ** (depth - tree % 2) - 1
        for node in range(2 * inner + 1):
            is_leaf = node >= inner
            rows.append((tree, node, 0 if is_leaf else int(rng.integers(features)), float(np.float32(rng.uniform(-1, 1))),
                         "LEAF" if is_leaf else str(rng.choice(modes)), 0 if is_leaf else 2 * node + 1,
                         0 if is_leaf else 2 * node + 2, int(rng.integers(2))))
            leaves += [(tree, node)] if is_leaf else []
    names = ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids",
             "missing_value_tracks_true")
    return {f"nodes_{name}": list(column) for name, column in zip(names, zip(*rows))}, leaves


def _said(prefix, leaves, columns, rng, low=-1.0):
    """One weight at each leaf for a random column, or for the only one."""
    return {f"{prefix}_treeids": [tree for tree, _ in leaves], f"{prefix}_nodeids": [node for _, node in leaves],
            f"{prefix}_ids": [int(rng.integers(columns)) for _ in leaves],
            f"{prefix}_weights": rng.uniform(low, 1, len(leaves)).astype(np.float32).tolist()}


def trees():
    rng, x = np.random.default_rng(3), seeded("x", (7, 4))
    nodes, leaves = _forest(5, 4, 4)
    for name in ("SUM", "AVERAGE", "MIN", "MAX"):
        yield _classic(name, "TreeEnsembleRegressor", [x], **nodes, **_said("target", leaves, 1, rng), n_targets=1,
                       aggregate_function=name, base_values=[0.25])
    yield _classic("of_three_targets", "TreeEnsembleRegressor", [x], **nodes, **_said("target", leaves, 3, rng), n_targets=3,
                   post_transform="LOGISTIC")
    for transform in ("NONE", "SOFTMAX", "LOGISTIC"):
        yield _classic(f"of_three_{transform}", "TreeEnsembleClassifier", [x], 2, **nodes, **_said("class", leaves, 3, rng),
                       classlabels_int64s=[5, 6, 8], post_transform=transform, base_values=[0.1, 0.0, -0.2])
    for name, low, transform in (("shares", 0.0, "NONE"), ("differences", -1.0, "NONE"), ("logits", -1.0, "LOGISTIC")):
        yield _classic(f"of_two_by_{name}", "TreeEnsembleClassifier", [x], 2, **nodes, **_said("class", leaves, 1, rng, low),
                       classlabels_int64s=[3, 1], post_transform=transform)
    for name, low, transform in (("shares", 0.0, "NONE"), ("differences", -1.0, "LOGISTIC")):
        second = _said("class", leaves, 1, rng, low)
        second["class_ids"] = [1] * len(leaves)
        yield _classic(f"of_the_second_by_{name}", "TreeEnsembleClassifier", [x], 2, **nodes, **second,
                       classlabels_int64s=[3, 1], post_transform=transform)
    holes = x.copy()
    holes[1, 2] = holes[4, 0] = holes[5] = np.nan
    modes = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
    mixed, ends = _forest(4, 3, 4, modes, 5)
    yield _classic("that_compare_otherwise", "TreeEnsembleRegressor", [holes], **mixed, **_said("target", ends, 1, rng),
                   n_targets=1)
    one = {**nodes, **_said("target", leaves, 1, rng)}
    values, weights = one.pop("nodes_values"), one.pop("target_weights")
    yield _classic("of_doubles", "TreeEnsembleRegressor", [x.astype(np.float64)], **one, n_targets=1,
                   nodes_values_as_tensor=helper.make_tensor("v", TensorProto.DOUBLE, [len(values)], values),
                   target_weights_as_tensor=helper.make_tensor("w", TensorProto.DOUBLE, [len(weights)], weights))
    yield _classic("of_integers", "TreeEnsembleClassifier", [seeded("i", (5, 4), np.int64, -2, 2)], 2, **nodes,
                   **_said("class", leaves, 3, rng), classlabels_int64s=[0, 1, 2])


def scaled_trees():
    """Several nodes, as a pipeline has them."""
    nodes, leaves = _forest(3, 3, 3)
    steps = [helper.make_node("Scaler", ["x"], ["a"], domain=DOMAIN, offset=[0.1, 0.2, 0.3], scale=[2.0, 1.0, 0.5]),
             helper.make_node("TreeEnsembleClassifier", ["a"], ["label", "scores"], domain=DOMAIN, **nodes,
                              **_said("class", leaves, 3, np.random.default_rng(6), 0.0), classlabels_int64s=[0, 1, 2]),
             helper.make_node("Normalizer", ["scores"], ["shares"], domain=DOMAIN, norm="L1"),
             helper.make_node("Cast", ["label"], ["y"], to=TensorProto.INT64)]
    yield network("Pipeline_of_trees", steps, {"x": seeded("x", (4, 3))}, [], ["y", "shares"], domain=DOMAIN)


def classic():
    for family in (linear_models, features, wide_integers, support_vectors, trees, scaled_trees):
        yield from family()

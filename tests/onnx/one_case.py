"""What the files of cases share: a model of one operator or of a few, and its inputs."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET = 19


class Case:
    def __init__(self, name, model, inputs):
        self.name, self.model, self.inputs = name, model, inputs


def seeded(name, shape, dtype=np.float32, low=-1.0, high=1.0):
    """Seeded by the name, so that a case does not depend on the others."""
    rng = np.random.default_rng(list(name.encode()))
    if np.issubdtype(dtype, np.integer):
        return rng.integers(int(low), int(high) + 1, shape).astype(dtype)
    if dtype == np.bool_:
        return rng.random(shape) < 0.5
    return rng.uniform(low, high, shape).astype(dtype)


def _typed(array):
    return helper.np_dtype_to_tensor_dtype(array.dtype)


def case(name, op, inputs, constants=None, outputs=1, opset=OPSET, domain="", **attributes):
    """`inputs`: arrays by operand; `constants`: operand numbers whose arrays the file holds; None: absent."""
    inputs, constants = [a if a is None else np.asarray(a) for a in inputs], constants or []
    names = ["" if array is None else f"x{k}" for k, array in enumerate(inputs)]
    made = [f"y{k}" for k in range(outputs)]
    node = helper.make_node(op, names, made, domain=domain, **attributes)
    given = [(n, a) for k, (n, a) in enumerate(zip(names, inputs)) if a is not None and k not in constants]
    held = [numpy_helper.from_array(inputs[k], names[k]) for k in constants]
    return network(name, [node], dict(given), held, made, opset, domain)


def network(name, nodes, given, held, outputs, opset=OPSET, domain=""):
    """Several nodes. `held`: constants of the file."""
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info(n, _typed(a), a.shape) for n, a in given.items()],
        [helper.make_empty_tensor_value_info(y) for y in outputs], held)
    sets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return Case(name, helper.make_model(graph, opset_imports=sets, ir_version=9), given)

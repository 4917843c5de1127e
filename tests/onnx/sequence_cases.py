"""Models that put tensors into sequences and take them out again, as exporters write Python's lists."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from one_case import network, seeded


def _node(op, names, makes="y", **attributes):
    return helper.make_node(op, names, makes if isinstance(makes, list) else [makes], **attributes)


def _numbers(**lists):
    return [numpy_helper.from_array(np.array(value, np.int64), name) for name, value in lists.items()]


def _case(name, nodes, held=(), outputs=("y",), **given):
    return network(f"sequence_{name}", nodes, given, list(held), list(outputs), opset=19)


def _loop():
    """[step(x, turn) for turn in range(4)], stacked."""
    info, sequence = helper.make_tensor_value_info, helper.make_tensor_sequence_value_info
    body = helper.make_graph(
        [_node("Cast", ["turn"], "number", to=TensorProto.FLOAT), _node("Mul", ["x", "number"], "scaled"),
         _node("SequenceInsert", ["before", "scaled"], "after"), _node("Identity", ["goes_on"], "again")],
        "body", [info("turn", TensorProto.INT64, []), info("goes_on", TensorProto.BOOL, []),
                 sequence("before", TensorProto.FLOAT, None)],
        [info("again", TensorProto.BOOL, []), sequence("after", TensorProto.FLOAT, None)])
    nodes = [_node("SequenceEmpty", [], "empty"), _node("Loop", ["turns", "", "empty"], "list", body=body),
             _node("ConcatFromSequence", ["list"], axis=1, new_axis=1)]
    return _case("loop", nodes, _numbers(turns=4), x=seeded("loop", (2, 3)))


def sequence_cases():
    x, picture = seeded("sequence", (4, 7, 3)), seeded("sequence picture", (1, 4, 5, 5))
    yield _case("split_sizes", [_node("SplitToSequence", ["x", "sizes"], "s", axis=1), _node("SequenceAt", ["s", "at"])],
                _numbers(sizes=[2, 0, 5], at=2), x=x)
    yield _case("split_size_last_is_smaller",
                [_node("SplitToSequence", ["x", "size"], "s", axis=-2), _node("SequenceAt", ["s", "at"])],
                _numbers(size=3, at=-1), x=x)
    yield _case("split_one_by_one", [_node("SplitToSequence", ["x"], "s", axis=2), _node("SequenceAt", ["s", "at"])],
                _numbers(at=1), x=x)
    yield _case("unbind_and_stack",
                [_node("SplitToSequence", ["x"], "s", axis=0, keepdims=0), _node("SequenceLength", ["s"], "n"),
                 _node("ConcatFromSequence", ["s"], axis=-1, new_axis=1)], outputs=("y", "n"), x=x)
    yield _case("construct_insert_erase",
                [_node("SequenceConstruct", ["x", "z", "x"], "s"), _node("SequenceInsert", ["s", "z", "first"], "t"),
                 _node("SequenceErase", ["t", "second"], "u"), _node("SequenceErase", ["u"], "v"),
                 _node("SequenceInsert", ["v", "x"], "w"), _node("ConcatFromSequence", ["w"], axis=1)],
                _numbers(first=0, second=-3), x=x, z=seeded("sequence z", (4, 2, 3)))
    # The pool makes channels that lie last; sequences hold the file's order.
    yield _case("of_pictures",
                [_node("MaxPool", ["picture"], "p", kernel_shape=[2, 2]), _node("SequenceConstruct", ["p", "p"], "s"),
                 _node("ConcatFromSequence", ["s"], axis=1)], picture=picture)
    yield _case("optional",
                [_node("Optional", ["x"], "o"), _node("OptionalHasElement", ["o"], "has"),
                 _node("OptionalGetElement", ["o"])], outputs=("y", "has"), x=x)
    branches = [helper.make_graph([_node("SequenceInsert", ["s", name], "t")], "branch", [],
                                  [helper.make_tensor_sequence_value_info("t", TensorProto.FLOAT, None)])
                for name in ("x", "z")]
    yield _case("of_a_known_branch",
                [_node("SequenceConstruct", ["x"], "s"),
                 _node("If", ["no"], "b", then_branch=branches[0], else_branch=branches[1]),
                 _node("ConcatFromSequence", ["b"], axis=1)],
                [numpy_helper.from_array(np.array(False), "no")], x=x, z=seeded("sequence z", (4, 2, 3)))
    yield _loop()

"""Tensors of rank 7 and 8. Kernels count fewer dimensions: neighbours that an operator treats alike are one to them."""

import numpy as np

import flatbuffer_net as fb

RANK7 = (2, 1, 3, 2, 1, 2, 5)
RANK8 = (2, 3, 1, 2, 2, 1, 3, 2)


def ints(*values):
    return np.array(values, np.int32)


def add(
    models, op, name, shapes, out, operands=(), options=None, moves=False, shows="", dtype=fb.FLOAT32, **attributes
):
    """An operator of computed tensors and then constants. `out`: a shape, or several."""
    net = fb.Net()
    quant = (0.05, 3) if dtype == fb.INT8 else None
    outs = out if isinstance(out, list) else [out]
    inputs = [net.input(shape, dtype, quant) for shape in shapes] + [net.const(value) for value in operands]
    made = [net.tensor(shape, dtype, quant) for shape in outs]
    net.op(op, inputs, made, options=options, **attributes)
    models.built(op, f"{op.lower()}_{name}", net, made, [(-3, 3)], shows or name, moves)


def add_functions(models):
    add(models, "EXP", "rank8", [RANK8], RANK8)
    add(models, "ADD", "rank7", [RANK7, RANK7], RANK7, options="Add")
    add(models, "SOFTMAX", "rank7", [RANK7], RANK7, options="Softmax", beta=1.0)
    add(models, "RELU", "rank8_int8", [RANK8], RANK8, dtype=fb.INT8)
    for name, a, b in (
        ("channels", RANK8, (2,)),
        ("outer", RANK8, (2, 1, 1, 1, 1, 1, 1, 1)),
        ("middle", RANK7, (2, 1, 1, 1, 1, 2, 5)),
        ("inner_of_the_left", (1, 1, 1, 2, 2, 1, 3, 2), RANK8),
        ("every_second", (2, 3, 2, 2, 2, 3, 2), (2, 1, 2, 1, 2, 1, 2)),
    ):
        out = np.broadcast_shapes(a, b)
        add(models, "SUB", f"rank{len(out)}_{name}", [a, b], out, options="Sub", shows="numpy broadcasting")
    net = fb.Net()
    y = net.tensor(RANK7)
    net.op("SELECT_V2", [net.input((2, 1, 1, 2, 1, 1, 1), fb.BOOL), net.input(RANK7), net.input((5,))], [y])
    models.built("SELECT_V2", "select_v2_rank7", net, [y], [(0, 1), (-3, 3)], "three shapes", moves=True)
    net = fb.Net()
    y = net.tensor(RANK8, fb.INT32)
    net.op("CAST", [net.input(RANK8)], [y], options="Cast", outDataType=fb.INT32)
    models.built("CAST", "cast_rank8", net, [y], [(-9, 9)], "float32 to int32")
    weights = np.arange(20, dtype=np.float32).reshape(4, 5) / 8 - 1
    add(
        models,
        "FULLY_CONNECTED",
        "rank7",
        [RANK7],
        RANK7[:-1] + (4,),
        [weights, np.zeros(4, np.float32)],
        "FullyConnected",
        keepNumDims=True,
    )


def add_sums(models):
    for op in ("SUM", "MEAN", "REDUCE_MAX"):
        add(models, op, "rank8", [RANK8], (2, 1, 2, 2, 1, 3), [ints(1, -1)], "Reducer", shows="dimensions 1 and 7")
        add(
            models,
            op,
            "rank7_every_second",
            [RANK7],
            (1, 1, 1, 2, 1, 2, 1),
            [ints(0, 2, 4, 6)],
            "Reducer",
            keepDims=True,
        )
    add(models, "CUMSUM", "rank8", [RANK8], RANK8, [ints(3)], "Cumsum")
    net = fb.Net()
    y = net.tensor(RANK8[:1] + RANK8[2:], fb.INT32)
    net.op("ARG_MAX", [net.input(RANK8), net.const(ints(1))], [y], options="ArgMax", outputType=fb.INT32)
    models.built("ARG_MAX", "arg_max_rank8", net, [y], [(-9, 9)], "dimension 1")


def add_moves(models):
    reversed_8 = list(reversed(range(8)))
    for name, shape, order in (("rank7", RANK7, (2, 0, 6, 3, 4, 1, 5)), ("rank8_reversed", RANK8, reversed_8)):
        out = tuple(shape[k] for k in order)
        add(models, "TRANSPOSE", name, [shape], out, [ints(*order)], "Transpose", True, str(order))
    add(models, "RESHAPE", "rank8_to_rank2", [RANK8], (6, 24), [ints(6, 24)], "Reshape", True)
    add(models, "RESHAPE", "rank2_to_rank8", [(6, 24)], RANK8, [ints(*RANK8)], "Reshape", True)
    add(models, "EXPAND_DIMS", "rank8", [RANK7], (2, 1, 3, 1, 2, 1, 2, 5), [ints(3)], "ExpandDims", True)
    add(models, "SQUEEZE", "rank8", [RANK8], (2, 3, 2, 2, 3, 2), [], "Squeeze", True, squeezeDims=[2, 5])
    add(
        models,
        "SLICE",
        "rank8",
        [RANK8],
        (1, 2, 1, 1, 2, 1, 2, 1),
        [ints(1, 0, 0, 1, 0, 0, 1, 0), ints(1, 2, 1, 1, 2, 1, 2, 1)],
        "Slice",
        True,
    )
    add(models, "CONCATENATION", "rank8", [RANK8, RANK8], (2, 3, 1, 4, 2, 1, 3, 2), [], "Concatenation", True, axis=3)
    add(models, "CONCATENATION", "rank7_last", [RANK7, RANK7], RANK7[:-1] + (10,), [], "Concatenation", True, axis=-1)
    add(models, "SPLIT_V", "rank7", [RANK7], [(2, 1, 1) + RANK7[3:], (2, 1, 2) + RANK7[3:]], [ints(1, 2), ints(2)],
        "SplitV", True, numSplits=2)
    add(models, "PACK", "rank8", [RANK7, RANK7], (2, 1, 2) + RANK7[2:], [], "Pack", True, valuesCount=2, axis=2)
    add(models, "UNPACK", "rank8", [RANK8], [(2,) + RANK8[2:]] * 3, [], "Unpack", True, num=3, axis=1)
    add(models, "TILE", "rank8", [RANK8], (4, 3, 1, 2, 4, 1, 3, 4), [ints(2, 1, 1, 1, 2, 1, 1, 2)], "Tile", True)
    add(models, "GATHER", "rank7", [RANK7], (2, 1, 2) + RANK7[3:], [ints(2, 0)], "Gather", True, axis=2)
    places = np.array([[1, 2, 0], [0, 1, 0]], np.int32)
    add(models, "GATHER_ND", "rank8", [RANK8], (2,) + RANK8[3:], [places], None, True)
    add(models, "REVERSE_V2", "rank8", [RANK8], RANK8, [ints(6)], "ReverseV2", True)
    add(models, "BROADCAST_TO", "rank8", [(2, 1, 1, 2, 1, 1, 3, 2)], (2, 3, 1, 2, 2, 1, 3, 2), [ints(*RANK8)],
        "BroadcastTo", True, version=2)
    add(models, "STRIDED_SLICE", "rank7", [RANK7], (1, 1, 2, 2, 1, 2, 3),
        [ints(1, 0, 0, 0, 0, 0, 0), ints(*RANK7), ints(1, 1, 2, 1, 1, 1, 2)], "StridedSlice", True)
    net = fb.Net()
    y = net.tensor(RANK8)
    starts = ints(1, 1, 0, 1, 0, 0, 1, 0)
    net.op("DYNAMIC_UPDATE_SLICE", [net.input(RANK8), net.input((1, 2, 1, 1, 2, 1, 2, 2)), net.const(starts)], [y],
           options="DynamicUpdateSlice")
    models.built("DYNAMIC_UPDATE_SLICE", "dynamic_update_slice_rank8", net, [y], [(-3, 3)], "a corner", moves=True)

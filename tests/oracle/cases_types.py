"""Plain numbers of the types that few operators take: uint16, uint32, float64, and int64 beyond what float64 counts.

Integers have their whole ranges, so that they wrap.
"""

import numpy as np

import flatbuffer_net as fb

FIRST, SECOND = (3, 5), (5,)
WHOLE = {fb.UINT16: "stored", fb.UINT32: "stored", fb.FLOAT64: (-1e9, 1e9), fb.INT64: "stored"}


def name_of(dtype):
    return "whole_int64" if dtype == fb.INT64 else fb.TYPE_NAMES[dtype]


def add_casts(models):
    for given, made, values in (
        (fb.UINT16, fb.FLOAT32, "stored"),
        (fb.UINT16, fb.INT16, "stored"),
        (fb.INT32, fb.UINT16, (-100000, 100000)),
        (fb.FLOAT32, fb.UINT16, (0, 65535)),
        (fb.UINT32, fb.FLOAT32, "stored"),
        (fb.UINT32, fb.INT64, "stored"),
        (fb.INT64, fb.UINT32, (-(1 << 40), 1 << 40)),
        (fb.FLOAT32, fb.UINT32, (0, 4e9)),
        (fb.UINT32, fb.FLOAT64, "stored"),
        (fb.FLOAT64, fb.FLOAT32, (-1e9, 1e9)),
        (fb.FLOAT64, fb.INT64, (-1e15, 1e15)),
        (fb.FLOAT32, fb.FLOAT64, (-9, 9)),
        (fb.INT64, fb.FLOAT64, (-(1 << 50), 1 << 50)),
    ):
        net = fb.Net()
        y = net.tensor(FIRST, made)
        net.op("CAST", [net.input(FIRST, given)], [y], options="Cast", inDataType=given, outDataType=made)
        name = f"{fb.TYPE_NAMES[given]}_to_{fb.TYPE_NAMES[made]}"
        models.built("CAST", f"cast_{name}", net, [y], [values], name, moves=True)
    for given, made, shape, out in (
        (fb.UINT16, fb.INT16, FIRST, FIRST),
        (fb.UINT32, fb.UINT16, FIRST, FIRST + (2,)),
        (fb.UINT16, fb.UINT32, FIRST + (2,), FIRST),
        (fb.FLOAT64, fb.UINT32, FIRST, FIRST + (2,)),
    ):
        net = fb.Net()
        y = net.tensor(out, made)
        net.op("BITCAST", [net.input(shape, given)], [y], options="Bitcast")
        name = f"{name_of(given)}_to_{name_of(made)}"
        models.built("BITCAST", f"bitcast_{name}", net, [y], [WHOLE[given]], name, moves=True)


def add_functions(models):
    for dtype in WHOLE:
        functions = ["STABLEHLO_ADD", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM"]
        for op in functions + ([] if dtype in (fb.FLOAT64, fb.INT64) else ["BITWISE_XOR"]):
            net = fb.Net()
            y = net.tensor(FIRST, dtype)
            net.op(op, [net.input(FIRST, dtype), net.input(FIRST, dtype)], [y])
            models.built(op, f"{op.lower()}_{name_of(dtype)}", net, [y], [WHOLE[dtype]], name_of(dtype), moves=True)
    for dtype in (fb.UINT16, fb.UINT32):
        net = fb.Net()
        y = net.tensor(FIRST, dtype)
        net.op("RIGHT_SHIFT", [net.input(FIRST, dtype), net.input(SECOND, dtype)], [y])
        models.built("RIGHT_SHIFT", f"right_shift_{name_of(dtype)}", net, [y], ["stored", (0, 15)], "without a sign")
    net = fb.Net()
    y = net.tensor(FIRST, fb.UINT32)
    net.op("MUL", [net.input(FIRST, fb.UINT32), net.input(SECOND, fb.UINT32)], [y], options="Mul")
    models.built("MUL", "mul_uint32", net, [y], ["stored"], "a product that wraps")
    net = fb.Net()
    y = net.tensor(FIRST, fb.FLOAT64)
    net.op("SIGN", [net.input(FIRST, fb.FLOAT64)], [y])
    models.built("SIGN", "sign_float64", net, [y], [(-1e-300, 1e-300)], "numbers that float32 has not", moves=True)


def add_moves(models):
    for dtype, values in WHOLE.items():
        name = name_of(dtype)

        def built(op, net, y, values=values, name=name):
            models.built(op, f"{op.lower()}_{name}", net, [y], values, name, moves=True)

        net = fb.Net()
        y = net.tensor((5, 3), dtype)
        net.op("TRANSPOSE", [net.input(FIRST, dtype), net.const(np.array([1, 0], np.int32))], [y], options="Transpose")
        built("TRANSPOSE", net, y, [values])
        net = fb.Net()
        y = net.tensor((2, 3), dtype)
        begin, size = np.array([1, 2], np.int32), np.array([2, 3], np.int32)
        net.op("SLICE", [net.input(FIRST, dtype), net.const(begin), net.const(size)], [y], options="Slice")
        built("SLICE", net, y, [values])
        net = fb.Net()
        y = net.tensor(FIRST, dtype)
        net.op("SELECT_V2", [net.input(FIRST, fb.BOOL), net.input(FIRST, dtype), net.input(FIRST, dtype)], [y])
        built("SELECT_V2", net, y, [(0, 1), values])
        net = fb.Net()
        y = net.tensor((5, 8), dtype)
        padding = net.const(np.array([[1, 1], [0, 3]], np.int32))
        net.op("MIRROR_PAD", [net.input(FIRST, dtype), padding], [y], options="MirrorPad")
        built("MIRROR_PAD", net, y, [values])
        net = fb.Net()
        y = net.tensor(FIRST, dtype)
        starts = net.const(np.array([1, 1], np.int32))
        net.op(
            "DYNAMIC_UPDATE_SLICE",
            [net.input(FIRST, dtype), net.input((2, 2), dtype), starts],
            [y],
            options="DynamicUpdateSlice",
        )
        built("DYNAMIC_UPDATE_SLICE", net, y, [values])

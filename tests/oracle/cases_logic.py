"""Comparisons, logic, choices, casts, and changes of quantization."""

import numpy as np
import tensorflow as tf

import flatbuffer_net as fb

IMAGE = (1, 4, 5, 3)


def add_comparisons(models):
    table = [
        ("EQUAL", tf.equal),
        ("NOT_EQUAL", tf.not_equal),
        ("LESS", tf.less),
        ("LESS_EQUAL", tf.less_equal),
        ("GREATER", tf.greater),
        ("GREATER_EQUAL", tf.greater_equal),
    ]
    for op, function in table:
        halves = (-1, 1, 0.5)
        models.converted(op, f"{op.lower()}_same", function, [IMAGE, IMAGE], [halves], shows="many equal pairs")
        models.converted(op, f"{op.lower()}_broadcast", function, [(2, 3, 1, 5), (3, 4, 1)], [halves])
        models.converted(
            op, f"{op.lower()}_scalar", lambda x, f=function: f(x, 0.5), [(3, 5)], [halves], shows="constant"
        )
        models.converted(op, f"{op.lower()}_int32", function, [((2, 9), tf.int32), ((9,), tf.int32)], [(-2, 2)])
        net = fb.Net()
        a, b = net.input((2, 30), fb.INT8, (0.02, 3)), net.input((2, 30), fb.INT8, (0.02, 3))
        y = net.tensor((2, 30), fb.BOOL)
        net.op(op, [a, b], [y], 2, "".join(part.title() for part in op.split("_")))
        models.built(op, f"{op.lower()}_int8", net, [y], [(-3, 3, "stored")], "quantized")
    models.converted("LESS", "less_int64", tf.less, [((9,), tf.int64), ((9,), tf.int64)], [(-2, 2)])
    for op, function in table[:2]:
        models.converted(op, f"{op.lower()}_bool", function, [((12,), tf.bool), ((12,), tf.bool)])
    for op, function in (("LOGICAL_AND", tf.logical_and), ("LOGICAL_OR", tf.logical_or)):
        models.converted(op, op.lower(), function, [((2, 3, 5), tf.bool), ((2, 3, 5), tf.bool)])
        models.converted(op, f"{op.lower()}_broadcast", function, [((2, 1, 5), tf.bool), ((3, 1), tf.bool)])
    models.converted("LOGICAL_NOT", "logical_not", tf.logical_not, [((2, 7), tf.bool)])


def add_select(models):
    def select(op, name, condition, a, b, out, dtype=fb.FLOAT32, quant=None, version=1):
        net = fb.Net()
        c = net.input(condition, fb.BOOL)
        inputs = [c, net.input(a, dtype, quant), net.input(b, dtype, quant)]
        y = net.tensor(out, dtype, quant)
        net.op(op, inputs, [y], version, "Select" if op == "SELECT" else "SelectV2")
        models.built(op, name, net, [y], [(0, 1), (-9, 9)], f"condition {condition}, {a} or {b}", moves=True)

    select("SELECT", "select_same", IMAGE, IMAGE, IMAGE, IMAGE)
    select("SELECT", "select_rows", (4,), (4, 5, 3), (4, 5, 3), (4, 5, 3))
    select("SELECT", "select_scalar", (), (4, 5), (4, 5), (4, 5))
    select("SELECT", "select_int32", (3, 5), (3, 5), (3, 5), (3, 5), fb.INT32)
    select("SELECT", "select_int8", (3, 5), (3, 5), (3, 5), (3, 5), fb.INT8, (0.1, 3), 2)
    for name, condition, a, b in (
        ("same", IMAGE, IMAGE, IMAGE),
        ("channel", (3,), IMAGE, IMAGE),
        ("scalars", IMAGE, (), ()),
        ("all", (2, 1, 5, 1), (1, 4, 1, 3), (2, 1, 1, 3)),
        ("rank2", (4, 1), (4, 5), (5,)),
        ("rank5", (1, 2, 1, 1, 3), (2, 2, 3, 2, 3), (2, 1, 1, 2, 1)),
    ):
        select("SELECT_V2", f"select_v2_{name}", condition, a, b, np.broadcast_shapes(condition, a, b))
    for dtype, quant in (
        (fb.INT32, None),
        (fb.INT64, None),
        (fb.BOOL, None),
        (fb.INT8, (0.1, 3)),
        (fb.UINT8, (0.1, 3)),
        (fb.INT16, (0.01, 0)),
    ):
        select("SELECT_V2", f"select_v2_{fb.TYPE_NAMES[dtype]}", (3, 1), (3, 5), (5,), (3, 5), dtype, quant)


def add_casts(models):
    types = {
        "float32": tf.float32,
        "float16": tf.float16,
        "int32": tf.int32,
        "int64": tf.int64,
        "bool": tf.bool,
        "uint8": tf.uint8,
        "int8": tf.int8,
        "int16": tf.int16,
    }
    pairs = [("float32", t) for t in ("float16", "int32", "int64", "bool", "uint8", "int8", "int16")]
    pairs += [(t, "float32") for t in ("float16", "int32", "int64", "bool", "uint8", "int8", "int16")]
    pairs += [
        ("int32", "int64"),
        ("int64", "int32"),
        ("int32", "bool"),
        ("bool", "int32"),
        ("int32", "uint8"),
        ("uint8", "int32"),
        ("bool", "int64"),
        ("int32", "float16"),
    ]
    for source, target in pairs:
        values = (0, 100) if "uint8" in (source, target) else (-100, 100)
        if target == "bool":
            values = (-1, 1, 0.5) if source == "float32" else (-1, 1)
        models.converted(
            "CAST",
            f"cast_{source}_to_{target}",
            lambda x, t=types[target]: tf.cast(x, t),
            [((1, 3, 3, 5), types[source])],
            [values],
            shows="truncates" if "int" in target else "",
            moves=True,
        )


def add_quantization(models):
    """QUANTIZE and DEQUANTIZE between all types that the interpreter takes."""
    quants = {fb.UINT8: (0.03, 120), fb.INT8: (0.03, -7), fb.INT16: (0.0002, 0)}
    for dtype, quant in quants.items():
        name = fb.TYPE_NAMES[dtype]
        net = fb.Net()
        x, y = net.input(IMAGE, dtype, quant), net.tensor(IMAGE)
        net.op("DEQUANTIZE", [x], [y], {fb.UINT8: 1, fb.INT8: 2, fb.INT16: 3}[dtype], "Dequantize")
        models.built("DEQUANTIZE", f"dequantize_{name}", net, [y], shows=name)
        net = fb.Net()
        x, y = net.input(IMAGE), net.tensor(IMAGE, dtype, quant)
        net.op("QUANTIZE", [x], [y], 2 if dtype == fb.INT16 else 1, "Quantize")
        models.built("QUANTIZE", f"quantize_{name}", net, [y], [(-6, 6)], shows=f"{name}, with saturation", moves=True)
    pairs = [
        (fb.INT8, fb.INT8),
        (fb.INT8, fb.UINT8),
        (fb.UINT8, fb.INT8),
        (fb.UINT8, fb.UINT8),
        (fb.INT16, fb.INT16),
        (fb.INT16, fb.INT8),
        (fb.INT8, fb.INT16),
    ]
    for source, target in pairs:
        net = fb.Net()
        scale, zero = quants[target]
        x, y = net.input(IMAGE, source, quants[source]), net.tensor(IMAGE, target, (scale * 1.3, zero))
        net.op("QUANTIZE", [x], [y], 2 if fb.INT16 in (source, target) else 1, "Quantize")
        models.built(
            "QUANTIZE",
            f"requantize_{fb.TYPE_NAMES[source]}_to_{fb.TYPE_NAMES[target]}",
            net,
            [y],
            shows="another scale",
            moves=True,
        )
    net = fb.Net()
    x, y = net.input((2, 3, 4)), net.tensor((2, 3, 4), fb.INT8, ([0.01, 0.02, 0.03, 0.05], [0, 3, -4, 9], 2))
    net.op("QUANTIZE", [x], [y], 3, "Quantize")
    models.built("QUANTIZE", "quantize_per_channel_int8", net, [y], shows="a scale per channel", moves=True)
    add_dequantized_constants(models)


def add_dequantized_constants(models):
    """A constant behind DEQUANTIZE, added to an input: per-channel, float16 and 4-bit."""
    random = np.random.default_rng(5)
    integers = random.integers(-7, 8, (3, 4, 5))
    cases = [
        ("float16", random.uniform(-2, 2, (3, 4, 5)).astype(np.float16), fb.FLOAT16, None, 3),
        ("int8", integers * 15, fb.INT8, (0.02, 5), 2),
        ("uint8", integers + 100, fb.UINT8, (0.2, 100), 1),
        ("int16", integers * 999, fb.INT16, (0.0003, 0), 3),
        ("per_channel_int8", integers * 15, fb.INT8, (np.linspace(0.01, 0.05, 4), [0, 2, -3, 4], 1), 5),
        ("int4", integers, fb.INT4, (0.2, 0), 6),
    ]
    for name, values, dtype, quant, version in cases:
        net = fb.Net()
        x, y, wide = net.input((3, 4, 5)), net.tensor((3, 4, 5)), net.tensor((3, 4, 5))
        net.op("DEQUANTIZE", [net.const(values, dtype, quant)], [wide], version, "Dequantize")
        net.op("ADD", [x, wide], [y], 1, "Add")
        models.built("DEQUANTIZE", f"dequantize_constant_{name}", net, [y], shows=f"{name} constant, then ADD")
    net = fb.Net()
    x, y = net.input(IMAGE, fb.FLOAT16), net.tensor(IMAGE)
    net.op("DEQUANTIZE", [x], [y], 3, "Dequantize")
    models.built("DEQUANTIZE", "dequantize_float16", net, [y], shows="float16 input", moves=True)

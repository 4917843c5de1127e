"""Reductions, orderings, sums along an axis, softmax."""

import numpy as np
import tensorflow as tf

import flatbuffer_net as fb

IMAGE = (2, 4, 5, 3)
SMALL = (-1.5, 1.5)


def add_reductions(models):
    table = [
        ("MEAN", tf.reduce_mean, ("float", "int8", "int16")),
        ("SUM", tf.reduce_sum, ("float", "int8")),
        ("REDUCE_MAX", tf.reduce_max, ("float", "int8", "int16")),
        ("REDUCE_MIN", tf.reduce_min, ("float", "int8", "int16")),
        ("REDUCE_PROD", tf.reduce_prod, ("float",)),
    ]
    for op, function, modes in table:
        cases = [
            ("spatial", IMAGE, [1, 2], True, modes),
            ("channels", IMAGE, [-1], False, modes),
            ("batch", IMAGE, [0], True, ("float",)),
            ("height", IMAGE, [1], False, ("float",)),
            ("mixed", IMAGE, [0, 3], False, ("float",)),
            ("all", (3, 5), [0, 1], False, modes),
            ("rank3", (3, 4, 8), [-2], True, ("float",)),
            ("rank5", (2, 2, 3, 2, 3), [1, 3], False, ("float",)),
            ("rank1", (8,), [0], False, ("float",)),
        ]
        for name, shape, axes, keep, case_modes in cases:
            models.converted(
                op,
                f"{op.lower()}_{name}",
                lambda x, f=function, a=axes, k=keep: f(x, a, k),
                [shape],
                [SMALL],
                case_modes,
                f"axes {axes}{' kept' if keep else ''}",
                moves=op in ("REDUCE_MAX", "REDUCE_MIN"),
            )
        for dtype in (tf.int32, tf.int64):
            models.converted(
                op, f"{op.lower()}_{dtype.name}", lambda x, f=function: f(x, [1]), [((3, 4, 5), dtype)], [(-5, 5)]
            )
    for op in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"):
        net = fb.Net()
        quant = (0.02, 100)
        x = net.input(IMAGE, fb.UINT8, quant)
        y = net.tensor(
            (2, 3), fb.UINT8, quant if op.startswith("REDUCE") else (0.15, 128) if op == "SUM" else (0.01, 90)
        )
        net.op(op, [x, net.const(np.array([1, 2], np.int32))], [y], 1, "Reducer")
        models.built(op, f"{op.lower()}_uint8", net, [y], shows="uint8", moves=op.startswith("REDUCE"))
    for op, function in (("REDUCE_ANY", tf.reduce_any), ("REDUCE_ALL", tf.reduce_all)):
        for name, axes, keep in (("last", [-1], False), ("kept", [0, 2], True), ("all", [0, 1, 2], False)):
            models.converted(
                op, f"{op.lower()}_{name}", lambda x, f=function, a=axes, k=keep: f(x, a, k), [((3, 4, 2), tf.bool)]
            )


def add_orderings(models):
    for op, function in (("ARG_MAX", tf.argmax), ("ARG_MIN", tf.argmin)):
        for name, shape, axis in (
            ("last", IMAGE, -1),
            ("height", IMAGE, 1),
            ("batch", IMAGE, 0),
            ("rank1", (9,), 0),
            ("rank2", (4, 8), 1),
        ):
            models.converted(
                op,
                f"{op.lower()}_{name}",
                lambda x, f=function, a=axis: f(x, a, tf.int32),
                [shape],
                [(-2, 2)],
                shows=f"axis {axis}",
            )
        models.converted(
            op,
            f"{op.lower()}_ties",
            lambda x, f=function: f(x, -1, tf.int32),
            [(6, 8)],
            [(0, 1, 0.5)],
            shows="the first of equals",
        )
        models.converted(op, f"{op.lower()}_to_int64", lambda x, f=function: f(x, -1, tf.int64), [(3, 8)], [(-2, 2)])
        models.converted(
            op, f"{op.lower()}_int32", lambda x, f=function: f(x, 1, tf.int32), [((3, 4, 5), tf.int32)], [(-99, 99)]
        )
        for dtype in (fb.INT8, fb.UINT8):
            net = fb.Net()
            x, y = net.input((4, 8), dtype, (0.1, 3)), net.tensor((4,), fb.INT32)
            net.op(
                op,
                [x, net.const(np.array(-1, np.int32))],
                [y],
                2 if dtype == fb.INT8 else 1,
                "ArgMax" if op == "ARG_MAX" else "ArgMin",
                outputType=fb.INT32,
            )
            models.built(op, f"{op.lower()}_{fb.TYPE_NAMES[dtype]}", net, [y], shows="quantized")
    for name, shape, k, dtype, values in (
        ("float", (3, 9), 4, tf.float32, (-2, 2)),
        ("rank1", (8,), 8, tf.float32, (-2, 2)),
        ("rank3", (2, 3, 7), 1, tf.float32, (-2, 2)),
        ("ties", (4, 8), 5, tf.float32, (0, 1, 0.5)),
        ("int32", (3, 9), 3, tf.int32, (-99, 99)),
    ):
        models.converted(
            "TOPK_V2",
            f"topk_v2_{name}",
            lambda x, k=k: tuple(tf.math.top_k(x, k)),
            [(shape, dtype)],
            [values],
            shows=f"k {k}",
            moves=True,
        )
    net = fb.Net()
    x = net.input((3, 9), fb.INT8, (0.1, 3))
    y, indices = net.tensor((3, 4), fb.INT8, (0.1, 3)), net.tensor((3, 4), fb.INT32)
    net.op("TOPK_V2", [x, net.const(np.array(4, np.int32))], [y, indices], 2, "TopKV2")
    models.built("TOPK_V2", "topk_v2_int8", net, [y, indices], shows="quantized", moves=True)


def add_cumsum(models):
    for name, shape, axis, exclusive, reverse in (
        ("last", (2, 3, 5), 2, False, False),
        ("first", (4, 3), 0, False, False),
        ("negative_axis", IMAGE, -2, False, False),
        ("exclusive", (2, 3, 4), 1, True, False),
        ("reverse", IMAGE, 3, False, True),
        ("exclusive_reverse", (3, 8), -1, True, True),
        ("rank1", (9,), 0, False, True),
    ):
        models.converted(
            "CUMSUM",
            f"cumsum_{name}",
            lambda x, a=axis, e=exclusive, r=reverse: tf.cumsum(x, a, e, r),
            [shape],
            shows=f"axis {axis}",
        )
    for dtype in (tf.int32, tf.int64):
        models.converted(
            "CUMSUM", f"cumsum_{dtype.name}", lambda x: tf.cumsum(x, 1, True, True), [((2, 4, 3), dtype)], [(-9, 9)]
        )


def add_softmax(models):
    for name, shape in (
        ("rank1", (7,)),
        ("rank2", (3, 10)),
        ("rank3", (2, 3, 5)),
        ("rank4", (2, 3, 4, 8)),
        ("one", (4, 1)),
    ):
        modes = ("float", "int8", "int16") if name in ("rank2", "rank4") else ("float",)
        models.converted(
            "SOFTMAX", f"softmax_{name}", lambda x: tf.nn.softmax(x), [shape], [(-4, 4)], modes, f"rank {len(shape)}"
        )
        if name in ("rank2", "rank4", "rank1"):
            models.converted(
                "LOG_SOFTMAX",
                f"log_softmax_{name}",
                lambda x: tf.nn.log_softmax(x),
                [shape],
                [(-4, 4)],
                ("float", "int8") if name == "rank2" else ("float",),
                f"rank {len(shape)}",
            )
    models.converted(
        "SOFTMAX", "softmax_large", lambda x: tf.nn.softmax(x), [(3, 8)], [(-200, 200)], shows="large inputs"
    )
    for name, dtype, quant, out, beta in (
        ("beta", fb.FLOAT32, None, None, 2.5),
        ("beta_int8", fb.INT8, (0.05, 3), (1 / 256, -128), 0.7),
        ("uint8", fb.UINT8, (0.05, 3), (1 / 256, 0), 1.0),
    ):
        net = fb.Net()
        x, y = net.input((4, 9), dtype, quant), net.tensor((4, 9), dtype, out)
        net.op("SOFTMAX", [x], [y], 2 if dtype == fb.INT8 else 1, "Softmax", beta=beta)
        models.built("SOFTMAX", f"softmax_{name}", net, [y], shows=f"beta {beta}")

"""Gathering, one-hot vectors, resizing."""

import numpy as np
import tensorflow as tf

import flatbuffer_net as fb
from movement import QUANT, moved, typed


def add_gathers(models):
    image = (2, 4, 5, 3)
    for name, shape, indices, axis, batch_dims in (
        ("first", (6, 5), [4, 0, 4, 2], 0, 0),
        ("channels", image, [2, 0], 3, 0),
        ("height", image, [3, 1, 0, 2, 2], 1, 0),
        ("rank2_indices", (6, 3), [[1, 5], [0, 3]], 0, 0),
        ("negative_axis", image, [1, 4], -2, 0),
        ("scalar_index", (4, 6), 2, 1, 0),
        ("rank1", (9,), [7, 1], 0, 0),
        ("batch_dims", (2, 4, 3), [[3, 0, 1], [2, 2, 0]], 1, 1),
    ):
        moved(
            models,
            "GATHER",
            name,
            lambda x, i=indices, a=axis, b=batch_dims: tf.gather(x, tf.constant(i, tf.int32), axis=a, batch_dims=b),
            [shape],
            QUANT if name == "height" else ("float",),
            f"axis {axis}",
        )
    models.converted(
        "GATHER",
        "gather_runtime_indices",
        lambda x, i: tf.gather(x, i, axis=1),
        [((2, 4, 3), tf.float32), ((3,), tf.int32)],
        [(-2, 2), (0, 3)],
        shows="indices are an input",
        moves=True,
    )
    models.converted(
        "GATHER",
        "gather_runtime_indices_int64",
        lambda x, i: tf.gather(x, i, axis=0),
        [((5, 3), tf.float32), ((2, 2), tf.int64)],
        [(-2, 2), (0, 4)],
        shows="int64 indices",
        moves=True,
    )
    table = tf.constant(np.linspace(-2, 2, 30, dtype=np.float32).reshape(6, 5))
    models.converted(
        "GATHER",
        "gather_constant_table",
        lambda i: tf.gather(table, i),
        [((4,), tf.int32)],
        [(0, 5)],
        shows="an embedding",
        moves=True,
    )
    typed(models, "GATHER", lambda x: tf.gather(x, [2, 0], axis=1), (3, 4))
    for name, shape, indices in (
        ("points", (4, 5, 3), [[0, 1, 2], [3, 4, 0]]),
        ("rows", (4, 5, 3), [[2], [0], [2]]),
        ("pairs", (2, 4, 5, 3), [[[0, 3], [1, 2]], [[1, 0], [0, 0]]]),
    ):
        moved(
            models,
            "GATHER_ND",
            name,
            lambda x, i=indices: tf.gather_nd(x, tf.constant(i, tf.int32)),
            [shape],
            shows=f"{len(np.array(indices).shape)} ranks of indices",
        )
    models.converted(
        "GATHER_ND",
        "gather_nd_runtime_indices",
        lambda x, i: tf.gather_nd(x, i),
        [((4, 3), tf.float32), ((5, 1), tf.int32)],
        [(-2, 2), (0, 3)],
        shows="indices are an input",
        moves=True,
    )
    typed(models, "GATHER_ND", lambda x: tf.gather_nd(x, tf.constant([[1, 0], [2, 3]])), (3, 4), (tf.int32,))
    for name, depth, axis, on, off, dtype in (
        ("last", 6, -1, 1.0, 0.0, tf.float32),
        ("first", 5, 0, 2.5, -1.0, tf.float32),
        ("middle", 4, 1, 1.0, 0.0, tf.float32),
        ("int32", 6, -1, 7, 3, tf.int32),
        ("bool", 6, -1, True, False, tf.bool),
    ):
        models.converted(
            "ONE_HOT",
            f"one_hot_{name}",
            lambda i, d=depth, a=axis, on=on, off=off, t=dtype: tf.one_hot(
                i, d, tf.constant(on, t), tf.constant(off, t), a
            ),
            [((3, 4), tf.int32)],
            [(-1, 6)],
            shows=f"axis {axis}, indices out of range",
            moves=True,
        )
    models.converted("ONE_HOT", "one_hot_scalar", lambda i: tf.one_hot(i, 5), [((), tf.int32)], [(0, 4)], moves=True)
    models.converted(
        "ONE_HOT", "one_hot_int64_indices", lambda i: tf.one_hot(i, 5), [((4,), tf.int64)], [(0, 4)], moves=True
    )


def add_resizes(models):
    for op, options in (("RESIZE_BILINEAR", "ResizeBilinear"), ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighbor")):
        nearest = op == "RESIZE_NEAREST_NEIGHBOR"
        for size, shape in (
            ((8, 10), (1, 4, 5, 3)),
            ((3, 4), (2, 7, 6, 5)),
            ((9, 2), (1, 4, 5, 8)),
            ((1, 1), (1, 3, 3, 4)),
            ((7, 7), (1, 1, 1, 3)),
            ((4, 5), (1, 4, 5, 2)),
        ):
            for name, align, half in (
                ("plain", False, False),
                ("align_corners", True, False),
                ("half_pixel", False, True),
            ):
                net = fb.Net()
                x, y = net.input(shape), net.tensor((shape[0], *size, shape[3]))
                net.op(
                    op,
                    [x, net.const(np.array(size, np.int32))],
                    [y],
                    3 if half or (align and nearest) else 1,
                    options,
                    alignCorners=align,
                    halfPixelCenters=half,
                )
                models.built(
                    op,
                    f"{op.lower()}_{name}_{shape[1]}x{shape[2]}_to_{size[0]}x{size[1]}",
                    net,
                    [y],
                    shows=name,
                    moves=nearest,
                )
        for dtype, version in ((fb.UINT8, 1), (fb.INT8, 2), (fb.INT16, 4)):
            for half in (False, True):
                net, quant = fb.Net(), (0.02, 0 if dtype == fb.INT16 else 7)
                x, y = net.input((1, 4, 5, 3), dtype, quant), net.tensor((1, 7, 8, 3), dtype, quant)
                net.op(
                    op,
                    [x, net.const(np.array((7, 8), np.int32))],
                    [y],
                    max(version, 3) if half else version,
                    options,
                    halfPixelCenters=half,
                )
                models.built(
                    op,
                    f"{op.lower()}_{'half_pixel_' if half else ''}{fb.TYPE_NAMES[dtype]}",
                    net,
                    [y],
                    moves=nearest,
                    steps=64 if dtype == fb.INT16 and not nearest else None,  # the interpreter's weights have 10 bits
                    shows=fb.TYPE_NAMES[dtype],
                )

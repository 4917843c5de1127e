"""Concatenation, packing, splitting, slicing."""

import numpy as np
import tensorflow as tf

import flatbuffer_net as fb
from movement import QUANT, TYPES, built, moved, typed

IMAGE = (1, 4, 5, 3)


def add_joins(models):
    def concat(name, shapes, axis, modes=("float",), dtype=tf.float32):
        moved(
            models,
            "CONCATENATION",
            name,
            lambda *x: tf.concat(x, axis),
            [(s, dtype) for s in shapes],
            modes,
            f"axis {axis}",
        )

    concat("channels", [(1, 4, 5, 3), (1, 4, 5, 5)], 3, QUANT)
    concat("aligned", [(1, 4, 5, 4), (1, 4, 5, 8)], -1)
    concat("height", [(1, 2, 5, 3), (1, 4, 5, 3), (1, 1, 5, 3)], 1, QUANT)
    concat("width", [(2, 2, 5, 3), (2, 2, 1, 3)], 2)
    concat("batch", [(1, 2, 5, 3), (2, 2, 5, 3)], 0)
    concat("five", [(2, n) for n in (1, 2, 3, 4, 5)], 1, ("float", "int8"))
    concat("rank1", [(3,), (5,)], 0)
    concat("rank3", [(2, 3, 5), (2, 3, 3)], -1)
    concat("rank5", [(1, 2, 2, 3, 3), (1, 2, 1, 3, 3)], 2)
    for dtype in TYPES:
        concat(dtype.name, [(2, 3, 5), (2, 4, 5)], 1, dtype=dtype)
    constant = tf.constant(np.arange(20, dtype=np.float32).reshape(1, 4, 5, 1))
    moved(models, "CONCATENATION", "constant", lambda x: tf.concat([constant, x], 3), [IMAGE], shows="constant first")
    moved(models, "CONCATENATION", "same_twice", lambda x: tf.concat([x, x], 3), [IMAGE], shows="one value twice")
    net = fb.Net()
    a, b = net.input(IMAGE, fb.UINT8, (0.02, 100)), net.input((1, 4, 5, 2), fb.UINT8, (0.04, 128))
    y = net.tensor((1, 4, 5, 5), fb.UINT8, (0.05, 120))
    net.op("CONCATENATION", [a, b], [y], 1, "Concatenation", axis=3)
    models.built("CONCATENATION", "concatenation_scales_uint8", net, [y], shows="three different scales")
    for name, shape, axis, count in (
        ("rank0", (), 0, 3),
        ("first", (4, 3), 0, 2),
        ("middle", (4, 5, 3), 1, 3),
        ("last", (4, 5, 3), -1, 2),
        ("rank5", (2, 3, 2, 2), 2, 2),
    ):
        moved(
            models,
            "PACK",
            name,
            lambda *x, a=axis: tf.stack(x, a),
            [shape] * count,
            QUANT if name == "middle" else ("float",),
            f"axis {axis}",
        )
    typed(models, "PACK", lambda a, b: tf.stack([a, b], 1), (3, 4), (tf.int32, tf.int64), count=2)
    built(
        models,
        "PACK",
        "one",
        1,
        (3, 5),
        (3, 1, 5),
        fb.FLOAT32,
        [],
        "Pack",
        {"axis": 1, "valuesCount": 1},
        shows="one input",
    )
    built(models, "PACK", "uint8", 2, (3, 5), (2, 3, 5), fb.UINT8, [], "Pack", {"axis": 0, "valuesCount": 2}, count=2)


def add_parts(models):
    for name, shape, axis in (
        ("first", (3, 4, 5), 0),
        ("last", (4, 5, 3), -1),
        ("rank1", (4,), 0),
        ("rank4", (1, 2, 5, 3), 1),
        ("one", (1, 6, 5), 0),
    ):
        moved(
            models,
            "UNPACK",
            name,
            lambda x, a=axis: tuple(tf.unstack(x, axis=a)),
            [shape],
            QUANT if name == "last" else ("float",),
            f"axis {axis}",
        )
    typed(models, "UNPACK", lambda x: tuple(tf.unstack(x, axis=1)), (3, 2, 4), (tf.int32, tf.bool))
    for name, shape, count, axis in (
        ("channels", (1, 4, 5, 8), 2, 3),
        ("odd_channels", (1, 4, 5, 9), 3, -1),
        ("height", (2, 6, 3, 3), 3, 1),
        ("batch", (4, 2, 3), 2, 0),
        ("rank1", (8,), 4, 0),
        ("rank5", (1, 2, 4, 2, 3), 2, 2),
    ):
        moved(
            models,
            "SPLIT",
            name,
            lambda x, n=count, a=axis: tuple(tf.split(x, n, a)),
            [shape],
            QUANT if name == "channels" else ("float",),
            f"axis {axis}",
        )
    typed(models, "SPLIT", lambda x: tuple(tf.split(x, 2, 1)), (3, 4), (tf.int32,))
    for name, shape, sizes, axis in (
        ("channels", (1, 4, 5, 8), [1, 4, 3], 3),
        ("height", (2, 6, 3, 3), [2, 4], 1),
        ("negative", (3, 7), [5, 2], -1),
    ):
        moved(
            models,
            "SPLIT_V",
            name,
            lambda x, s=sizes, a=axis: tuple(tf.split(x, s, a)),
            [shape],
            QUANT if name == "channels" else ("float",),
            f"axis {axis}",
        )
    typed(models, "SPLIT_V", lambda x: tuple(tf.split(x, [1, 3], 1)), (3, 4), (tf.int32, tf.int64))
    for name, shape, begin, size in (
        ("rank4", (1, 6, 5, 8), [0, 1, 2, 3], [1, 4, 2, 5]),
        ("to_end", (2, 5, 6), [1, 0, 2], [-1, 3, -1]),
        ("rank1", (9,), [2], [5]),
        ("rank2", (4, 8), [1, 4], [2, 4]),
        ("rank5", (2, 3, 4, 2, 5), [0, 1, 1, 0, 2], [2, 2, 3, 1, 3]),
    ):
        moved(
            models,
            "SLICE",
            name,
            lambda x, b=begin, s=size: tf.slice(x, b, s),
            [shape],
            QUANT if name == "rank4" else ("float",),
            f"from {begin} by {size}",
        )
    typed(models, "SLICE", lambda x: tf.slice(x, [1, 0, 2], [2, 3, -1]), (3, 4, 5))
    add_strided_slice(models)


def add_strided_slice(models):
    cases = [
        ("strides", (1, 7, 8, 5), lambda x: x[:, 1:6:2, ::3, 1:]),
        ("negative_begin", (4, 6, 3), lambda x: x[-3:-1, :-2, :]),
        ("reverse", (4, 6, 3), lambda x: x[::-1, 4:1:-1, :]),
        ("shrink", (2, 5, 6, 3), lambda x: x[:, 2, 1:, :]),
        ("shrink_negative", (3, 4, 5), lambda x: x[-1, :, -2]),
        ("new_axis", (4, 5), lambda x: x[:, tf.newaxis, 1:]),
        ("ellipsis", (2, 3, 4, 5), lambda x: x[1:, ..., 2]),
        ("all_masks", (3, 4, 5), lambda x: x[..., tf.newaxis, ::2]),
        ("rank1", (9,), lambda x: x[1:8:3]),
        ("rank5", (2, 3, 2, 4, 3), lambda x: x[:, 1:, :, ::2, 1:]),
        ("beyond", (5, 4), lambda x: x[2:100, -100:3]),
        ("reverse_mask", (6, 5), lambda x: x[::-2, ::-1]),
    ]
    for name, shape, function in cases:
        moved(models, "STRIDED_SLICE", name, function, [shape], QUANT if name == "strides" else ("float",))
    typed(models, "STRIDED_SLICE", lambda x: x[1:, ::2], (3, 4, 5))
    net = fb.Net()
    x, y = net.input((2, 6, 5)), net.tensor((1, 3, 2))
    begin, end, strides = (net.const(np.array(v, np.int32)) for v in ([1, 2, 0], [1, 3, 4], [1, 1, 2]))
    net.op("STRIDED_SLICE", [x, begin, end, strides], [y], 8, "StridedSlice", offset=True)
    models.built("STRIDED_SLICE", "strided_slice_offset", net, [y], shows="end counts from begin", moves=True)
    for name, shape, out, begin, end, masks in (
        ("v6_ellipsis", (2, 3, 4, 5), (1, 3, 4, 2), [1, 0, 2], [2, 0, 4], {"ellipsisMask": 2}),
        ("v6_new_axis", (4, 5), (3, 1, 4), [1, 0, 0], [4, 0, 4], {"newAxisMask": 2}),
        (
            "v6_all_masks",
            (3, 4, 5),
            (2, 1, 4, 4),
            [1, 0, 0, 1],
            [0, 0, 0, 5],
            {"endMask": 1, "newAxisMask": 2, "ellipsisMask": 4},
        ),
    ):
        net = fb.Net()
        x, y = net.input(shape), net.tensor(out)
        operands = [net.const(np.array(v, np.int32)) for v in (begin, end, [1] * len(begin))]
        net.op("STRIDED_SLICE", [x] + operands, [y], 6, "StridedSlice", **masks)
        models.built("STRIDED_SLICE", f"strided_slice_{name}", net, [y], shows=str(masks), moves=True)
    built(
        models,
        "STRIDED_SLICE",
        "uint8",
        1,
        (4, 6),
        (2, 3),
        fb.UINT8,
        [np.array(v, np.int32) for v in ([0, 1], [4, 6], [2, 2])],
        "StridedSlice",
    )

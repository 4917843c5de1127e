"""Padding, transposition, reshaping, repetition, blocks."""

import numpy as np
import tensorflow as tf

import flatbuffer_net as fb
from movement import QUANT, built, moved, typed

IMAGE = (1, 4, 5, 3)


def add_padding(models):
    cases = [
        ("rank4", IMAGE, [[0, 0], [1, 2], [2, 1], [0, 0]]),
        ("channels", IMAGE, [[0, 0], [0, 0], [0, 0], [1, 2]]),
        ("batch", IMAGE, [[1, 1], [0, 0], [0, 0], [0, 3]]),
        ("rank3", (4, 5, 3), [[1, 0], [0, 2], [1, 1]]),
        ("rank2", (4, 5), [[1, 2], [3, 0]]),
        ("rank1", (5,), [[2, 3]]),
        ("rank5", (1, 2, 3, 2, 3), [[0, 1], [1, 0], [0, 1], [0, 0], [2, 0]]),
    ]
    for name, shape, amounts in cases:
        moved(
            models,
            "PAD",
            name,
            lambda x, a=amounts: tf.pad(x, a),
            [shape],
            QUANT if name in ("rank4", "channels") else ("float",),
            str(amounts),
        )
        if name in ("rank4", "channels", "rank2", "rank5"):
            moved(
                models,
                "PADV2",
                name,
                lambda x, a=amounts: tf.pad(x, a, constant_values=-1.25),
                [shape],
                ("float", "int8") if name == "rank4" else ("float",),
                str(amounts),
            )
    moved(models, "PAD", "paddings_int64", lambda x: tf.pad(x, tf.constant([[1, 2], [0, 1]], tf.int64)), [(3, 5)])
    for dtype in (tf.int32, tf.int64):
        moved(models, "PAD", dtype.name, lambda x: tf.pad(x, [[1, 2], [0, 1]]), [((3, 5), dtype)])
        moved(models, "PADV2", dtype.name, lambda x: tf.pad(x, [[1, 2], [0, 1]], constant_values=7), [((3, 5), dtype)])
    built(
        models,
        "PAD",
        "uint8",
        1,
        (3, 5),
        (6, 6),
        fb.UINT8,
        [np.array([[1, 2], [0, 1]], np.int32)],
        "Pad",
        quant=(0.1, 37),
        shows="the zero point is what pads",
    )
    for mode in ("REFLECT", "SYMMETRIC"):
        for name, shape, amounts in (
            ("rank4", (1, 4, 5, 3), [[0, 0], [2, 1], [1, 3], [0, 0]]),
            ("channels", (1, 2, 3, 5), [[0, 0], [0, 0], [0, 0], [2, 3]]),
            ("rank3", (3, 4, 5), [[1, 1], [0, 2], [2, 0]]),
            ("rank2", (4, 5), [[2, 3], [1, 4]]),
            ("rank1", (6,), [[3, 4]]),
        ):
            moved(
                models,
                "MIRROR_PAD",
                f"{mode.lower()}_{name}",
                lambda x, a=amounts, m=mode: tf.pad(x, a, m),
                [shape],
                QUANT if name == "rank4" else ("float",),
                str(amounts),
            )
    moved(models, "MIRROR_PAD", "int32", lambda x: tf.pad(x, [[1, 2], [0, 1]], "REFLECT"), [((3, 5), tf.int32)])


def add_arrangements(models):
    for name, shape, perm in (
        ("nhwc_to_nchw", (2, 4, 5, 3), [0, 3, 1, 2]),
        ("nchw_to_nhwc", (1, 3, 4, 5), [0, 2, 3, 1]),
        ("rank2", (4, 7), [1, 0]),
        ("rank3", (3, 4, 5), [2, 0, 1]),
        ("swap", (2, 3, 4, 5), [0, 2, 1, 3]),
        ("batch", (2, 3, 4, 5), [3, 1, 2, 0]),
        ("rank5", (2, 3, 2, 4, 3), [4, 0, 3, 1, 2]),
        ("rank5_inner", (2, 3, 2, 4, 3), [0, 2, 1, 4, 3]),
    ):
        moved(
            models,
            "TRANSPOSE",
            name,
            lambda x, p=perm: tf.transpose(x, p),
            [shape],
            QUANT if name == "nhwc_to_nchw" else ("float",),
            str(perm),
        )
    typed(models, "TRANSPOSE", lambda x: tf.transpose(x, [1, 2, 0]), (3, 4, 5))
    built(models, "TRANSPOSE", "uint8", 1, (3, 4, 5), (5, 3, 4), fb.UINT8, [np.array([2, 0, 1], np.int32)], "Transpose")
    for name, shape, out in (
        ("flatten", IMAGE, (1, 60)),
        ("unknown", (2, 6, 4), (2, -1, 3)),
        ("rank5", (4, 6, 5), (2, 2, 3, 2, 5)),
        ("to_scalar", (1, 1), ()),
        ("from_scalar", (), (1, 1)),
        ("channels", (2, 3, 4, 5), (2, 3, 5, 4)),
        ("rank6", (4, 6), (2, 2, 1, 3, 2, 1)),
    ):
        moved(
            models,
            "RESHAPE",
            name,
            lambda x, s=out: tf.reshape(x, s),
            [shape],
            ("float", "int8") if name in ("flatten", "channels") else ("float",),
            str(out),
        )
    typed(models, "RESHAPE", lambda x: tf.reshape(x, (5, 3)), (3, 5))
    for name, shape, axes in (
        ("all", (1, 4, 1, 3), None),
        ("some", (1, 4, 1, 3), [2]),
        ("negative", (2, 3, 1), [-1]),
        ("to_scalar", (1, 1), None),
    ):
        net = fb.Net()
        out = tuple(
            d for i, d in enumerate(shape) if not (d == 1 and (axes is None or i in [a % len(shape) for a in axes]))
        )
        x, y = net.input(shape), net.tensor(out)
        net.op("SQUEEZE", [x], [y], 1, "Squeeze", squeezeDims=axes)
        models.built("SQUEEZE", f"squeeze_{name}", net, [y], shows=f"axes {axes}", moves=True)
    built(models, "SQUEEZE", "int8", 1, (1, 4, 1, 3), (4, 3), fb.INT8, [], "Squeeze")
    for name, shape, axis in (("first", (4, 3), 0), ("middle", (2, 4, 3), 1), ("last", (4, 3), -1), ("scalar", (), 0)):
        out = list(shape)
        out.insert(axis if axis >= 0 else len(shape) + 1 + axis, 1)
        built(
            models,
            "EXPAND_DIMS",
            name,
            1,
            shape,
            out,
            fb.FLOAT32,
            [np.array(axis, np.int32)],
            "ExpandDims",
            shows=f"axis {axis}",
        )
    built(models, "EXPAND_DIMS", "int32", 1, (4, 3), (4, 1, 3), fb.INT32, [np.array([1], np.int32)], "ExpandDims")
    for name, shape, axes in (
        ("last", (2, 3, 5), [2]),
        ("height", (1, 4, 5, 3), [1]),
        ("two", (1, 4, 5, 3), [1, 2]),
        ("rank1", (9,), [0]),
        ("batch", (3, 4), [0]),
    ):
        moved(models, "REVERSE_V2", name, lambda x, a=axes: tf.reverse(x, a), [shape], shows=f"axes {axes}")
    typed(models, "REVERSE_V2", lambda x: tf.reverse(x, [1]), (3, 4), (tf.int32, tf.int64, tf.bool))
    for name, shape, multiples in (
        ("rank4", (1, 2, 3, 5), [2, 1, 2, 3]),
        ("channels", IMAGE, [1, 1, 1, 4]),
        ("rank1", (3,), [4]),
        ("rank3", (2, 3, 4), [1, 2, 1]),
        ("rank5", (1, 2, 1, 3, 2), [2, 1, 2, 1, 2]),
    ):
        moved(models, "TILE", name, lambda x, m=multiples: tf.tile(x, m), [shape], shows=str(multiples))
    typed(models, "TILE", lambda x: tf.tile(x, [2, 3]), (3, 2))
    for dtype in (fb.INT8, fb.UINT8):
        built(models, "TILE", fb.TYPE_NAMES[dtype], 1, (2, 3), (4, 9), dtype, [np.array([2, 3], np.int32)], "Tile")
    for name, shape, out in (
        ("rank4", (1, 4, 1, 3), (2, 4, 5, 3)),
        ("more_ranks", (3,), (2, 4, 3)),
        ("scalar", (), (3, 4)),
        ("rank5", (1, 3, 1, 2, 1), (2, 3, 2, 2, 3)),
    ):
        built(
            models,
            "BROADCAST_TO",
            name,
            2,
            shape,
            out,
            fb.FLOAT32,
            [np.array(out, np.int32)],
            "BroadcastTo",
            shows=f"to {out}",
        )
    for dtype in (fb.INT32, fb.BOOL, fb.INT8):
        built(
            models,
            "BROADCAST_TO",
            fb.TYPE_NAMES[dtype],
            2,
            (4, 1),
            (2, 4, 3),
            dtype,
            [np.array((2, 4, 3), np.int32)],
            "BroadcastTo",
        )


def add_blocks(models):
    for op, function, shapes in (
        ("DEPTH_TO_SPACE", tf.nn.depth_to_space, [((1, 3, 2, 8), 2), ((2, 2, 3, 12), 2), ((1, 2, 2, 9), 3)]),
        ("SPACE_TO_DEPTH", tf.nn.space_to_depth, [((1, 4, 6, 3), 2), ((2, 4, 4, 2), 2), ((1, 6, 3, 1), 3)]),
    ):
        for shape, block in shapes:
            moved(
                models,
                op,
                f"{block}_of_{shape[3]}_channels",
                lambda x, b=block, f=function: f(x, b),
                [shape],
                ("float", "int8") if shape[3] in (8, 3) else ("float",),
                f"block {block}",
            )
        typed(models, op, lambda x, f=function: f(x, 2), (1, 2, 4, 8), (tf.int32,))
    for name, shape, block, pads in (
        ("plain", (1, 4, 6, 3), [2, 2], [[0, 0], [0, 0]]),
        ("padded", (1, 3, 5, 3), [2, 3], [[1, 0], [0, 1]]),
        ("batch", (2, 4, 4, 5), [2, 1], [[0, 2], [0, 0]]),
        ("rank3", (2, 5, 3), [3], [[0, 1]]),
    ):
        moved(
            models,
            "SPACE_TO_BATCH_ND",
            name,
            lambda x, b=block, p=pads: tf.space_to_batch(x, b, p),
            [shape],
            shows=f"block {block}, padding {pads}",
        )
        padded = [d + sum(pads[i - 1]) if 0 < i <= len(block) else d for i, d in enumerate(shape)]
        small = [padded[0] * int(np.prod(block))] + [
            d // block[i - 1] if 0 < i <= len(block) else d for i, d in enumerate(padded) if i > 0
        ]
        moved(
            models,
            "BATCH_TO_SPACE_ND",
            name,
            lambda x, b=block, p=pads: tf.batch_to_space(x, b, p),
            [small],
            shows=f"block {block}, crops {pads}",
        )
    for dtype, zero in ((fb.INT8, 11), (fb.UINT8, 40)):
        operands = [np.array([2, 2], np.int32), np.array([[1, 1], [0, 2]], np.int32)]
        built(
            models,
            "SPACE_TO_BATCH_ND",
            fb.TYPE_NAMES[dtype],
            2 if dtype == fb.INT8 else 1,
            (1, 4, 4, 3),
            (4, 3, 3, 3),
            dtype,
            operands,
            "SpaceToBatchND",
            quant=(0.1, zero),
            shows="the zero point is what pads",
        )
        built(
            models,
            "BATCH_TO_SPACE_ND",
            fb.TYPE_NAMES[dtype],
            2 if dtype == fb.INT8 else 1,
            (4, 3, 3, 3),
            (1, 4, 4, 3),
            dtype,
            operands,
            "BatchToSpaceND",
            quant=(0.1, zero),
        )

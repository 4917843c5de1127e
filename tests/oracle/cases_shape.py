"""What moves elements: concatenation, slices, padding, transposition, gathering, resizing, ..."""

import numpy as np
import tensorflow as tf

import flatbuffer_net as fb

IMAGE = (1, 4, 5, 3)
QUANT = ("float", "int8", "int16")
TYPES = (tf.int32, tf.int64, tf.bool)


def moved(models, op, name, function, specs, modes=("float",), shows="", ranges=((-3, 3),)):
    models.converted(op, f"{op.lower()}_{name}", function, specs, ranges, modes, shows, moves=True)


def typed(models, op, function, shape, types=TYPES, count=1, bound=9):
    for dtype in types:
        moved(models, op, dtype.name, function, [(shape, dtype)] * count, ranges=[(-bound if dtype != tf.uint8 else 0, bound)])


def built(models, op, name, version, shape, out, dtype, operands, options, attributes=None, quant=(0.02, 5), shows="", count=1):
    """A movement in a type that the converter does not write. `operands`: constants after the input."""
    net = fb.Net()
    quant = None if dtype not in (fb.INT8, fb.UINT8, fb.INT16) else (quant[0], 0) if dtype == fb.INT16 else quant
    inputs = [net.input(shape, dtype, quant) for _ in range(count)] + [net.const(value) for value in operands]
    y = net.tensor(out, dtype, quant)
    net.op(op, inputs, [y], version, options, **(attributes or {}))
    models.built(op, f"{op.lower()}_{name}", net, [y], [(-9, 9)], shows or name, moves=True)


def add_joins(models):
    def concat(name, shapes, axis, modes=("float",), dtype=tf.float32):
        moved(models, "CONCATENATION", name, lambda *x: tf.concat(x, axis), [(s, dtype) for s in shapes], modes, f"axis {axis}")

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
    for name, shape, axis, count in (("rank0", (), 0, 3), ("first", (4, 3), 0, 2), ("middle", (4, 5, 3), 1, 3), ("last", (4, 5, 3), -1, 2),
                                     ("rank5", (2, 3, 2, 2), 2, 2)):
        moved(models, "PACK", name, lambda *x, a=axis: tf.stack(x, a), [shape] * count, QUANT if name == "middle" else ("float",), f"axis {axis}")
    typed(models, "PACK", lambda a, b: tf.stack([a, b], 1), (3, 4), (tf.int32, tf.int64), count=2)
    built(models, "PACK", "one", 1, (3, 5), (3, 1, 5), fb.FLOAT32, [], "Pack", {"axis": 1, "valuesCount": 1}, shows="one input")
    built(models, "PACK", "uint8", 2, (3, 5), (2, 3, 5), fb.UINT8, [], "Pack", {"axis": 0, "valuesCount": 2}, count=2)


def add_parts(models):
    for name, shape, axis in (("first", (3, 4, 5), 0), ("last", (4, 5, 3), -1), ("rank1", (4,), 0), ("rank4", (1, 2, 5, 3), 1), ("one", (1, 6, 5), 0)):
        moved(models, "UNPACK", name, lambda x, a=axis: tuple(tf.unstack(x, axis=a)), [shape], QUANT if name == "last" else ("float",), f"axis {axis}")
    typed(models, "UNPACK", lambda x: tuple(tf.unstack(x, axis=1)), (3, 2, 4), (tf.int32, tf.bool))
    for name, shape, count, axis in (("channels", (1, 4, 5, 8), 2, 3), ("odd_channels", (1, 4, 5, 9), 3, -1), ("height", (2, 6, 3, 3), 3, 1), ("batch", (4, 2, 3), 2, 0), ("rank1", (8,), 4, 0),
                                     ("rank5", (1, 2, 4, 2, 3), 2, 2)):
        moved(models, "SPLIT", name, lambda x, n=count, a=axis: tuple(tf.split(x, n, a)), [shape], QUANT if name == "channels" else ("float",), f"axis {axis}")
    typed(models, "SPLIT", lambda x: tuple(tf.split(x, 2, 1)), (3, 4), (tf.int32,))
    for name, shape, sizes, axis in (("channels", (1, 4, 5, 8), [1, 4, 3], 3), ("height", (2, 6, 3, 3), [2, 4], 1), ("negative", (3, 7), [5, 2], -1)):
        moved(models, "SPLIT_V", name, lambda x, s=sizes, a=axis: tuple(tf.split(x, s, a)), [shape], QUANT if name == "channels" else ("float",), f"axis {axis}")
    typed(models, "SPLIT_V", lambda x: tuple(tf.split(x, [1, 3], 1)), (3, 4), (tf.int32, tf.int64))
    for name, shape, begin, size in (("rank4", (1, 6, 5, 8), [0, 1, 2, 3], [1, 4, 2, 5]), ("to_end", (2, 5, 6), [1, 0, 2], [-1, 3, -1]), ("rank1", (9,), [2], [5]), ("rank2", (4, 8), [1, 4], [2, 4]),
                                     ("rank5", (2, 3, 4, 2, 5), [0, 1, 1, 0, 2], [2, 2, 3, 1, 3])):
        moved(models, "SLICE", name, lambda x, b=begin, s=size: tf.slice(x, b, s), [shape], QUANT if name == "rank4" else ("float",), f"from {begin} by {size}")
    typed(models, "SLICE", lambda x: tf.slice(x, [1, 0, 2], [2, 3, -1]), (3, 4, 5))
    add_strided_slice(models)


def add_strided_slice(models):
    cases = [("strides", (1, 7, 8, 5), lambda x: x[:, 1:6:2, ::3, 1:]), ("negative_begin", (4, 6, 3), lambda x: x[-3:-1, :-2, :]),
             ("reverse", (4, 6, 3), lambda x: x[::-1, 4:1:-1, :]), ("shrink", (2, 5, 6, 3), lambda x: x[:, 2, 1:, :]), ("shrink_negative", (3, 4, 5), lambda x: x[-1, :, -2]),
             ("new_axis", (4, 5), lambda x: x[:, tf.newaxis, 1:]), ("ellipsis", (2, 3, 4, 5), lambda x: x[1:, ..., 2]), ("all_masks", (3, 4, 5), lambda x: x[..., tf.newaxis, ::2]),
             ("rank1", (9,), lambda x: x[1:8:3]), ("rank5", (2, 3, 2, 4, 3), lambda x: x[:, 1:, :, ::2, 1:]), ("beyond", (5, 4), lambda x: x[2:100, -100:3]),
             ("reverse_mask", (6, 5), lambda x: x[::-2, ::-1])]
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
            ("v6_all_masks", (3, 4, 5), (2, 1, 4, 4), [1, 0, 0, 1], [0, 0, 0, 5], {"endMask": 1, "newAxisMask": 2, "ellipsisMask": 4})):
        net = fb.Net()
        x, y = net.input(shape), net.tensor(out)
        operands = [net.const(np.array(v, np.int32)) for v in (begin, end, [1] * len(begin))]
        net.op("STRIDED_SLICE", [x] + operands, [y], 6, "StridedSlice", **masks)
        models.built("STRIDED_SLICE", f"strided_slice_{name}", net, [y], shows=str(masks), moves=True)
    built(models, "STRIDED_SLICE", "uint8", 1, (4, 6), (2, 3), fb.UINT8, [np.array(v, np.int32) for v in ([0, 1], [4, 6], [2, 2])], "StridedSlice")


def add_padding(models):
    cases = [("rank4", IMAGE, [[0, 0], [1, 2], [2, 1], [0, 0]]), ("channels", IMAGE, [[0, 0], [0, 0], [0, 0], [1, 2]]), ("batch", IMAGE, [[1, 1], [0, 0], [0, 0], [0, 3]]),
             ("rank3", (4, 5, 3), [[1, 0], [0, 2], [1, 1]]), ("rank2", (4, 5), [[1, 2], [3, 0]]), ("rank1", (5,), [[2, 3]]), ("rank5", (1, 2, 3, 2, 3), [[0, 1], [1, 0], [0, 1], [0, 0], [2, 0]])]
    for name, shape, amounts in cases:
        moved(models, "PAD", name, lambda x, a=amounts: tf.pad(x, a), [shape], QUANT if name in ("rank4", "channels") else ("float",), str(amounts))
        if name in ("rank4", "channels", "rank2", "rank5"):
            moved(models, "PADV2", name, lambda x, a=amounts: tf.pad(x, a, constant_values=-1.25), [shape], ("float", "int8") if name == "rank4" else ("float",), str(amounts))
    moved(models, "PAD", "paddings_int64", lambda x: tf.pad(x, tf.constant([[1, 2], [0, 1]], tf.int64)), [(3, 5)])
    for dtype in (tf.int32, tf.int64):
        moved(models, "PAD", dtype.name, lambda x: tf.pad(x, [[1, 2], [0, 1]]), [((3, 5), dtype)])
        moved(models, "PADV2", dtype.name, lambda x: tf.pad(x, [[1, 2], [0, 1]], constant_values=7), [((3, 5), dtype)])
    built(models, "PAD", "uint8", 1, (3, 5), (6, 6), fb.UINT8, [np.array([[1, 2], [0, 1]], np.int32)], "Pad", quant=(0.1, 37), shows="the zero point is what pads")
    for mode in ("REFLECT", "SYMMETRIC"):
        for name, shape, amounts in (("rank4", (1, 4, 5, 3), [[0, 0], [2, 1], [1, 3], [0, 0]]), ("channels", (1, 2, 3, 5), [[0, 0], [0, 0], [0, 0], [2, 3]]), ("rank3", (3, 4, 5), [[1, 1], [0, 2], [2, 0]]),
                                     ("rank2", (4, 5), [[2, 3], [1, 4]]), ("rank1", (6,), [[3, 4]])):
            moved(models, "MIRROR_PAD", f"{mode.lower()}_{name}", lambda x, a=amounts, m=mode: tf.pad(x, a, m), [shape], QUANT if name == "rank4" else ("float",), str(amounts))
    moved(models, "MIRROR_PAD", "int32", lambda x: tf.pad(x, [[1, 2], [0, 1]], "REFLECT"), [((3, 5), tf.int32)])


def add_arrangements(models):
    for name, shape, perm in (("nhwc_to_nchw", (2, 4, 5, 3), [0, 3, 1, 2]), ("nchw_to_nhwc", (1, 3, 4, 5), [0, 2, 3, 1]), ("rank2", (4, 7), [1, 0]), ("rank3", (3, 4, 5), [2, 0, 1]), ("swap", (2, 3, 4, 5), [0, 2, 1, 3]),
                              ("batch", (2, 3, 4, 5), [3, 1, 2, 0]), ("rank5", (2, 3, 2, 4, 3), [4, 0, 3, 1, 2]), ("rank5_inner", (2, 3, 2, 4, 3), [0, 2, 1, 4, 3])):
        moved(models, "TRANSPOSE", name, lambda x, p=perm: tf.transpose(x, p), [shape], QUANT if name == "nhwc_to_nchw" else ("float",), str(perm))
    typed(models, "TRANSPOSE", lambda x: tf.transpose(x, [1, 2, 0]), (3, 4, 5))
    built(models, "TRANSPOSE", "uint8", 1, (3, 4, 5), (5, 3, 4), fb.UINT8, [np.array([2, 0, 1], np.int32)], "Transpose")
    for name, shape, out in (("flatten", IMAGE, (1, 60)), ("unknown", (2, 6, 4), (2, -1, 3)), ("rank5", (4, 6, 5), (2, 2, 3, 2, 5)), ("to_scalar", (1, 1), ()), ("from_scalar", (), (1, 1)), ("channels", (2, 3, 4, 5), (2, 3, 5, 4)),
                             ("rank6", (4, 6), (2, 2, 1, 3, 2, 1))):
        moved(models, "RESHAPE", name, lambda x, s=out: tf.reshape(x, s), [shape], ("float", "int8") if name in ("flatten", "channels") else ("float",), str(out))
    typed(models, "RESHAPE", lambda x: tf.reshape(x, (5, 3)), (3, 5))
    for name, shape, axes in (("all", (1, 4, 1, 3), None), ("some", (1, 4, 1, 3), [2]), ("negative", (2, 3, 1), [-1]), ("to_scalar", (1, 1), None)):
        net = fb.Net()
        out = tuple(d for i, d in enumerate(shape) if not (d == 1 and (axes is None or i in [a % len(shape) for a in axes])))
        x, y = net.input(shape), net.tensor(out)
        net.op("SQUEEZE", [x], [y], 1, "Squeeze", squeezeDims=axes)
        models.built("SQUEEZE", f"squeeze_{name}", net, [y], shows=f"axes {axes}", moves=True)
    built(models, "SQUEEZE", "int8", 1, (1, 4, 1, 3), (4, 3), fb.INT8, [], "Squeeze")
    for name, shape, axis in (("first", (4, 3), 0), ("middle", (2, 4, 3), 1), ("last", (4, 3), -1), ("scalar", (), 0)):
        out = list(shape)
        out.insert(axis if axis >= 0 else len(shape) + 1 + axis, 1)
        built(models, "EXPAND_DIMS", name, 1, shape, out, fb.FLOAT32, [np.array(axis, np.int32)], "ExpandDims", shows=f"axis {axis}")
    built(models, "EXPAND_DIMS", "int32", 1, (4, 3), (4, 1, 3), fb.INT32, [np.array([1], np.int32)], "ExpandDims")
    for name, shape, axes in (("last", (2, 3, 5), [2]), ("height", (1, 4, 5, 3), [1]), ("two", (1, 4, 5, 3), [1, 2]), ("rank1", (9,), [0]), ("batch", (3, 4), [0])):
        moved(models, "REVERSE_V2", name, lambda x, a=axes: tf.reverse(x, a), [shape], shows=f"axes {axes}")
    typed(models, "REVERSE_V2", lambda x: tf.reverse(x, [1]), (3, 4), (tf.int32, tf.int64, tf.bool))
    for name, shape, multiples in (("rank4", (1, 2, 3, 5), [2, 1, 2, 3]), ("channels", IMAGE, [1, 1, 1, 4]), ("rank1", (3,), [4]), ("rank3", (2, 3, 4), [1, 2, 1]), ("rank5", (1, 2, 1, 3, 2), [2, 1, 2, 1, 2])):
        moved(models, "TILE", name, lambda x, m=multiples: tf.tile(x, m), [shape], shows=str(multiples))
    typed(models, "TILE", lambda x: tf.tile(x, [2, 3]), (3, 2))
    for dtype in (fb.INT8, fb.UINT8):
        built(models, "TILE", fb.TYPE_NAMES[dtype], 1, (2, 3), (4, 9), dtype, [np.array([2, 3], np.int32)], "Tile")
    for name, shape, out in (("rank4", (1, 4, 1, 3), (2, 4, 5, 3)), ("more_ranks", (3,), (2, 4, 3)), ("scalar", (), (3, 4)), ("rank5", (1, 3, 1, 2, 1), (2, 3, 2, 2, 3))):
        built(models, "BROADCAST_TO", name, 2, shape, out, fb.FLOAT32, [np.array(out, np.int32)], "BroadcastTo", shows=f"to {out}")
    for dtype in (fb.INT32, fb.BOOL, fb.INT8):
        built(models, "BROADCAST_TO", fb.TYPE_NAMES[dtype], 2, (4, 1), (2, 4, 3), dtype, [np.array((2, 4, 3), np.int32)], "BroadcastTo")


def add_blocks(models):
    for op, function, shapes in (("DEPTH_TO_SPACE", tf.nn.depth_to_space, [((1, 3, 2, 8), 2), ((2, 2, 3, 12), 2), ((1, 2, 2, 9), 3)]),
                                 ("SPACE_TO_DEPTH", tf.nn.space_to_depth, [((1, 4, 6, 3), 2), ((2, 4, 4, 2), 2), ((1, 6, 3, 1), 3)])):
        for shape, block in shapes:
            moved(models, op, f"{block}_of_{shape[3]}_channels", lambda x, b=block, f=function: f(x, b), [shape], ("float", "int8") if shape[3] in (8, 3) else ("float",), f"block {block}")
        typed(models, op, lambda x, f=function: f(x, 2), (1, 2, 4, 8), (tf.int32,))
    for name, shape, block, pads in (("plain", (1, 4, 6, 3), [2, 2], [[0, 0], [0, 0]]), ("padded", (1, 3, 5, 3), [2, 3], [[1, 0], [0, 1]]), ("batch", (2, 4, 4, 5), [2, 1], [[0, 2], [0, 0]]), ("rank3", (2, 5, 3), [3], [[0, 1]])):
        moved(models, "SPACE_TO_BATCH_ND", name, lambda x, b=block, p=pads: tf.space_to_batch(x, b, p), [shape], shows=f"block {block}, padding {pads}")
        padded = [d + sum(pads[i - 1]) if 0 < i <= len(block) else d for i, d in enumerate(shape)]
        small = [padded[0] * int(np.prod(block))] + [d // block[i - 1] if 0 < i <= len(block) else d for i, d in enumerate(padded) if i > 0]
        moved(models, "BATCH_TO_SPACE_ND", name, lambda x, b=block, p=pads: tf.batch_to_space(x, b, p), [small], shows=f"block {block}, crops {pads}")
    for dtype, zero in ((fb.INT8, 11), (fb.UINT8, 40)):
        operands = [np.array([2, 2], np.int32), np.array([[1, 1], [0, 2]], np.int32)]
        built(models, "SPACE_TO_BATCH_ND", fb.TYPE_NAMES[dtype], 2 if dtype == fb.INT8 else 1, (1, 4, 4, 3), (4, 3, 3, 3), dtype, operands, "SpaceToBatchND", quant=(0.1, zero), shows="the zero point is what pads")
        built(models, "BATCH_TO_SPACE_ND", fb.TYPE_NAMES[dtype], 2 if dtype == fb.INT8 else 1, (4, 3, 3, 3), (1, 4, 4, 3), dtype, operands, "BatchToSpaceND", quant=(0.1, zero))


def add_gathers(models):
    image = (2, 4, 5, 3)
    for name, shape, indices, axis, batch_dims in (("first", (6, 5), [4, 0, 4, 2], 0, 0), ("channels", image, [2, 0], 3, 0), ("height", image, [3, 1, 0, 2, 2], 1, 0), ("rank2_indices", (6, 3), [[1, 5], [0, 3]], 0, 0),
                                                   ("negative_axis", image, [1, 4], -2, 0), ("scalar_index", (4, 6), 2, 1, 0), ("rank1", (9,), [7, 1], 0, 0),
                                                   ("batch_dims", (2, 4, 3), [[3, 0, 1], [2, 2, 0]], 1, 1)):
        moved(models, "GATHER", name, lambda x, i=indices, a=axis, b=batch_dims: tf.gather(x, tf.constant(i, tf.int32), axis=a, batch_dims=b), [shape], QUANT if name == "height" else ("float",), f"axis {axis}")
    models.converted("GATHER", "gather_runtime_indices", lambda x, i: tf.gather(x, i, axis=1), [((2, 4, 3), tf.float32), ((3,), tf.int32)], [(-2, 2), (0, 3)], shows="indices are an input", moves=True)
    models.converted("GATHER", "gather_runtime_indices_int64", lambda x, i: tf.gather(x, i, axis=0), [((5, 3), tf.float32), ((2, 2), tf.int64)], [(-2, 2), (0, 4)], shows="int64 indices", moves=True)
    table = tf.constant(np.linspace(-2, 2, 30, dtype=np.float32).reshape(6, 5))
    models.converted("GATHER", "gather_constant_table", lambda i: tf.gather(table, i), [((4,), tf.int32)], [(0, 5)], shows="an embedding", moves=True)
    typed(models, "GATHER", lambda x: tf.gather(x, [2, 0], axis=1), (3, 4))
    for name, shape, indices in (("points", (4, 5, 3), [[0, 1, 2], [3, 4, 0]]), ("rows", (4, 5, 3), [[2], [0], [2]]), ("pairs", (2, 4, 5, 3), [[[0, 3], [1, 2]], [[1, 0], [0, 0]]])):
        moved(models, "GATHER_ND", name, lambda x, i=indices: tf.gather_nd(x, tf.constant(i, tf.int32)), [shape], shows=f"{len(np.array(indices).shape)} ranks of indices")
    models.converted("GATHER_ND", "gather_nd_runtime_indices", lambda x, i: tf.gather_nd(x, i), [((4, 3), tf.float32), ((5, 1), tf.int32)], [(-2, 2), (0, 3)], shows="indices are an input", moves=True)
    typed(models, "GATHER_ND", lambda x: tf.gather_nd(x, tf.constant([[1, 0], [2, 3]])), (3, 4), (tf.int32,))
    for name, depth, axis, on, off, dtype in (("last", 6, -1, 1.0, 0.0, tf.float32), ("first", 5, 0, 2.5, -1.0, tf.float32), ("middle", 4, 1, 1.0, 0.0, tf.float32), ("int32", 6, -1, 7, 3, tf.int32), ("bool", 6, -1, True, False, tf.bool)):
        models.converted("ONE_HOT", f"one_hot_{name}", lambda i, d=depth, a=axis, on=on, off=off, t=dtype: tf.one_hot(i, d, tf.constant(on, t), tf.constant(off, t), a), [((3, 4), tf.int32)], [(-1, 6)], shows=f"axis {axis}, indices out of range", moves=True)
    models.converted("ONE_HOT", "one_hot_scalar", lambda i: tf.one_hot(i, 5), [((), tf.int32)], [(0, 4)], moves=True)
    models.converted("ONE_HOT", "one_hot_int64_indices", lambda i: tf.one_hot(i, 5), [((4,), tf.int64)], [(0, 4)], moves=True)


def add_resizes(models):
    for op, options in (("RESIZE_BILINEAR", "ResizeBilinear"), ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighbor")):
        nearest = op == "RESIZE_NEAREST_NEIGHBOR"
        for size, shape in (((8, 10), (1, 4, 5, 3)), ((3, 4), (2, 7, 6, 5)), ((9, 2), (1, 4, 5, 8)), ((1, 1), (1, 3, 3, 4)), ((7, 7), (1, 1, 1, 3)), ((4, 5), (1, 4, 5, 2))):
            for name, align, half in (("plain", False, False), ("align_corners", True, False), ("half_pixel", False, True)):
                net = fb.Net()
                x, y = net.input(shape), net.tensor((shape[0], *size, shape[3]))
                net.op(op, [x, net.const(np.array(size, np.int32))], [y], 3 if half or (align and nearest) else 1, options, alignCorners=align, halfPixelCenters=half)
                models.built(op, f"{op.lower()}_{name}_{shape[1]}x{shape[2]}_to_{size[0]}x{size[1]}", net, [y], shows=name, moves=nearest)
        for dtype, version in ((fb.UINT8, 1), (fb.INT8, 2), (fb.INT16, 4)):
            for half in (False, True):
                net, quant = fb.Net(), (0.02, 0 if dtype == fb.INT16 else 7)
                x, y = net.input((1, 4, 5, 3), dtype, quant), net.tensor((1, 7, 8, 3), dtype, quant)
                net.op(op, [x, net.const(np.array((7, 8), np.int32))], [y], max(version, 3) if half else version, options, halfPixelCenters=half)
                models.built(op, f"{op.lower()}_{'half_pixel_' if half else ''}{fb.TYPE_NAMES[dtype]}", net, [y], moves=nearest,
                             steps=64 if dtype == fb.INT16 and not nearest else None,  # the interpreter's weights have 10 bits
                             shows=fb.TYPE_NAMES[dtype])

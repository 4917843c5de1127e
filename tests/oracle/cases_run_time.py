"""Operands from the run where most files have constants, and plain integers and bool where most have real numbers."""

import numpy as np

import flatbuffer_net as fb


def pack(net, numbers):
    y = net.tensor((len(numbers),), fb.INT32)
    return net.op("PACK", numbers, [y], options="Pack", valuesCount=len(numbers))


def plus(net, number, constant):
    shape = net.tensors[number].shape
    return net.op("ADD", [number, net.const(np.full(shape, constant, np.int32))], [net.tensor(shape, fb.INT32)], options="Add")


def add_slices(models):
    """SLICE: (x, begin, size)."""
    for name, dtype, quant in (("float", fb.FLOAT32, None), ("int8", fb.INT8, (0.05, 3)), ("int32", fb.INT32, None)):
        net = fb.Net()
        x, i = net.input((1, 6, 8), dtype, quant), net.input((), fb.INT32)
        begin = pack(net, [net.const(fb.ints(0)), i, net.const(fb.ints(0))])
        y = net.tensor((1, 2, 8), dtype, quant)
        net.op("SLICE", [x, begin, net.const(fb.ints([1, 2, 8]))], [y], version=2, options="Slice")
        models.built("SLICE", f"slice_begin_{name}", net, [y], ["stored" if quant else (-9, 9), (0, 4)], "begins where data say")
    net = fb.Net()
    y = net.tensor((2, 3))
    inputs = [net.input((5, 7)), net.input((2,), fb.INT32), net.const(fb.ints([2, 3]))]
    net.op("SLICE", inputs, [y], options="Slice")
    models.built("SLICE", "slice_begin_list", net, [y], [(-9, 9), (0, 3)], "both begins are data")


def add_strided_slices(models):
    def built(name, shape, made, begin, end, strides, ranges, shows, dtype=fb.FLOAT32, **masks):
        net = fb.Net()
        x, i = net.input(shape, dtype), net.input((), fb.INT32)
        inputs = [x, begin(net, i), end(net, i), net.const(fb.ints(strides))]
        y = net.tensor(made, dtype)
        net.op("STRIDED_SLICE", inputs, [y], options="StridedSlice", **masks)
        models.built("STRIDED_SLICE", f"strided_slice_at_{name}", net, [y], [(-9, 9), ranges], shows)

    def zero_and(offset):
        return lambda net, i: pack(net, [net.const(fb.ints(0)), plus(net, i, offset) if offset else i])

    def only(offset):
        return lambda net, i: pack(net, [plus(net, i, offset) if offset else i])

    column = {"beginMask": 1, "endMask": 1, "shrinkAxisMask": 2}
    built("column", (3, 6), (3,), zero_and(0), zero_and(1), [1, 1], (0, 5), "x[:, i]", **column)
    built("column_int32", (3, 6), (3,), zero_and(0), zero_and(1), [1, 1], (0, 5), "x[:, i]", fb.INT32, **column)
    built("column_from_end", (3, 6), (3,), zero_and(0), zero_and(1), [1, 1], (-6, -1), "x[:, i], i < 0", **column)
    built("rows", (9, 5), (4, 5), only(0), only(4), [1], (0, 5), "x[i:i + 4]")
    built("rows_before", (9, 5), (3, 5), only(-2), only(1), [1], (2, 8), "x[i - 2:i + 1]")
    built("every_second", (9, 5), (2, 5), only(0), only(4), [2], (0, 5), "x[i:i + 4:2]")
    last = {"ellipsisMask": 1, "beginMask": 1, "endMask": 1}
    built("last", (2, 3, 7), (2, 3, 3), zero_and(0), zero_and(3), [1, 1], (0, 4), "x[..., i:i + 3]", **last)
    new = {"newAxisMask": 1}
    built("new_axis", (7, 3), (1, 2, 3), zero_and(0), zero_and(2), [1, 1], (0, 5), "x[None, i:i + 2]", **new)
    constant = lambda net, i: net.const(fb.ints([1, 2]))  # noqa: E731
    built("taken_out", (3, 6), (3,), zero_and(0), constant, [1, 1], (0, 5), "an end that does not matter", **column)


def add_plain(models):
    """Numbers without scales."""
    types = {"uint8": fb.UINT8, "int8": fb.INT8, "int16": fb.INT16, "int32": fb.INT32, "bool": fb.BOOL}
    for name, dtype in types.items():
        numbers = (0, 1) if name == "bool" else (0, 255) if name == "uint8" else (-99, 99)
        for op, height, width, flags in (
            ("RESIZE_NEAREST_NEIGHBOR", 5, 7, {}),
            ("RESIZE_NEAREST_NEIGHBOR", 2, 9, {"halfPixelCenters": True}),
            ("RESIZE_NEAREST_NEIGHBOR", 6, 4, {"alignCorners": True}),
            ("RESIZE_BILINEAR", 5, 7, {}),
        ):
            if op == "RESIZE_BILINEAR" and name in ("int32", "bool"):
                continue
            net = fb.Net()
            y = net.tensor((1, height, width, 2), dtype)
            options = "ResizeBilinear" if op == "RESIZE_BILINEAR" else "ResizeNearestNeighbor"
            net.op(op, [net.input((1, 3, 4, 2), dtype), net.const(fb.ints([height, width]))], [y], 4, options, **flags)
            label = f"{op.lower()}_plain_{name}_{height}x{width}"
            models.built(op, label, net, [y], [numbers], "without scale", tolerance="quantized" if "BILINEAR" in op else None)
        if name in ("int32", "bool"):
            continue
        for padding in ("same", "valid"):
            net = fb.Net()
            y = net.tensor((1, 3, 3, 2) if padding == "same" else (1, 2, 2, 2), dtype)
            window = {"strideH": 2, "strideW": 2, "filterHeight": 3, "filterWidth": 3, "padding": int(padding == "valid")}
            net.op("MAX_POOL_2D", [net.input((1, 5, 5, 2), dtype)], [y], 3, "Pool2D", **window)
            models.built("MAX_POOL_2D", f"max_pool_2d_plain_{name}_{padding}", net, [y], [numbers], "without scale")
    for low, high in ((1.0, 3.0), (-4.0, -1.0)):
        net = fb.Net()
        y = net.tensor((4, 9))
        net.op("FAKE_QUANT", [net.input((4, 9))], [y], options="FakeQuant", min=low, max=high, numBits=8)
        models.built("FAKE_QUANT", f"fake_quant_{low:g}_{high:g}", net, [y], [(-5, 5)], "a range without 0")


def add_segments(models):
    for op in ("PROD", "MAX", "MIN"):
        for name, shape, dtype in (("rows", (6, 3), fb.FLOAT32), ("list", (6,), fb.INT32)):
            net = fb.Net()
            y = net.tensor((5, *shape[1:]), dtype)
            inputs = [net.input(shape, dtype), net.input((6,), fb.INT32), net.const(fb.ints(5))]
            net.op(f"UNSORTED_SEGMENT_{op}", inputs, [y], options=f"UnsortedSegment{op.title()}")
            label = f"unsorted_segment_{op.lower()}_{name}_computed"
            models.built(f"UNSORTED_SEGMENT_{op}", label, net, [y], [(-9, 9), (-1, 4)], "data number the segments")


def add_indices(models):
    net = fb.Net()
    best, places = net.tensor((2, 3)), net.tensor((2, 3), fb.INT16)
    net.op("TOPK_V2", [net.input((2, 7)), net.const(fb.ints(3))], [best, places], version=3, options="TopKV2")
    models.built("TOPK_V2", "topk_v2_int16_indices", net, [best, places], shows="indices of 16 bits")

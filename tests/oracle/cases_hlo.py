"""Operators of StableHLO that LiteRT has kernels for, and TFLite's own DILATE and REDUCE_WINDOW."""

import numpy as np

import flatbuffer_net as fb

FUNCTIONS = ("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM")


def body(name, dtype=fb.FLOAT32):
    """A subgraph that joins two numbers; without a name the second one."""
    net = fb.Net()
    a, b = net.input((), dtype), net.input((), dtype)
    return net.finish([b if name is None else net.op(name, [a, b], [net.tensor((), dtype)])])


def add_elements(models):
    for function in FUNCTIONS:
        for suffix, dtype, shape in (("", fb.FLOAT32, (2, 3, 5)), ("_int32", fb.INT32, (7,))):
            net = fb.Net()
            y = net.tensor(shape, dtype)
            op = f"STABLEHLO_{function}"
            net.op(op, [net.input(shape, dtype), net.input(shape, dtype)], [y])
            models.built(op, f"{op.lower()}{suffix}", net, [y], [(-9, 9)], "two tensors")
    for dtype in (fb.BOOL, fb.INT32, fb.UINT8, fb.INT16):
        net = fb.Net()
        y = net.tensor((4, 5), dtype)
        net.op("STABLEHLO_AND", [net.input((4, 5), dtype), net.input((4, 5), dtype)], [y])
        suffix, ranges = ("", (0, 1)) if dtype == fb.BOOL else (f"_{fb.TYPE_NAMES[dtype]}", "stored")
        shows = "truth values" if dtype == fb.BOOL else "bits"
        models.built("STABLEHLO_AND", f"stablehlo_and{suffix}", net, [y], [ranges], shows, moves=True)
    for function in FUNCTIONS:
        net = fb.Net()
        y = net.tensor((4, 5), fb.BOOL)
        op = f"STABLEHLO_{function}"
        net.op(op, [net.input((4, 5), fb.BOOL), net.input((4, 5), fb.BOOL)], [y])
        models.built(op, f"{op.lower()}_bool", net, [y], [(0, 1)], "truth values")
    for suffix, dtype, bits in (("", fb.INT32, 31), ("_int16", fb.INT16, 15), ("_int8", fb.INT8, 9)):
        net = fb.Net()
        y = net.tensor((6, 9), dtype)
        inputs = [net.input((6, 9), dtype), net.input((6, 9), dtype)]
        net.op("STABLEHLO_SHIFT_LEFT", inputs, [y], options_2="StablehloShiftLeft")
        name = f"stablehlo_shift_left{suffix}"
        models.built("STABLEHLO_SHIFT_LEFT", name, net, [y], [(-99, 99), (0, bits)], "bits that leave")


def add_borders(models):
    for name, shape, low, high, interior in (
        ("around", (2, 3, 4), (1, 0, 2), (0, 2, 1), (0, 0, 0)),
        ("between", (2, 3, 4), (0, 0, 0), (0, 0, 0), (1, 0, 3)),
        ("cut", (5, 6), (-1, 2), (1, -3), (0, 0)),
        ("all", (1, 4, 5, 2), (0, -1, 3, 0), (1, 2, -2, 0), (2, 1, 2, 0)),
    ):
        for suffix, dtype, number in (("", fb.FLOAT32, np.float32(2.5)), ("_int32", fb.INT32, np.int32(-7))):
            net = fb.Net()
            made = [s + (s - 1) * i + a + b for s, a, b, i in zip(shape, low, high, interior)]
            y = net.tensor(made, dtype)
            net.op(
                "STABLEHLO_PAD",
                [net.input(shape, dtype), net.const(number)],
                [y],
                options_2="StablehloPad",
                edgePaddingLow=list(low),
                edgePaddingHigh=list(high),
                interiorPadding=list(interior),
            )
            models.built("STABLEHLO_PAD", f"stablehlo_pad_{name}{suffix}", net, [y], [(-9, 9)], name, moves=True)
    for name, shape, dilations in (("image", (1, 4, 3, 2), (1, 2, 3, 1)), ("all", (3, 2, 4), (2, 3, 4))):
        net = fb.Net()
        y = net.tensor([(s - 1) * d + 1 for s, d in zip(shape, dilations)])
        inputs = [net.input(shape), net.const(fb.ints(dilations)), net.const(np.float32(-1))]
        net.op("DILATE", inputs, [y], options_2="Dilate")
        models.built("DILATE", f"dilate_{name}", net, [y], [(-9, 9)], name, moves=True)


def window_count(size, window, stride, dilation):
    return (size - (window - 1) * dilation - 1) // stride + 1


def add_windows(models):
    for name, function, first, shape, window, stride, base, dilation, padding in (
        (
            "sum",
            "ADD",
            0,
            (1, 6, 7, 2),
            (1, 3, 2, 1),
            (1, 2, 1, 1),
            (1, 1, 1, 1),
            (1, 1, 2, 1),
            ((0, 0), (1, 1), (0, 2), (0, 0)),
        ),
        ("first", "ADD", 1.5, (4, 9), (2, 3), (1, 2), (1, 1), (1, 1), ((0, 1), (0, 0))),
        ("product", "MULTIPLY", 1, (3, 5), (2, 2), (1, 1), (1, 1), (1, 1), ((0, 0), (1, 0))),
        ("maximum", "MAXIMUM", -100, (2, 8, 3), (1, 4, 2), (1, 3, 1), (1, 2, 1), (1, 1, 1), ((0, 0), (2, 2), (-1, 1))),
        ("minimum", "MINIMUM", 100, (9,), (3,), (2,), (1,), (2,), ((1, 1),)),
    ):
        net = fb.Net()
        padded = [(s - 1) * b + 1 + p[0] + p[1] for s, b, p in zip(shape, base, padding)]
        y = net.tensor([window_count(*each) for each in zip(padded, window, stride, dilation)])
        net.op(
            "STABLEHLO_REDUCE_WINDOW",
            [net.input(shape), net.const(np.float32(first))],
            [y],
            options_2="StablehloReduceWindow",
            windowDimensions=list(window),
            windowStrides=list(stride),
            baseDilations=list(base),
            windowDilations=list(dilation),
            padding=[side for pair in padding for side in pair],
            bodySubgraphIndex=1,
        )
        net.further = [body(f"STABLEHLO_{function}")]
        models.built("STABLEHLO_REDUCE_WINDOW", f"stablehlo_reduce_window_{name}", net, [y], [(-2, 2)], name)
    functions = fb.schema.ReduceWindowFunction
    for name, function, first, dtype in (
        ("add", functions.ADD, np.float32(0), fb.FLOAT32),
        ("mul", functions.MUL, np.float32(1), fb.FLOAT32),
        ("minimum", functions.MINIMUM, np.int32(3), fb.INT32),
        ("maximum", functions.MAXIMUM, np.int32(-9), fb.INT32),
        ("all", functions.ALL, np.bool_(True), fb.BOOL),
        ("any", functions.ANY, np.bool_(False), fb.BOOL),
    ):
        shape, window, stride, dilation = (5, 6, 4), (2, 3, 1), (1, 2, 2), (2, 1, 1)
        net = fb.Net()
        y = net.tensor([window_count(*each) for each in zip(shape, window, stride, dilation)], dtype)
        lists = [net.const(np.array(numbers, np.int64)) for numbers in (window, stride, dilation)]
        inputs = [net.input(shape, dtype), net.const(first), *lists]
        net.op("REDUCE_WINDOW", inputs, [y], options_2="ReduceWindow", reduceFunction=function)
        ranges = [(0, 1)] if dtype == fb.BOOL else [(-9, 9)]
        models.built("REDUCE_WINDOW", f"reduce_window_{name}", net, [y], ranges, name)


def add_gathers(models):
    # LiteRT 2.3.0 reads beyond the starts where their dimension of numbers is one behind their last.
    for name, shape, starts, index_dim, moved, sizes, collapsed, offset, made in (
        ("rows", (7, 5), (4, 1), 1, (0,), (1, 5), (0,), (1,), (4, 5)),
        ("list", (9,), (3, 2, 1), 2, (0,), (1,), (0,), (), (3, 2)),
        ("windows", (6, 8), (3, 2), 1, (1, 0), (2, 3), (), (1, 2), (3, 2, 3)),
        ("in_front", (5, 6, 4), (2, 3), 0, (0, 2), (2, 6, 1), (2,), (0, 2), (2, 3, 6)),
        ("one", (4, 6), (2,), 0, (0, 1), (2, 2), (), (0, 1), (2, 2)),
    ):
        for suffix, dtype in (("", fb.FLOAT32), ("_int32", fb.INT32), ("_known", fb.FLOAT32)):
            net = fb.Net()
            x = net.input(shape, dtype)
            known = np.random.default_rng(3).integers(-2, 9, starts)
            indices = net.const(fb.ints(known)) if suffix == "_known" else net.input(starts, fb.INT32)
            y = net.tensor(made, dtype)
            net.op(
                "STABLEHLO_GATHER",
                [x, indices],
                [y],
                options_2="StablehloGather",
                offsetDims=list(offset),
                collapsedSliceDims=list(collapsed),
                startIndexMap=list(moved),
                indexVectorDim=index_dim,
                sliceSizes=list(sizes),
            )
            ranges = [(-9, 9), (-2, 9)]
            models.built("STABLEHLO_GATHER", f"stablehlo_gather_{name}{suffix}", net, [y], ranges, name, moves=True)


def add_scatters(models):
    for name, shape, starts, index_dim, moved, updates, window_dims, inserted in (
        ("rows", (7, 5), (4, 1), 1, (0,), (4, 5), (1,), (0,)),
        ("list", (9,), (6, 1), 1, (0,), (6,), (), (0,)),
        ("windows", (6, 8), (2, 2), 1, (1, 0), (2, 2, 3), (1, 2), ()),
        ("elements", (3, 4, 2), (5, 3), 1, (0, 1, 2), (5,), (), (0, 1, 2)),
        ("one", (4, 6), (2,), 0, (0, 1), (2, 2), (0, 1), ()),
        ("many", (5, 3), (70, 1), 1, (0,), (70, 3), (1,), (0,)),
    ):
        for function in (None, *FUNCTIONS):
            for suffix in ("", "_known"):
                if name == "many" and function not in (None, "ADD"):
                    continue
                net = fb.Net()
                x = net.input(shape)
                known = np.random.default_rng(5).integers(-1, max(shape), starts)
                indices = net.const(fb.ints(known)) if suffix else net.input(starts, fb.INT32)
                y = net.tensor(shape)
                net.op(
                    "STABLEHLO_SCATTER",
                    [x, indices, net.input(updates)],
                    [y],
                    options_2="StablehloScatter",
                    updateWindowDims=list(window_dims),
                    insertedWindowDims=list(inserted),
                    scatterDimsToOperandDims=list(moved),
                    indexVectorDim=index_dim,
                    updateComputationSubgraphIndex=1,
                )
                net.further = [body(function and f"STABLEHLO_{function}")]
                ranges = [(-2, 2), (-2, 2)] if suffix else [(-2, 2), (-1, max(shape)), (-2, 2)]
                shown = f"{name}, {(function or 'update').lower()}"
                file = f"stablehlo_scatter_{name}_{(function or 'update').lower()}{suffix}"
                models.built("STABLEHLO_SCATTER", file, net, [y], ranges, shown)

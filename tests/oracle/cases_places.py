"""Diagonals, scattering, segments, sparse matrices, reversed sequences, numbers in buckets."""

import numpy as np

import flatbuffer_net as fb


def add_diagonals(models):
    for name, shape in (("row", (5,)), ("rows", (3, 4)), ("images", (2, 3, 3))):
        for suffix, dtype in (("", fb.FLOAT32), ("_int32", fb.INT32)):
            net = fb.Net()
            y = net.tensor((*shape, shape[-1]), dtype)
            net.op("MATRIX_DIAG", [net.input(shape, dtype)], [y], options="MatrixDiag")
            models.built("MATRIX_DIAG", f"matrix_diag_{name}{suffix}", net, [y], [(-9, 9)], name, moves=True)
    for name, shape in (("square", (4, 4)), ("wide", (3, 5)), ("high", (6, 2)), ("batch", (2, 3, 4, 3))):
        net = fb.Net()
        x, diagonal = net.input(shape), net.input((*shape[:-2], min(shape[-2:])))
        y = net.tensor(shape)
        net.op("MATRIX_SET_DIAG", [x, diagonal], [y], options="MatrixSetDiag")
        models.built("MATRIX_SET_DIAG", f"matrix_set_diag_{name}", net, [y], [(-9, 9)], name, moves=True)


def add_scatters(models):
    for name, places, rest, shape in (
        ("elements", [[4], [3], [1], [7]], (), (8,)),
        ("rows", [[0], [2]], (3,), (4, 3)),
        ("meeting", [[2], [0], [2], [2]], (5,), (3, 5)),
        ("points", [[0, 1, 2], [1, 0, 0], [0, 1, 2]], (), (2, 2, 3)),
        ("images", [[[1, 0], [0, 2]], [[1, 1], [1, 2]]], (2,), (2, 3, 2)),
    ):
        for suffix, dtype in (("", fb.FLOAT32), ("_int32", fb.INT32), ("_computed", fb.FLOAT32)):
            net = fb.Net()
            places_shape = np.shape(places)
            computed = suffix == "_computed"
            indices = net.input(places_shape, fb.INT32) if computed else net.const(fb.ints(places))
            updates = net.input((*places_shape[:-1], *rest), dtype)
            y = net.tensor(shape, dtype)
            net.op("SCATTER_ND", [indices, updates, net.const(fb.ints(shape))], [y], options="ScatterNd")
            ranges = [(0, min(shape[: places_shape[-1]]) - 1), (-9, 9)] if computed else [(-9, 9)]
            models.built("SCATTER_ND", f"scatter_nd_{name}{suffix}", net, [y], ranges, name)


def add_segments(models):
    ids = [0, 0, 1, 2, 2, 2]
    forms = ("rows", (6, 3), fb.FLOAT32), ("list", (6,), fb.INT32), ("images", (6, 2, 5), fb.FLOAT32)
    for name, shape, dtype in forms:
        net = fb.Net()
        y = net.tensor((3, *shape[1:]), dtype)
        net.op("SEGMENT_SUM", [net.input(shape, dtype), net.const(fb.ints(ids))], [y], options="SegmentSum")
        models.built("SEGMENT_SUM", f"segment_sum_{name}", net, [y], [(-9, 9)], name)
    unsorted = [2, 0, -1, 2, 4, 0]
    for op in ("SUM", "PROD", "MAX", "MIN"):
        for name, shape, dtype in (("rows", (6, 3), fb.FLOAT32), ("list", (6,), fb.INT32)):
            net = fb.Net()
            y = net.tensor((5, *shape[1:]), dtype)
            inputs = [net.input(shape, dtype), net.const(fb.ints(unsorted)), net.const(fb.ints(5))]
            net.op(f"UNSORTED_SEGMENT_{op}", inputs, [y], options=f"UnsortedSegment{op.title()}")
            models.built(
                f"UNSORTED_SEGMENT_{op}", f"unsorted_segment_{op.lower()}_{name}", net, [y], [(-9, 9)], "some are empty"
            )
    net = fb.Net()
    y = net.tensor((5, 3))
    net.op(
        "UNSORTED_SEGMENT_SUM",
        [net.input((6, 3)), net.input((6,), fb.INT32), net.const(fb.ints(5))],
        [y],
        options="UnsortedSegmentSum",
    )
    ranges = [(-9, 9), (0, 4)]
    models.built("UNSORTED_SEGMENT_SUM", "unsorted_segment_sum_computed", net, [y], ranges, "numbers are data")


def add_sparse(models):
    for name, places, shape, scalar, dtype in (
        ("list", [1, 4, 5], (7,), False, fb.FLOAT32),
        ("one", 3, (5,), True, fb.FLOAT32),
        ("matrix", [[0, 1], [1, 3], [2, 0]], (3, 4), False, fb.FLOAT32),
        ("mask", [[0, 0, 1], [1, 1, 1]], (2, 2, 3), True, fb.INT32),
    ):
        net = fb.Net()
        values = net.input(() if scalar else (len(places),), dtype)
        default = net.const(np.array(-1, fb.NUMPY_TYPES[dtype]))
        y = net.tensor(shape, dtype)
        net.op(
            "SPARSE_TO_DENSE",
            [net.const(fb.ints(places)), net.const(fb.ints(shape)), values, default],
            [y],
            options="SparseToDense",
        )
        models.built("SPARSE_TO_DENSE", f"sparse_to_dense_{name}", net, [y], [(1, 9)], name, moves=True)
    table = np.linspace(-2, 2, 30, dtype=np.float32).reshape(6, 5)
    for name, combiner in (("sum", 0), ("mean", 1), ("sqrtn", 2)):
        net = fb.Net()
        ids, weights = net.input((5,), fb.INT32), net.input((5,))
        places = net.const(fb.ints([[0, 0], [0, 2], [2, 0], [2, 1], [2, 2]]))
        y = net.tensor((4, 5))
        net.op(
            "EMBEDDING_LOOKUP_SPARSE",
            [ids, places, net.const(fb.ints([4, 3])), weights, net.const(table)],
            [y],
            options="EmbeddingLookupSparse",
            combiner=combiner,
        )
        ranges = [(0, 5), (0.5, 2)]
        models.built(
            "EMBEDDING_LOOKUP_SPARSE", f"embedding_lookup_sparse_{name}", net, [y], ranges, "two rows are empty"
        )


def add_reversals(models):
    for name, shape, sequence, batch, lengths, dtype in (
        ("time", (3, 5, 2), 1, 0, [5, 1, 3], fb.FLOAT32),
        ("time_major", (5, 3, 2), 0, 1, [2, 5, 4], fb.FLOAT32),
        ("last", (2, 3, 4), 2, 0, [3, 4], fb.INT32),
        ("inner", (2, 3, 4, 2), 3, 1, [1, 2, 2], fb.FLOAT32),
        ("computed", (3, 5, 2), 1, 0, None, fb.FLOAT32),
    ):
        net = fb.Net()
        x, y = net.input(shape, dtype), net.tensor(shape, dtype)
        count = shape[batch]
        given = net.const(fb.ints(lengths)) if lengths else net.input((count,), fb.INT32)
        net.op("REVERSE_SEQUENCE", [x, given], [y], options="ReverseSequence", seqDim=sequence, batchDim=batch)
        ranges = [(-9, 9), (1, shape[sequence])]
        models.built("REVERSE_SEQUENCE", f"reverse_sequence_{name}", net, [y], ranges, name, moves=True)


def add_buckets(models):
    for name, shape, boundaries, dtype in (
        ("float", (3, 7), [-1.5, 0.0, 0.25, 3.0], fb.FLOAT32),
        ("int32", (2, 3, 5), [-4.0, 0.0, 0.5, 7.0], fb.INT32),
        ("one", (9,), [0.0], fb.FLOAT32),
    ):
        net = fb.Net()
        y = net.tensor(shape, fb.INT32)
        net.op("BUCKETIZE", [net.input(shape, dtype)], [y], options="Bucketize", boundaries=boundaries)
        models.built("BUCKETIZE", f"bucketize_{name}", net, [y], [(-9, 9)], f"{len(boundaries)} boundaries")


def add_numbers(models):
    for name, low, high, bits in (("8_bits", -1.0, 1.5, 8), ("4_bits", 0.0, 6.0, 4), ("16_bits", -3.0, 5.0, 16)):
        net = fb.Net()
        y = net.tensor((4, 33))
        net.op("FAKE_QUANT", [net.input((4, 33))], [y], options="FakeQuant", min=low, max=high, numBits=bits)
        models.built("FAKE_QUANT", f"fake_quant_{name}", net, [y], [(-7, 7)], f"{low} to {high}")
    net = fb.Net()
    y = net.tensor((2, 3, 5))
    net.op("FILL", [net.const(fb.ints([2, 3, 5])), net.input(())], [y], options="Fill")
    models.built("FILL", "fill_computed_number", net, [y], shows="the number is an input", moves=True)
    for op, shape, dtype in (("ZEROS_LIKE", (3, 5), fb.FLOAT32), ("SHAPE", (2,), fb.INT32), ("RANK", (), fb.INT32)):
        net = fb.Net()
        y = net.tensor(shape, dtype)
        options = {"ZEROS_LIKE": "ZerosLike", "SHAPE": "Shape", "RANK": "Rank"}[op]
        net.op(op, [net.input((3, 5))], [y], options=options, **({"outType": fb.INT32} if op == "SHAPE" else {}))
        models.built(op, f"{op.lower()}_as_output", net, [y], shows="a constant is the output", moves=True)


def add_rows(models):
    table = np.linspace(-2, 2, 30, dtype=np.float32).reshape(6, 5)
    net = fb.Net()
    y = net.tensor((4, 5))
    net.op("EMBEDDING_LOOKUP", [net.input((4,), fb.INT32), net.const(table)], [y])
    models.built("EMBEDDING_LOOKUP", "embedding_lookup", net, [y], [(0, 5)], "rows of a constant table", moves=True)
    for name, shape, update, dtype in (
        ("row", (5, 3), (1, 3), fb.FLOAT32),
        ("inside", (2, 6, 4), (1, 3, 2), fb.FLOAT32),
        ("int32", (7,), (3,), fb.INT32),
    ):
        net = fb.Net()
        x, part, start = net.input(shape, dtype), net.input(update, dtype), net.input((len(shape),), fb.INT32)
        y = net.tensor(shape, dtype)
        net.op("DYNAMIC_UPDATE_SLICE", [x, part, start], [y], options="DynamicUpdateSlice")
        ranges = [(-9, 9), (-9, 9), (-1, 5)]
        models.built("DYNAMIC_UPDATE_SLICE", f"dynamic_update_slice_{name}", net, [y], ranges, name, moves=True)
    for op, options, ranges in (
        ("BITWISE_XOR", "BitwiseXor", [(-99, 99)]),
        ("RIGHT_SHIFT", "RightShift", [(-999, 999), (0, 9)]),
    ):
        net = fb.Net()
        y = net.tensor((3, 7), fb.INT32)
        net.op(op, [net.input((3, 7), fb.INT32), net.input((3, 7), fb.INT32)], [y], options=options)
        models.built(op, f"{op.lower()}_int32", net, [y], ranges, "integers")

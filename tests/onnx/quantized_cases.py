"""Integers with scales: the quantized operators of onnx and of onnxruntime, and weights in 4 bits."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from one_case import case, network, seeded

# Of int8 weights: without VNNI, onnxruntime saturates pairs of products of larger ones and bytes.
SEVEN_BITS = (-63, 63)


def quantized():
    x = seeded("x", (2, 3, 4), low=-3, high=3)
    scale, zero = np.float32(0.03), np.uint8(120)
    yield case("QuantizeLinear", "QuantizeLinear", [x, scale, zero], [1, 2])
    yield case("QuantizeLinear_axis", "QuantizeLinear", [x, np.array([0.1, 0.02, 0.05], np.float32),
                                                         np.array([0, 3, -5], np.int8)], [1, 2], axis=1)
    yield case("DequantizeLinear_axis", "DequantizeLinear", [seeded("q", (2, 3, 4), np.int8, -128, 127),
                                                             np.array([0.1, 0.02, 0.05], np.float32)], [1], axis=1)
    yield case("DynamicQuantizeLinear", "DynamicQuantizeLinear", [x], outputs=3)
    a, b = seeded("a", (3, 700), np.uint8, 0, 255), seeded("b", (700, 4), np.uint8, 0, 255)
    yield case("MatMulInteger_deep", "MatMulInteger", [a, b, np.uint8(3), np.array([1, 250, 9, 128], np.uint8)], [1, 3])
    image, filter_ = seeded("i", (1, 40, 5, 5), np.uint8, 0, 255), seeded("f", (3, 40, 3, 3), np.uint8, 0, 255)
    yield case("ConvInteger_deep", "ConvInteger", [image, filter_, np.uint8(7), np.uint8(100)], [1, 2, 3],
               pads=[1, 1, 1, 1])
    wide = seeded("i", (1, 32, 12, 12), np.uint8, 0, 255), seeded("f", (32, 32, 3, 3), np.int8, *SEVEN_BITS)
    yield case("ConvInteger_wide", "ConvInteger", [*wide, np.uint8(7)], [1, 2], pads=[1, 1, 1, 1])
    yield case("QLinearMatMul", "QLinearMatMul", [a, np.float32(0.01), np.uint8(3), b, np.float32(0.02), np.uint8(120),
                                                  np.float32(0.9), np.uint8(128)], [1, 2, 3, 4, 5, 6, 7])
    yield case("QLinearConv", "QLinearConv",
               [image, np.float32(0.01), np.uint8(7), seeded("f8", (3, 40, 3, 3), np.int8, *SEVEN_BITS),
                np.array([0.01, 0.02, 0.03], np.float32), np.zeros(3, np.int8), np.float32(0.7), np.uint8(128),
                seeded("b", (3,), np.int32, -900, 900)],
               [1, 2, 3, 4, 5, 6, 7, 8], strides=[2, 2], pads=[1, 0, 1, 1])


def counted_layers():
    """Layers whose input is counted in steps of its range (quantize_dynamic)."""
    rows, steps = seeded("rows", (2, 5, 24)), [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"])]

    def layer(name, node, x, held):
        constants = [numpy_helper.from_array(np.asarray(array), key) for key, array in held.items()]
        real = [helper.make_node("Cast", ["sums"], ["real"], to=TensorProto.FLOAT),
                helper.make_node("Mul", ["s", "ws"], ["unit"]), helper.make_node("Mul", ["real", "unit"], ["y"])]
        return network(f"Counted_{name}", [*steps, node, *real], {"x": x}, constants, ["y"], 19)

    weights, scale = seeded("w", (24, 19), np.int8, *SEVEN_BITS), np.float32(0.0123)
    product = helper.make_node("MatMulInteger", ["q", "w", "z"], ["sums"])
    yield layer("MatMul", product, rows, {"w": weights, "ws": scale})
    yield layer("MatMul_of_columns", helper.make_node("MatMulInteger", ["q", "w", "z", "wz"], ["sums"]), rows,
                {"w": seeded("w", (24, 19), np.uint8, 64, 190), "ws": seeded("ws", (19,), low=0.005, high=0.02),
                 "wz": seeded("wz", (19,), np.uint8, 110, 140)})
    for name, shape, attributes in (("Conv", (7, 6, 3, 3), {"pads": [1, 0, 2, 1], "strides": [2, 1]}),
                                    ("Conv_points", (5, 6, 1, 1), {}), ("Conv_groups", (4, 3, 3, 2), {"group": 2}),
                                    ("Conv_depthwise", (6, 1, 3, 3), {"group": 6, "pads": [1, 1, 1, 1]}),
                                    ("Conv_dilated", (3, 6, 3, 3), {"dilations": [2, 2], "pads": [2, 2, 2, 2]})):
        conv = helper.make_node("ConvInteger", ["q", "w", "z"], ["sums"], **attributes)
        yield layer(name, conv, seeded("image", (2, 6, 9, 8)),
                    {"w": seeded("w", shape, np.int8, *SEVEN_BITS), "ws": scale})
    line = helper.make_node("ConvInteger", ["q", "w", "z"], ["sums"], auto_pad="SAME_LOWER")
    yield layer("Conv_of_one_dimension", line, seeded("line", (1, 5, 30)),
                {"w": seeded("w", (3, 5, 4), np.int8, *SEVEN_BITS), "ws": scale})
    found = helper.make_node("NonZero", ["x"], ["places"]), helper.make_node("Cast", ["places"], ["f"], to=TensorProto.FLOAT)
    nodes = [*found, helper.make_node("Transpose", ["f"], ["t"], perm=[1, 0]),
             helper.make_node("DynamicQuantizeLinear", ["t"], ["q", "s", "z"]), product]
    held = numpy_helper.from_array(seeded("w", (2, 3), np.int8, *SEVEN_BITS), "w")
    sparse = seeded("sparse", (4, 6), low=-2, high=1)
    yield network("Counted_rows_that_data_make", nodes, {"x": np.maximum(sparse, 0)}, [held], ["sums", "s", "z"], 19)
    for name, shapes in (("row", ((5,), (5, 3))), ("column", ((4, 2, 5), (5,))), ("both", ((5,), (5,)))):
        vectors = [seeded(key, shape, np.uint8, 0, 255) for key, shape in zip("ab", shapes)]
        yield case(f"MatMulInteger_of_a_vector_{name}", "MatMulInteger", [*vectors, np.uint8(9)], [1, 2])
    batch = seeded("a", (2, 4, 5), np.uint8, 0, 255), seeded("b", (2, 5, 3), np.uint8, 0, 255)
    yield case("MatMulInteger_zero_points_of_a_batch", "MatMulInteger",
               [*batch, None, seeded("z", (2, 1, 3), np.uint8, 0, 255)], [1, 3])
    yield case("MatMulInteger_zero_points_in_a_row", "MatMulInteger",
               [batch[0], batch[1][0], None, seeded("z", (1, 3), np.uint8, 0, 255)], [1, 3])
    yield case("MatMulInteger_wraps", "MatMulInteger", [np.full((2, 33026), 255, np.uint8),
                                                        np.full((33026, 3), 255, np.uint8)], [1])
    given = np.full((2, 5), 7, np.uint8), seeded("w", (5, 3), np.uint8, 0, 255), seeded("z", (1,), np.uint8, 3, 9)
    yield case("MatMulInteger_of_a_constant", "MatMulInteger", given, [0, 1])
    deep = seeded("i", (1, 64, 6, 6), np.uint8, 0, 255), seeded("f", (4, 64, 3, 3), np.uint8, 0, 255)
    yield case("ConvInteger_computed_deep", "ConvInteger", [*deep, np.uint8(7)], [2])
    volume = seeded("i", (1, 40, 4, 4, 4), np.uint8, 0, 255), seeded("f", (3, 40, 2, 3, 2), np.uint8, 0, 255)
    yield case("ConvInteger_of_a_volume", "ConvInteger", [*volume, np.uint8(7)], [1, 2], pads=[1, 0, 1, 0, 2, 1])
    computed = seeded("a", (2, 3, 600), np.uint8, 0, 255), seeded("b", (2, 600, 4), np.int8, *SEVEN_BITS)
    yield case("MatMulInteger_computed", "MatMulInteger", [*computed, np.uint8(9)], [2])
    scales = seeded("scales", (19,), low=0.005, high=0.02)
    bytes_ = seeded("a", (2, 5, 24), np.uint8, 0, 255)
    yield case("MatMulIntegerToFloat", "MatMulIntegerToFloat",
               [bytes_, weights, np.float32(0.02), scales, np.uint8(131), np.zeros(19, np.int8), seeded("bias", (19,))],
               [1, 2, 3, 4, 5, 6], domain="com.microsoft")
    yield case("DynamicQuantizeMatMul", "DynamicQuantizeMatMul",
               [rows, weights, np.array([0.0123], np.float32), np.zeros(1, np.int8), seeded("bias", (19,))],
               [1, 2, 3, 4], domain="com.microsoft")


class Rounded:
    """A network whose values between operators are rounded to 8 bits (QDQ), as onnxruntime's quantizer writes it."""

    def __init__(self):
        self.nodes, self.held, self.count = [], [], 0

    def hold(self, array):
        self.held.append(numpy_helper.from_array(np.asarray(array), f"c{len(self.held)}"))
        return self.held[-1].name

    def op(self, name, *operands, **attributes):
        self.count += 1
        self.nodes.append(helper.make_node(name, operands, [f"v{self.count}"], **attributes))
        return f"v{self.count}"

    def rounded(self, value, scale=0.0217, zero=np.uint8(117)):
        grid = self.hold(np.float32(scale)), self.hold(zero)
        return self.op("DequantizeLinear", self.op("QuantizeLinear", value, *grid), *grid)

    def weights(self, shape, axis=None):
        scale = np.float32(0.0123) if axis is None else seeded("ws", (shape[axis],), low=0.005, high=0.02)
        zero = np.int8(0) if axis is None else np.zeros(shape[axis], np.int8)
        held = self.hold(seeded("w", shape, np.int8, *SEVEN_BITS)), self.hold(scale), self.hold(zero)
        return self.op("DequantizeLinear", *held, **({} if axis is None else {"axis": axis}))

    def case(self, name, given, output):
        return network(name, self.nodes, given, self.held, [output], 19)


def rounded_layers():
    """Outputs are rounded, so an element is right or a whole step off."""
    image, rows = {"x": seeded("image", (1, 6, 9, 8))}, {"x": seeded("rows", (5, 12))}
    for name, shape, axis, attributes in (
            ("Conv", (7, 6, 3, 3), 0, {"pads": [1, 0, 1, 2]}), ("Conv_points", (7, 6, 1, 1), 0, {}),
            ("Conv_of_one_scale", (4, 6, 2, 2), None, {"strides": [2, 1]}),
            ("Conv_depthwise", (6, 1, 3, 3), 0, {"group": 6}), ("Conv_depthwise_points", (6, 1, 1, 1), 0, {"group": 6}),
            ("Conv_groups", (4, 3, 3, 3), 0, {"group": 2})):
        r = Rounded()
        made = r.op("Relu", r.op("Conv", r.rounded("x"), r.weights(shape, axis), **attributes))
        yield r.case(f"QDQ_{name}", image, r.rounded(made, 0.0371, np.int8(-41)))
    r = Rounded()
    line = r.op("Conv", r.rounded("x"), r.weights((3, 5, 2), 0))
    yield r.case("QDQ_Conv_of_one_dimension", {"x": seeded("line", (1, 5, 9))}, r.rounded(line, 0.0193))
    for name, shape, axis, attributes in (("MatMul", (12, 7), 1, None), ("Gemm", (12, 7), 1, {}),
                                          ("Gemm_turned", (7, 12), 0, {"transB": 1, "alpha": 0.5})):
        r = Rounded()
        op, more = ("MatMul", {}) if attributes is None else ("Gemm", attributes)
        yield r.case(f"QDQ_{name}", rows, r.rounded(r.op(op, r.rounded("x"), r.weights(shape, axis), **more), 0.0193))
    r = Rounded()
    x = r.rounded("x")
    curve = r.rounded(r.op("Sigmoid", x), 1 / 256, np.uint8(0))
    r.rounded(r.op("Mul", x, curve), 0.0143)
    product = f"v{r.count}"
    moved = r.rounded(r.op("Transpose", r.rounded(r.op("Add", x, product), 0.0311), perm=[1, 0]), 0.0311)
    yield r.case("QDQ_elements", rows, r.rounded(r.op("Reshape", moved, r.hold(np.array([4, 15]))), 0.0311))
    r = Rounded()
    x = r.rounded("x")
    pooled = r.rounded(r.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]))
    mean = r.rounded(r.op("GlobalAveragePool", pooled), 0.0117)
    yield r.case("QDQ_pools", image, r.rounded(r.op("Concat", mean, r.op("Erf", mean), axis=1), 0.0223))
    held = {"s": np.float32(0.0217), "z": np.uint8(117), "w": seeded("w", (4, 6, 3, 3), np.int8, *SEVEN_BITS),
            "ws": seeded("ws", (4,), low=0.005, high=0.02), "wz": np.zeros(4, np.int8), "ys": np.float32(0.0391),
            "yz": np.uint8(99), "b": seeded("b", (4,), np.int32, -900, 900), "m": seeded("m", (12, 3), np.int8, *SEVEN_BITS),
            "ms": np.float32(0.0123), "mz": np.int8(0), "rows": np.array([-1, 12], np.int64)}
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
             helper.make_node("QLinearConv", ["q", "s", "z", "w", "ws", "wz", "ys", "yz", "b"], ["c"]),
             helper.make_node("MaxPool", ["c"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Reshape", ["p", "rows"], ["r"]),
             helper.make_node("QLinearMatMul", ["r", "ys", "yz", "m", "ms", "mz", "s", "z"], ["y"])]
    yield network("QLinear_layers", nodes, image, [numpy_helper.from_array(np.asarray(a), n) for n, a in held.items()],
                  ["y", "p"], 19)
    # The middles between steps: a division and a product with the inverse round some of them differently.
    for scale in (0.0217, 0.0039215689, 0.1):
        r = Rounded()
        middles = ((np.arange(-128, 127) + 0.5) * scale).astype(np.float32)
        yield r.case(f"QDQ_middles_of_{scale:.4f}", {"x": middles}, r.rounded("x", scale, np.uint8(128)))
    # Steps of powers of two make halves, which are rounded to even.
    r = Rounded()
    x = r.rounded("x", 0.125, np.uint8(128))
    half = r.rounded(r.op("Relu", x), 0.25, np.uint8(0))
    yield r.case("QDQ_halves", rows, r.rounded(r.op("Add", x, half), 0.5, np.uint8(128)))


def quantized_recurrent():
    for direction, d in (("forward", 1), ("bidirectional", 2)):
        w, r = seeded("w8", (d, 5, 16), np.int8, *SEVEN_BITS), seeded("r8", (d, 4, 16), np.int8, *SEVEN_BITS)
        scales, zeros = seeded("s", (d,), low=0.005, high=0.01), np.zeros(d, np.int8)
        operands = [seeded("x", (3, 1, 5)), w, r, seeded("b", (d, 32)), None, seeded("h", (d, 1, 4)),
                    seeded("c", (d, 1, 4)), seeded("p", (d, 12)), scales, zeros, scales, zeros]
        yield case(f"DynamicQuantizeLSTM_{direction}", "DynamicQuantizeLSTM", operands, [1, 2, 3, 7, 8, 9, 10, 11],
                   outputs=3, domain="com.microsoft", direction=direction, hidden_size=4)


def qlinear():
    a, b = seeded("a", (2, 3, 4, 5), np.uint8, 0, 255), seeded("b", (3, 1, 1), np.uint8, 0, 255)
    # No sum lies halfway between two integers, where onnxruntime's order of operations would decide.
    q = [np.float32(0.02137), np.uint8(120)]
    end = [np.float32(0.03391), np.uint8(101)]
    for op in ("QLinearAdd", "QLinearMul"):
        yield case(op, op, [a, *q, b, *end, np.float32(0.04619), np.uint8(99)], [1, 2, 4, 5, 6, 7], domain="com.microsoft")
    yield case("QLinearSigmoid", "QLinearSigmoid", [a, *q, np.float32(1 / 256), np.uint8(0)], [1, 2, 3, 4],
               domain="com.microsoft")
    yield case("QLinearLeakyRelu", "QLinearLeakyRelu", [a, *q, *end], [1, 2, 3, 4], domain="com.microsoft", alpha=0.1)
    yield case("QLinearGlobalAveragePool", "QLinearGlobalAveragePool", [a, *q, *end], [1, 2, 3, 4],
               domain="com.microsoft", channels_last=0)
    yield case("QLinearAveragePool", "QLinearAveragePool", [a, *q, *end], [1, 2, 3, 4], domain="com.microsoft",
               kernel_shape=[3, 2], pads=[1, 0, 0, 1], strides=[2, 1])
    for name, version, chosen in (("12", 12, {"axis": 1}), ("13", 13, {"axis": -1}), ("without_an_axis", 12, {})):
        softmax = helper.make_node("QLinearSoftmax", ["x", "s", "z", "ys", "yz"], ["y"], domain="com.microsoft",
                                   opset=version, **chosen)
        held = {"s": q[0], "z": q[1], "ys": np.float32(1 / 256), "yz": np.uint8(0)}
        yield network(f"QLinearSoftmax_{name}", [softmax], {"x": a},
                      [numpy_helper.from_array(np.asarray(n), k) for k, n in held.items()], ["y"], 13, "com.microsoft")
    rows, columns = seeded("r", (6, 30), np.uint8, 0, 255), seeded("k", (4, 30), np.int8, *SEVEN_BITS)
    scales, added = seeded("s", (4,), low=0.01, high=0.02), seeded("c", (4,), np.int32, -900, 900)
    products = [rows, *q, columns, scales, np.zeros(4, np.int8), added]
    yield case("QGemm", "QGemm", [*products, np.float32(0.4273), np.uint8(101)], [*range(1, 9)], domain="com.microsoft",
               transB=1)
    yield case("QGemm_real", "QGemm", [rows.T, *q, columns.T, *q[:1], np.int8(3), added], [*range(1, 7)],
               domain="com.microsoft", transA=1, alpha=0.5)
    # As onnxruntime saves networks that it optimized: pictures have their channels last in the file.
    yield case("QLinearAveragePool_last", "QLinearAveragePool", [a, *q, *end], [1, 2, 3, 4], domain="com.microsoft",
               kernel_shape=[2, 2], channels_last=1)
    yield case("QLinearGlobalAveragePool_last", "QLinearGlobalAveragePool", [a, *q, *end], [1, 2, 3, 4],
               domain="com.microsoft", channels_last=1)
    yield case("QLinearConv_last", "QLinearConv",
               [a, *q, seeded("f8", (3, a.shape[3], 2, 2), np.int8, *SEVEN_BITS), np.float32(0.02), np.int8(0), *end],
               [1, 2, 3, 4, 5, 6, 7], domain="com.microsoft", channels_last=1, pads=[1, 0, 0, 1])
    for dtype in (np.uint8, np.int8):
        yield case(f"NhwcMaxPool_{np.dtype(dtype)}", "NhwcMaxPool", [seeded("pixels", (2, 5, 6, 3), dtype, 0, 127)],
                   domain="com.microsoft", kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
    yield case("QLinearWhere", "QLinearWhere",
               [seeded("choice", (4, 5), np.int64, 0, 1) > 0, a, *q, seeded("c", (a.shape[1], 1, 1), np.uint8, 0, 255), *end,
                np.float32(0.03), np.uint8(90)], [2, 3, 5, 6, 7, 8], domain="com.microsoft")
    yield case("QLinearConcat", "QLinearConcat", [*end, a, *q, seeded("c", (2, 2, 4, 5), np.uint8, 0, 255), *end],
               [0, 1, 3, 4, 6, 7], domain="com.microsoft", axis=1)


def narrow_weights():
    for bits in (2, 4, 8):
        for zeros in ("none", "packed", "real")[: 2 if bits == 8 else 3]:  # as onnxruntime has them
            for depth, block, rows, lines in ((32, 16, 3, 4), (40, 16, 3, 4), (320, 32, 144, 2)):
                blocks = -(-depth // block)
                packed = seeded(f"w{bits}", (rows, blocks, block * bits // 8), np.uint8, 0, 255)
                operands = [seeded("x", (2, lines, depth)), packed, seeded("s", (rows * blocks,), low=0.01, high=0.1)]
                if zeros == "packed":
                    operands.append(seeded("z", (rows * -(-blocks * bits // 8),), np.uint8, 0, 255))
                elif zeros == "real":
                    operands.append(seeded("z", (rows * blocks,), low=1, high=3))
                yield case(f"MatMulNBits_{bits}_{zeros}_{depth}", "MatMulNBits", operands, list(range(1, len(operands))),
                           domain="com.microsoft", K=depth, N=rows, bits=bits, block_size=block)
    x, packed = seeded("x", (4, 32)), seeded("w", (3, 2, 8), np.uint8, 0, 255)
    yield case("MatMulNBits_bias", "MatMulNBits", [x, packed, seeded("s", (6,)), None, None, seeded("b", (3,))],
               [1, 2, 5], domain="com.microsoft", K=32, N=3, bits=4, block_size=16)


def narrow_integers():
    x = seeded("x", (2, 8))
    for name, kind, low, high in (("int4", TensorProto.INT4, -8, 7), ("uint4", TensorProto.UINT4, 0, 15)):
        stored = helper.make_tensor("w", kind, [8, 5], seeded(name, (40,), np.int32, low, high).tolist())
        held = [stored, numpy_helper.from_array(seeded("s", (2, 5), low=0.01, high=0.1), "s")]
        nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["real"], axis=0, block_size=4),
                 helper.make_node("MatMul", ["x", "real"], ["y"])]
        yield network(f"DequantizeLinear_{name}", nodes, {"x": x}, held, ["y"], 21)
    # A layer's weights in rows, as they are and turned, and what another node reads of them.
    held = [numpy_helper.from_array(array, name) for name, array in
            (("w", seeded("rows", (5, 8), np.int8, -99, 99)), ("s", seeded("s", (5, 2), low=0.01, high=0.1)), ("z", seeded("z", (5, 2), np.int8, -5, 5)))]
    nodes = [helper.make_node("DequantizeLinear", ["w", "s", "z"], ["real"], axis=1, block_size=4),
             helper.make_node("Gemm", ["x", "real"], ["y"], transB=1), helper.make_node("Transpose", ["real"], ["turned"], perm=[1, 0]),
             helper.make_node("MatMul", ["x", "turned"], ["z2"]), helper.make_node("Neg", ["turned"], ["less"])]
    yield network("DequantizeLinear_rows", nodes, {"x": x}, held, ["y", "z2", "less"], 21)
    yield case("DequantizeLinear_blocks", "DequantizeLinear",
               [seeded("q", (6, 3), np.int8, -99, 99), seeded("s", (2, 3), low=0.01, high=0.1),
                seeded("z", (2, 3), np.int8, -5, 5)], [1, 2], opset=21, axis=0, block_size=3)
    yield case("QuantizeLinear_blocks", "QuantizeLinear", [seeded("r", (3, 6)), seeded("s", (3, 3), low=0.01, high=0.1)],
               [1], opset=21, axis=1, block_size=2)


def tables_of_few_bits():
    """Rows that are made real after they are taken."""
    node = helper.make_node
    rows = {"i": np.array([[3, -1, 0], [59, 7, 7]])}
    held = [numpy_helper.from_array(seeded("halves", (60, 9)).astype(np.float16), "w")]
    yield network("Gather_of_halves", [node("Gather", ["w", "i"], ["g"]), node("Cast", ["g"], ["y"], to=TensorProto.FLOAT)], rows, held, ["y"])
    for axis in (0, 1):
        count = (60, 9)[axis]
        held = [numpy_helper.from_array(array, name) for name, array in
                (("w", seeded("q", (60, 9), np.int8, -99, 99)), ("s", seeded("s", (count,), low=0.01, high=0.1)), ("z", seeded("z", (count,), np.int8, -5, 5)))]
        nodes = [node("DequantizeLinear", ["w", "s", "z"], ["real"], axis=axis), node("Gather", ["real", "i"], ["y"])]
        yield network(f"Gather_of_integers_{axis}", nodes, rows, held, ["y"])
    for name, bits, block, columns, zeros in (("of_bytes", 4, 16, 64, None), ("with_half_a_byte_of_zeros", 4, 32, 96, 2),
                                              ("of_8_bits", 8, 16, 70, 5), ("of_2_bits", 2, 16, 64, None)):
        operands = [seeded("t", (20, columns * bits // 8), np.uint8, 0, 255), np.array([[0, 3, -1], [19, 4, 4]]),
                    seeded("s", (20, -(-columns // block)), low=0.01, high=0.1)]
        if zeros is not None:
            operands.append(seeded("z", (20, zeros), np.uint8, 0, 255))
        yield case(f"GatherBlockQuantized_{name}", "GatherBlockQuantized", operands, [0, 2, 3][:len(operands) - 1],
                   domain="com.microsoft", bits=bits, block_size=block)
    for name, rows, blocks, places in (("columns", 2, 1, np.array([[3, -20]])), ("one", 0, 1, np.array(2))):
        held = [helper.make_tensor(key, TensorProto.INT4, shape, seeded(key, shape, np.int32, -8, 7).flatten().tolist())
                for key, shape in (("t", (4, 33, 20)), ("z", (4, 3, 20)))]
        held.append(numpy_helper.from_array(seeded("s", (4, 3, 20), low=0.01, high=0.1), "s"))
        node = helper.make_node("GatherBlockQuantized", ["t", "i", "s", "z"], ["y"], domain="com.microsoft",
                                gather_axis=rows, quantize_axis=blocks, block_size=16)
        yield network(f"GatherBlockQuantized_{name}", [node], {"i": places}, held, ["y"], 21, "com.microsoft")


def layers_of_listed_numbers():
    for name, kind, rows, depth, block in (("fp4", 0, 6, 32, 16), ("nf4", 1, 6, 32, 64), ("across_rows", 1, 5, 24, 32)):
        yield case(f"MatMulBnb4_{name}", "MatMulBnb4",
                   [seeded("x", (2, 3, depth)), seeded("w", (rows * depth // 2,), np.uint8, 0, 255),
                    seeded("s", (-(-rows * depth // block),), low=0.1, high=2)], [1, 2],
                   domain="com.microsoft", K=depth, N=rows, quant_type=kind, block_size=block)


def transformer_layers_of_8_bits():
    """What quantize_dynamic makes of layers that onnxruntime's optimizer has fused."""
    batch, length, size = 2, 5, 8
    x, weights = seeded("x", (batch, length, size), np.uint8, 0, 255), seeded("w", (size, 3 * size), np.int8, *SEVEN_BITS)
    scale, zero = np.array(0.02, np.float32), np.array(117, np.uint8)
    attention = [x, weights, seeded("b", (3 * size,)), scale, np.array(0.011, np.float32)]
    counts = np.array([5, 3], np.int32)
    yield case("QAttention", "QAttention", [*attention, counts, zero, np.array(3, np.int8)], [1, 2, 3, 4, 6, 7],
               domain="com.microsoft", num_heads=2)
    past = seeded("past", (2, batch, 2, 3, size // 2))
    columns = [*attention[:4], seeded("ws", (3 * size,), low=0.005, high=0.02)]
    yield case("QAttention_past", "QAttention", [*columns, None, zero, None, past], [1, 2, 3, 4, 6], 2,
               domain="com.microsoft", num_heads=2, unidirectional=1)
    words, segments = seeded("words", (batch, length), np.int32, 0, 19), seeded("segments", (batch, length), np.int32, 0, 1)
    tables = [seeded(key, shape, np.uint8, 0, 255) for key, shape in
              (("t", (20, size)), ("p", (7, size)), ("k", (2, size)), ("g", (size,)), ("o", (size,)))]
    scales = [np.array(0.01 * (k + 1), np.float32) for k in range(5)]
    zeros = [np.array(100 + 7 * k, np.uint8) for k in range(5)]
    marks = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]], np.int32)
    yield case("QEmbedLayerNormalization", "QEmbedLayerNormalization",
               [words, segments, *tables, marks, *scales, *zeros], [*range(2, 7), *range(8, 18)], 2,
               domain="com.microsoft", epsilon=1e-5)
    one = [words, None, tables[0], tables[1], None, tables[3], tables[4], None, *scales[:2], None, *scales[3:],
           *zeros[:2], None, *zeros[3:]]
    yield case("QEmbedLayerNormalization_without_segments", "QEmbedLayerNormalization", one,
               [k for k, operand in enumerate(one) if k > 0 and operand is not None], 2, domain="com.microsoft")

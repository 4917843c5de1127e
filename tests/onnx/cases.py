"""Models of one operator each with attributes that onnx's own node tests leave out. onnxruntime says what is right."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from attention_cases import attention, transformers
from one_case import case, network, seeded

# Of int8 weights: without VNNI, onnxruntime saturates pairs of products of larger ones and bytes.
SEVEN_BITS = (-63, 63)


def convolutions():
    for pad in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        for stride in (1, 2, 3):
            yield case(f"conv_{pad}_{stride}", "Conv", [seeded("x", (1, 3, 8, 7)), seeded("w", (4, 3, 4, 3))], [1],
                       auto_pad=pad, strides=[stride, stride])
    yield case("conv_asymmetric_pads", "Conv", [seeded("x", (2, 3, 9, 8)), seeded("w", (5, 3, 3, 2)),
                                                 seeded("b", (5,))], [1, 2], pads=[2, 0, 1, 1], dilations=[2, 1])
    yield case("conv_grouped", "Conv", [seeded("x", (1, 6, 7, 7)), seeded("w", (9, 2, 3, 3)), seeded("b", (9,))],
               [1, 2], group=3, pads=[1, 1, 1, 1])
    yield case("conv_depthwise_multiplied", "Conv", [seeded("x", (1, 5, 7, 6)), seeded("w", (10, 1, 3, 3))], [1],
               group=5, strides=[2, 1])
    yield case("conv_1d", "Conv", [seeded("x", (2, 4, 19)), seeded("w", (6, 2, 5)), seeded("b", (6,))], [1, 2],
               group=2, strides=[2], pads=[3, 1], dilations=[2])
    yield case("conv_3d", "Conv", [seeded("x", (1, 2, 5, 6, 7)), seeded("w", (3, 2, 2, 3, 3)), seeded("b", (3,))],
               [1, 2], pads=[1, 0, 1, 0, 1, 1], strides=[1, 2, 1])
    yield case("conv_computed_filter", "Conv", [seeded("x", (1, 3, 6, 6)), seeded("w", (4, 3, 3, 3))])
    for name, more in {
        "plain": {}, "pads": {"pads": [1, 0, 2, 1]}, "output_padding": {"strides": [3, 2], "output_padding": [2, 1]},
        "output_shape": {"strides": [3, 2], "output_shape": [13, 9]}, "dilated": {"dilations": [2, 3]},
        "same_upper": {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        "same_lower": {"auto_pad": "SAME_LOWER", "strides": [2, 2]}, "same_gaps": {"auto_pad": "SAME_UPPER", "strides": [4, 3]},
        "output_shape_and_pads": {"strides": [2, 2], "output_shape": [10, 8], "auto_pad": "SAME_UPPER"},
    }.items():
        yield case(f"conv_transpose_{name}", "ConvTranspose",
                   [seeded("x", (1, 4, 5, 4)), seeded("w", (4, 3, 3, 2)), seeded("b", (3,))], [1, 2], **more)
    yield case("conv_transpose_grouped", "ConvTranspose",
               [seeded("x", (2, 6, 4, 5)), seeded("w", (6, 2, 3, 3)), seeded("b", (6,))], [1, 2], group=3,
               strides=[2, 2])
    yield case("conv_transpose_1d", "ConvTranspose", [seeded("x", (1, 3, 9)), seeded("w", (3, 2, 4))], [1],
               strides=[3], pads=[1, 2])


def pools():
    x = seeded("x", (1, 3, 9, 8))
    for op in ("MaxPool", "AveragePool"):
        for name, more in {
            "plain": {}, "strided": {"strides": [2, 3]}, "ceil": {"strides": [2, 3], "ceil_mode": 1},
            "ceil_padded": {"strides": [3, 2], "ceil_mode": 1, "pads": [1, 1, 0, 1]},
            "asymmetric": {"pads": [1, 0, 0, 2], "strides": [2, 2]},
            "same_lower": {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
            "same_upper": {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        }.items():
            yield case(f"{op}_{name}", op, [x], kernel_shape=[3, 4], **more)
        yield case(f"{op}_1d", op, [seeded("x", (2, 3, 17))], kernel_shape=[4], strides=[3], pads=[2, 1])
        yield case(f"{op}_3d", op, [seeded("x", (1, 2, 6, 7, 8))], kernel_shape=[2, 3, 3], strides=[2, 2, 1],
                   pads=[0, 1, 1, 1, 0, 1])
    yield case("MaxPool_dilated", "MaxPool", [x], kernel_shape=[3, 2], dilations=[2, 3], pads=[1, 0, 1, 1])
    for more in ({}, {"strides": [2, 2]}, {"strides": [3, 2], "ceil_mode": 1}):
        yield case(f"AveragePool_with_padding_{len(more)}", "AveragePool", [x], kernel_shape=[3, 3], pads=[1, 2, 1, 0],
                   count_include_pad=1, **more)
    yield case("GlobalAveragePool_1d", "GlobalAveragePool", [seeded("x", (2, 5, 11))])


def resizes():
    x = seeded("x", (1, 2, 5, 7))
    modes = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners", "half_pixel_symmetric")
    for scale in ((2.0, 3.0), (0.6, 1.7), (1.0, 0.5), (0.2, 2.0)):
        scales = np.array([1, 1, *scale], np.float32)
        for coordinates in modes:
            for kind in ("nearest", "linear", "cubic"):
                roundings = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil") if kind == "nearest" else ("",)
                for nearest in roundings:
                    more = {"nearest_mode": nearest} if nearest else {}
                    yield case(f"resize_{kind}_{coordinates}_{nearest}_{scale[0]}_{scale[1]}", "Resize",
                               [x, None, scales], [2], mode=kind, coordinate_transformation_mode=coordinates, **more)
    for kind in ("nearest", "linear", "cubic"):
        yield case(f"resize_to_sizes_{kind}", "Resize", [x, None, None, np.array([1, 2, 11, 4], np.int64)], [3],
                   mode=kind)
    yield case("resize_cubic_excludes", "Resize", [x, None, np.array([1, 1, 1.5, 0.7], np.float32)], [2], mode="cubic",
               exclude_outside=1, cubic_coeff_a=-0.5)
    yield case("resize_line", "Resize", [seeded("x", (1, 3, 9)), None, np.array([1, 1, 2.5], np.float32)], [2],
               mode="linear")
    yield case("resize_integers", "Resize", [seeded("x", (1, 2, 4, 4), np.uint8, 0, 255), None,
                                             np.array([1, 1, 2, 2], np.float32)], [2], mode="nearest")
    for scale in (0.4, 0.7, 1.5):
        yield case(f"resize_10_{scale}", "Resize", [x, np.array([1, 1, scale, scale], np.float32)], [1], opset=10)
    yield case("upsample", "Upsample", [x, np.array([1, 1, 2, 3], np.float32)], [1], opset=9, mode="linear")


def elements():
    a, b = seeded("a", (2, 3, 4, 5)), seeded("b", (3, 1, 5), low=0.5, high=2)
    for op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Equal", "Less", "GreaterOrEqual"):
        yield case(f"{op}_broadcast", op, [a, b])
        yield case(f"{op}_integers", op, [seeded("i", (3, 4), np.int32, -9, 9), seeded("j", (4,), np.int32, 1, 5)])
    yield case("Div_truncates", "Div", [np.array([-7, 7, -7, 7], np.int64), np.array([2, -2, -2, 2], np.int64)])
    yield case("Mod_integers", "Mod", [np.array([-7, 7, -7, 7], np.int32), np.array([3, -3, -3, 3], np.int32)])
    yield case("Mod_fmod", "Mod", [seeded("a", (20,), low=-9, high=9), seeded("b", (20,), low=1, high=3)], fmod=1)
    yield case("Mod_fmod_integers", "Mod", [np.array([-7, 7, -7, 7], np.int32), np.array([3, -3, -3, 3], np.int32)],
               fmod=1)
    for kind in (np.int8, np.int16, np.int32, np.int64):
        least = np.iinfo(kind).min
        yield case(f"Mod_fmod_of_the_least_{np.dtype(kind)}", "Mod",
                   [np.array([least, least, least + 1, -7, 7, 7, 0], kind), np.array([3, -3, 3, -3, -3, 3, 5], kind)], fmod=1)
    yield case("Pow_mixed", "Pow", [seeded("a", (6,), low=0.1, high=3), np.array([0, 1, 2, 3, -1, 2], np.int32)])
    yield case("Round", "Round", [np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.4], np.float32)])
    for op in ("Erf", "Softplus", "Softsign", "Selu", "Elu", "Celu", "Mish", "HardSwish", "HardSigmoid", "Tan", "Asin",
               "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Atanh", "Sigmoid", "ThresholdedRelu", "Reciprocal", "Sign"):
        more = {"alpha": 0.7} if op in ("Elu", "Celu", "HardSigmoid", "ThresholdedRelu") else {}
        yield case(f"{op}_values", op, [seeded(op, (3, 41), low=-0.99, high=0.99)], **more)
    yield case("Erf_far", "Erf", [seeded("far", (200,), low=-6, high=6)])
    yield case("Erf_infinite", "Erf", [np.array([np.inf, -np.inf, 3e38, -3e38, 0, np.nan], np.float32)])
    # What is small is multiplied, or its logarithm taken, so that the digits it has left are seen.
    small = np.array([1e-8, -1e-8, 1e-6, -1e-5, 1e-3, 0.2, -0.4, 0.7], np.float32)
    for op in ("Asinh", "Sinh", "Atanh"):
        nodes = [helper.make_node(op, ["x"], ["a"]), helper.make_node("Mul", ["a", "large"], ["y"])]
        yield network(f"{op}_small", nodes, {"x": small}, [numpy_helper.from_array(np.float32(1e9), "large")], ["y"])
    below = np.array([-60, -40, -17, -15, -5, 0, 3, 80], np.float32)
    nodes = [helper.make_node("Softplus", ["x"], ["a"]), helper.make_node("Log", ["a"], ["y"])]
    yield network("Softplus_logarithm", nodes, {"x": below}, [], ["y"])
    yield case("Asinh_large", "Asinh", [np.array([2e19, -2e19, 3e38, 1e9, 9e8, 60, 0.5, np.inf], np.float32)])
    yield case("Acosh_large", "Acosh", [np.array([2e19, 3e38, 1e9, 60, 1, -1e30, 0.5, np.inf], np.float32)])
    for op in ("Sinh", "Cosh"):
        yield case(f"{op}_large", op, [np.array([88.8, -88.8, 89.4, 50, -20, 100], np.float32)])
    yield case("Mish_far", "Mish", [np.array([-80, -30, -5, 5, 19, 21, 1e30], np.float32)])
    yield case("Acosh_values", "Acosh", [seeded("acosh", (30,), low=1.01, high=9)])
    yield case("Gelu_values", "Gelu", [seeded("gelu", (3, 41), low=-4, high=4)], opset=20)
    yield case("Gelu_tanh", "Gelu", [seeded("gelu", (3, 41), low=-4, high=4)], opset=20, approximate="tanh")
    yield case("Clip_crossed", "Clip", [a, np.float32(0.5), np.float32(-0.5)], [1, 2])
    yield case("Clip_upper", "Clip", [a, None, np.float32(0.3)], [2])
    yield case("Clip_computed", "Clip", [a, np.float32(-0.3), np.float32(0.3)])
    yield case("Cast_truncates", "Cast", [np.array([-2.7, -0.5, 0.5, 2.7], np.float32)], to=TensorProto.INT32)
    yield case("PRelu_channels", "PRelu", [a, seeded("slope", (3, 1, 1))], [1])
    yield case("Where_broadcast", "Where", [seeded("c", (3, 1, 5), np.bool_), a, b])
    yield case("Xor", "Xor", [seeded("c", (3, 4), np.bool_), seeded("d", (4,), np.bool_)])
    yield case("Sum_three", "Sum", [a, b, seeded("c", (5,))])
    yield case("Mean_three", "Mean", [a, b, seeded("c", (5,))])


def movement():
    x = seeded("x", (3, 4, 5, 6))

    def ints(*numbers):
        return np.array(numbers, np.int64)

    yield case("Slice_backwards", "Slice", [x, ints(-1, 4), ints(-(2**63), 0), ints(1, 2), ints(-2, -3)], [1, 2, 3, 4])
    yield case("Slice_backwards_to_the_largest", "Slice", [x, ints(3, -2), ints(2**31 - 1, 2**63 - 1), ints(1, 3), ints(-1, -2)],
               [1, 2, 3, 4])
    yield case("Slice_to_the_end", "Slice", [x, ints(1, -3), ints(2**63 - 1, 2**31 - 1), ints(-1, 0)], [1, 2, 3])
    yield case("Pad_reflect", "Pad", [x, ints(0, 2, 1, 3, 0, 1, 2, 0)], [1], mode="reflect")
    yield case("Pad_edge", "Pad", [x, ints(1, 2, 0, 3, 0, 1, 2, 0)], [1], mode="edge")
    yield case("Pad_wrap", "Pad", [x, ints(1, 2, 0, 3, 0, 1, 2, 0)], [1], mode="wrap")
    yield case("Pad_wrap_cropped", "Pad", [np.arange(5, dtype=np.float32), ints(-1, 2)], [1], mode="wrap", opset=19)
    yield case("Pad_reflect_cropped", "Pad", [np.arange(5, dtype=np.float32), ints(2, -1)], [1], mode="reflect")
    yield case("Pad_negative", "Pad", [x, ints(0, -1, 2, 0, 1, 0, -2, 3), np.float32(1.5)], [1, 2])
    yield case("Pad_some_axes", "Pad", [x, ints(1, 2, 3, 0), np.float32(-2), ints(-1, 1)], [1, 2, 3])
    yield case("Gather_negative", "Gather", [x, ints(-1, 0, 2, -3)], axis=1)
    yield case("Gather_scalar", "Gather", [x, np.int64(-2)], [1], axis=2)
    yield case("GatherElements", "GatherElements", [x, seeded("i", (3, 2, 5, 6), np.int64, -4, 3)], axis=1)
    yield case("GatherND_negative", "GatherND", [x, np.array([[-1, 2], [0, -4]], np.int64)])
    yield case("Split_uneven", "Split", [x, ints(1, 4, 1)], [1], outputs=3, axis=-1)
    yield case("Split_by_count", "Split", [x], outputs=4, opset=18, axis=-1, num_outputs=4)
    yield case("Expand_both_ways", "Expand", [seeded("x", (3, 1, 5)), ints(2, 1, 4, 1)], [1])
    yield case("Tile", "Tile", [seeded("x", (2, 3)), ints(2, 2)], [1])
    yield case("Reshape_zero", "Reshape", [x, ints(0, -1, 6)], [1])
    yield case("Transpose_default", "Transpose", [x])
    yield case("DepthToSpace_crd", "DepthToSpace", [seeded("x", (1, 12, 2, 3))], blocksize=2, mode="CRD")
    yield case("DepthToSpace_dcr", "DepthToSpace", [seeded("x", (1, 12, 2, 3))], blocksize=2)
    yield case("SpaceToDepth", "SpaceToDepth", [seeded("x", (1, 3, 4, 6))], blocksize=2)
    yield case("ReverseSequence", "ReverseSequence", [seeded("x", (5, 3, 2)), ints(2, 5, 1)], [1])
    yield case("OneHot_wraps", "OneHot", [np.array([0, -1, 2], np.int64), np.int64(4), np.array([-1, 3], np.float32)],
               [1, 2], axis=0)
    yield case("Trilu_lower", "Trilu", [seeded("x", (2, 4, 5)), np.int64(-1)], [1], upper=0)
    yield case("ScatterND_constant", "ScatterND", [seeded("x", (4, 3)), np.array([[2], [0]], np.int64),
                                                   seeded("u", (2, 3))], [1])
    yield case("ScatterElements_constant", "ScatterElements", [seeded("x", (4, 3)), np.array([[2, 0, 3]], np.int64),
                                                               seeded("u", (1, 3))], [1], axis=0)


def reductions():
    rows = np.array([[-np.inf] * 3, [np.inf, 1, 2], [np.inf, -np.inf, 0], [1, np.nan, 2], [300, 299, -np.inf]], np.float32)
    yield case("ReduceLogSumExp_infinite", "ReduceLogSumExp", [rows, np.array([1], np.int64)], [1], opset=18)
    x = seeded("x", (2, 3, 4, 5), low=0.1, high=2)
    for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
               "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"):
        yield case(f"{op}_axes", op, [x, np.array([1, -1], np.int64)], [1], keepdims=0)
        yield case(f"{op}_all", op, [x])
    for last in (0, 1):
        tied = np.array([[1, 3, 3], [2, 2, 1]], np.float32)
        yield case(f"ArgMax_{last}", "ArgMax", [tied], axis=1, select_last_index=last, keepdims=last)
        yield case(f"ArgMin_{last}", "ArgMin", [tied], axis=0, select_last_index=last)
    yield case("TopK_smallest", "TopK", [seeded("x", (3, 7, 2)), np.array([3], np.int64)], [1], outputs=2, axis=1,
               largest=0)
    for axis in (0, 1, -1):
        yield case(f"Softmax_{axis}", "Softmax", [x], axis=axis)
        yield case(f"LogSoftmax_{axis}", "LogSoftmax", [x], axis=axis)
    yield case("Softmax_flattens", "Softmax", [x], opset=11, axis=1)
    yield case("CumSum", "CumSum", [x, np.int64(-2)], [1], exclusive=1, reverse=1)


def normalizations():
    x, c = seeded("x", (2, 6, 4, 5)), lambda name: seeded(name, (6,), low=0.5, high=1.5)
    yield case("BatchNormalization", "BatchNormalization", [x, c("s"), c("b"), c("m"), c("v")], [1, 2, 3, 4],
               epsilon=1e-3)
    yield case("InstanceNormalization", "InstanceNormalization", [x, c("s"), c("b")], [1, 2])
    yield case("LayerNormalization", "LayerNormalization", [x, seeded("s", (5,)), seeded("b", (5,))], [1, 2])
    yield case("LayerNormalization_axes", "LayerNormalization", [x, seeded("s", (4, 5))], [1], axis=2)
    yield case("GroupNormalization", "GroupNormalization", [x, c("s"), c("b")], [1, 2], opset=21, num_groups=3)
    yield case("LpNormalization", "LpNormalization", [x], axis=1, p=1)
    yield case("LRN", "LRN", [x], size=3, alpha=0.2, beta=0.6, bias=1.5)


def products():
    yield case("MatMul_batches", "MatMul", [seeded("a", (2, 3, 4, 5)), seeded("b", (3, 5, 6))])
    yield case("MatMul_vector", "MatMul", [seeded("a", (5,)), seeded("b", (2, 5, 3))])
    yield case("MatMul_by_vector", "MatMul", [seeded("a", (2, 4, 5)), seeded("b", (5,))], [1])
    yield case("MatMul_layer", "MatMul", [seeded("a", (2, 3, 5)), seeded("b", (5, 7))], [1])
    for ta in (0, 1):
        for tb in (0, 1):
            a, b = (5, 3) if ta else (3, 5), (7, 5) if tb else (5, 7)
            yield case(f"Gemm_{ta}{tb}", "Gemm", [seeded("a", a), seeded("b", b), seeded("c", (7,))], [1, 2],
                       transA=ta, transB=tb, alpha=0.5, beta=2.0)
    yield case("Gemm_rows", "Gemm", [seeded("a", (3, 5)), seeded("b", (5, 7)), seeded("c", (3, 1))])


def recurrent():
    def weights(gates, directions, inputs=5, units=4):
        return [seeded("w", (directions, gates * units, inputs)), seeded("r", (directions, gates * units, units)),
                seeded("b", (directions, 2 * gates * units))]

    for direction, d in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
        x, state = seeded("x", (6, 2, 5)), seeded("h", (d, 2, 4))
        yield case(f"LSTM_{direction}", "LSTM", [x, *weights(4, d), None, state, seeded("c", (d, 2, 4)),
                                                 seeded("p", (d, 12))], [1, 2, 3, 7], outputs=3, direction=direction,
                   hidden_size=4)
        for before in (0, 1):
            yield case(f"GRU_{direction}_{before}", "GRU", [x, *weights(3, d), None, state], [1, 2, 3], outputs=2,
                       direction=direction, hidden_size=4, linear_before_reset=before)
        yield case(f"RNN_{direction}", "RNN", [x, *weights(1, d), None, state], [1, 2, 3], outputs=2,
                   direction=direction, hidden_size=4)
        x, state, lengths = seeded("x", (6, 3, 5)), seeded("h", (d, 3, 4)), np.array([4, 6, 0], np.int32)
        for kind, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
            cells = [seeded("c", (d, 3, 4)), seeded("p", (d, 12))] if kind == "LSTM" else []
            for name, held in (("lengths", []), ("constant_lengths", [4])):
                yield case(f"{kind}_{direction}_{name}", kind, [x, *weights(gates, d), lengths, state, *cells],
                           [1, 2, 3, *([7] if cells else []), *held], outputs=3 if cells else 2, direction=direction,
                           hidden_size=4)
        large = x.copy()
        large[4:, 0], large[1:, 2] = np.inf, 1e5  # behind the ends
        yield case(f"LSTM_{direction}_large_behind_ends", "LSTM", [large, *weights(4, d), lengths], [1, 2, 3], outputs=3,
                   direction=direction, hidden_size=4)


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
    yield case("QLinearMatMul", "QLinearMatMul", [a, np.float32(0.01), np.uint8(3), b, np.float32(0.02), np.uint8(120),
                                                  np.float32(0.9), np.uint8(128)], [1, 2, 3, 4, 5, 6, 7])
    yield case("QLinearConv", "QLinearConv",
               [image, np.float32(0.01), np.uint8(7), seeded("f8", (3, 40, 3, 3), np.int8, *SEVEN_BITS),
                np.array([0.01, 0.02, 0.03], np.float32), np.zeros(3, np.int8), np.float32(0.7), np.uint8(128),
                seeded("b", (3,), np.int32, -900, 900)],
               [1, 2, 3, 4, 5, 6, 7, 8], strides=[2, 2], pads=[1, 0, 1, 1])


def quantized_recurrent():
    for direction, d in (("forward", 1), ("bidirectional", 2)):
        w, r = seeded("w8", (d, 5, 16), np.int8, *SEVEN_BITS), seeded("r8", (d, 4, 16), np.int8, *SEVEN_BITS)
        scales, zeros = seeded("s", (d,), low=0.005, high=0.01), np.zeros(d, np.int8)
        operands = [seeded("x", (3, 1, 5)), w, r, seeded("b", (d, 32)), None, seeded("h", (d, 1, 4)),
                    seeded("c", (d, 1, 4)), seeded("p", (d, 12)), scales, zeros, scales, zeros]
        yield case(f"DynamicQuantizeLSTM_{direction}", "DynamicQuantizeLSTM", operands, [1, 2, 3, 7, 8, 9, 10, 11],
                   outputs=3, domain="com.microsoft", direction=direction, hidden_size=4)


def sums():
    for equation, *shapes in (
            ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("bsd,dhk->bshk", (2, 3, 4), (4, 2, 5)), ("ij->ji", (3, 4)),
            ("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)), ("...ij,...jk", (2, 3, 4), (1, 4, 5)), ("i,j", (3,), (4,)),
            ("ij,ij->i", (3, 4), (3, 4)), ("ijk->k", (2, 3, 4)), ("bnc,bcl,bl->nb", (2, 3, 4), (2, 4, 5), (2, 5)),
            ("i,i->", (5,), (5,)), ("B ... d, d e -> B ... e", (2, 3, 2, 4), (4, 3)), ("abc,cd->adb", (2, 3, 4), (4, 5))):
        name = f"Einsum_{equation}".replace(" ", "").replace(">", "")
        yield case(name, "Einsum", [seeded(f"e{k}", shape) for k, shape in enumerate(shapes)], equation=equation)
    yield case("Einsum_layer", "Einsum", [seeded("x", (2, 3, 4)), seeded("w", (5, 4))], [1], equation="bsd,hd->bsh")


def samples():
    x, grid = seeded("x", (2, 3, 5, 7)), seeded("grid", (2, 4, 6, 2), low=-2.6, high=2.6)
    for mode in ("linear", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (0, 1):
                yield case(f"GridSample_{mode}_{padding}_{corners}", "GridSample", [x, grid], opset=20, mode=mode,
                           padding_mode=padding, align_corners=corners)
    bits = seeded("bits", (3, 4), np.int32, -2**31, 2**31 - 1)
    yield case("BitwiseOr", "BitwiseOr", [bits, bits[::-1].copy()])
    yield case("BitwiseNot", "BitwiseNot", [seeded("u8", (3, 4), np.uint8, 0, 255)])
    odd = np.array([[1, -np.inf, np.nan], [np.inf, 0, -2]], np.float32)
    yield case("IsNaN", "IsNaN", [odd])
    for above, below in ((0, 1), (1, 0), (1, 1)):
        yield case(f"IsInf_{above}{below}", "IsInf", [odd], detect_positive=above, detect_negative=below)
    tied = np.array([[[1, 3, 3], [2, 2, 1]]], np.float32)
    yield case("Hardmax", "Hardmax", [tied], axis=1)
    yield case("Hardmax_flat", "Hardmax", [tied], opset=11, axis=1)
    s, b, c = seeded("s", (7,)), seeded("b", (7,)), seeded("c", (7,))
    yield case("SkipLayerNormalization", "SkipLayerNormalization",
               [seeded("x", (2, 3, 7)), seeded("skip", (2, 3, 7)), s, b, c], [2, 3, 4], domain="com.microsoft")
    # A result without a name is not what an absent operand before it reads.
    nodes = [helper.make_node("Clip", ["x", "", "most"], ["low"]),
             helper.make_node("SkipLayerNormalization", ["low", "x", "s", "b"], ["y", "", "", "sum"],
                              domain="com.microsoft")]
    yield network("SkipLayerNormalization_without_names", nodes, {"x": seeded("x", (2, 3, 7))},
                  [numpy_helper.from_array(array, name) for name, array in (("most", np.float32(0.5)), ("s", s), ("b", b))],
                  ["y", "sum"], domain="com.microsoft")


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
    for axis, version in ((1, 12), (-1, 13)):
        softmax = helper.make_node("QLinearSoftmax", ["x", "s", "z", "ys", "yz"], ["y"], domain="com.microsoft",
                                   axis=axis, opset=version)
        held = {"s": q[0], "z": q[1], "ys": np.float32(1 / 256), "yz": np.uint8(0)}
        yield network(f"QLinearSoftmax_{version}", [softmax], {"x": a},
                      [numpy_helper.from_array(np.asarray(n), k) for k, n in held.items()], ["y"], 13, "com.microsoft")
    rows, columns = seeded("r", (6, 30), np.uint8, 0, 255), seeded("k", (4, 30), np.int8, *SEVEN_BITS)
    scales, added = seeded("s", (4,), low=0.01, high=0.02), seeded("c", (4,), np.int32, -900, 900)
    products = [rows, *q, columns, scales, np.zeros(4, np.int8), added]
    yield case("QGemm", "QGemm", [*products, np.float32(0.4273), np.uint8(101)], [*range(1, 9)], domain="com.microsoft",
               transB=1)
    yield case("QGemm_real", "QGemm", [rows.T, *q, columns.T, *q[:1], np.int8(3), added], [*range(1, 7)],
               domain="com.microsoft", transA=1, alpha=0.5)
    yield case("QLinearConcat", "QLinearConcat", [*end, a, *q, seeded("c", (2, 2, 4, 5), np.uint8, 0, 255), *end],
               [0, 1, 3, 4, 6, 7], domain="com.microsoft", axis=1)


def boxes():
    def some(name, batches, classes, count):
        corners = np.sort(seeded(name, (batches, count, 2, 2), low=0, high=4), axis=2).reshape(batches, count, 4)
        return corners, np.round(seeded("s" + name, (batches, classes, count), low=0, high=1), 1)

    corners, scores = some("few", 2, 3, 30)
    numbers = [np.int64(9), np.float32(0.3), np.float32(0.25)]
    yield case("NonMaxSuppression_equal_scores", "NonMaxSuppression", [corners, scores, *numbers], [2, 3, 4])
    yield case("NonMaxSuppression_centers", "NonMaxSuppression", [corners, scores, *numbers], [2, 3, 4],
               center_point_box=1)
    yield case("NonMaxSuppression_all", "NonMaxSuppression", [corners, scores, np.int64(2**62)], [2])
    yield case("NonMaxSuppression_none", "NonMaxSuppression", [corners, scores])
    grid = np.array([[[0, 0, 2, 2], [0, 1, 2, 3], [1, 0, 3, 2], [0, 2, 2, 4]]], np.float32)
    yield case("NonMaxSuppression_at_the_threshold", "NonMaxSuppression",
               [grid, np.ones((1, 1, 4), np.float32), np.int64(4), np.float32(1 / 3)], [2, 3])
    # Boxes looked up by the last column, in a tensor of one batch; what is reduced over them; the first ones.
    held = {"most": numbers[0], "overlap": numbers[1], "score": numbers[2], "two": np.int64(2), "ax": np.array([0], np.int64),
            "ends": np.array([2], np.int64)}
    nodes = [
        helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "score"], ["taken"]),
        helper.make_node("Gather", ["taken", "two"], ["column"], axis=1),
        helper.make_node("Gather", ["boxes", "column"], ["corners"], axis=1),
        helper.make_node("Squeeze", ["corners", "ax"], ["rows"]),
        helper.make_node("ReduceMax", ["column"], ["last"], keepdims=0),
        helper.make_node("ReduceMean", ["rows", "ax"], ["mean"], keepdims=0),
        helper.make_node("Slice", ["rows", "ax", "ends", "ax"], ["first"]),
        helper.make_node("Shape", ["corners"], ["shape"]),
    ]
    yield network("NonMaxSuppression_looked_up", nodes, {"boxes": corners[:1], "scores": scores[:1]},
                  [numpy_helper.from_array(np.asarray(array), name) for name, array in held.items()],
                  ["corners", "last", "mean", "first", "shape"], 18)
    # The head of a detector: rows (batch, corners, class, score) of the boxes that are taken.
    held = {"most": numbers[0], "overlap": numbers[1], "score": numbers[2], "zero": np.int64(0), "two": np.int64(2),
            "last": np.array([-1], np.int64), "ends": np.array([0, 2], np.int64), "halves": np.array([1, 1, 1], np.int64)}
    nodes = [
        helper.make_node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "score"], ["taken"]),
        helper.make_node("Split", ["taken", "halves"], ["batch", "class", "box"], axis=1),
        helper.make_node("Gather", ["taken", "ends"], ["place"], axis=1),
        helper.make_node("GatherND", ["boxes", "place"], ["corners"]),
        helper.make_node("Gather", ["taken", "two"], ["column"], axis=1),
        helper.make_node("Unsqueeze", ["column", "last"], ["again"]),
        helper.make_node("GatherND", ["scores", "taken"], ["values"]),
        helper.make_node("Unsqueeze", ["values", "last"], ["kept"]),
        helper.make_node("Cast", ["batch"], ["batch_f"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["class"], ["class_f"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["again"], ["again_f"], to=TensorProto.FLOAT),
        helper.make_node("Concat", ["batch_f", "corners", "class_f", "kept", "again_f"], ["found"], axis=1),
        helper.make_node("Shape", ["found"], ["shape"]),
    ]
    yield network("NonMaxSuppression_head", nodes, {"boxes": corners, "scores": scores},
                  [numpy_helper.from_array(np.asarray(array), name) for name, array in held.items()],
                  ["found", "shape"])


def lists_of_data():
    """What exported detectors do with rows whose number data make."""
    def numbers(**held):
        return [numpy_helper.from_array(np.asarray(array), name) for name, array in held.items()]

    node = helper.make_node
    held = numbers(half=np.float32(0.5), zero=np.int64(0), one=np.int64(1), list=np.array([0], np.int64),
                   most=np.array([6], np.int64), count=np.int64(6))
    found = [node("Greater", ["scores", "half"], ["is_high"]), node("NonZero", ["is_high"], ["places"]),
             node("Squeeze", ["places", "list"], ["rows"]), node("Gather", ["scores", "rows"], ["high"]),
             node("Gather", ["boxes", "rows"], ["of_high"], axis=0)]
    # The K of torch's _topk_min, in both forms that exporters write.
    least = {"Min": [node("Min", ["size", "most"], ["k"])],
             "ReduceMin": [node("Concat", ["size", "most"], ["both"], axis=0),
                           node("ReduceMin", ["both"], ["k"], keepdims=1)]}
    for count, low in (("few", -1), ("many", 0.3), ("none", -9)):
        given = {"scores": seeded("scores" + count, (20,), low=low, high=0 if low == -9 else 1),
                 "boxes": seeded("boxes" + count, (20, 4), low=0, high=4)}
        for form, least_of in least.items():
            nodes = [*found, node("Shape", ["high"], ["size"]), *least_of,
                     node("TopK", ["high", "k"], ["best", "numbers"], axis=0),
                     node("Gather", ["of_high", "numbers"], ["taken"], axis=0),
                     node("Gather", ["k", "zero"], ["limit"]), node("Range", ["zero", "limit", "one"], ["counted"]),
                     node("Mul", ["counted", "numbers"], ["products"]), node("Size", ["taken"], ["elements"]),
                     node("Add", ["counted", "one"], ["from_one"])]
            yield network(f"TopK_of_rows_{form}_{count}", nodes, given, held,
                          ["best", "numbers", "taken", "counted", "products", "elements", "from_one"])
        # Rows of two lists, one after the other, then without those that overlap.
        nodes = [*found, node("Concat", ["high", "scores", "high"], ["all"], axis=0),
                 node("Concat", ["of_high", "boxes", "of_high"], ["corners"], axis=0),
                 node("Unsqueeze", ["all", "list"], ["in_class"]), node("Unsqueeze", ["in_class", "list"], ["in_batch"]),
                 node("Unsqueeze", ["corners", "list"], ["of_batch"]),
                 node("NonMaxSuppression", ["of_batch", "in_batch", "most", "half"], ["selected"]),
                 node("Gather", ["selected", "ends"], ["column"], axis=1), node("Squeeze", ["column", "last"], ["kept"]),
                 node("Gather", ["all", "kept"], ["values"]), node("NonZero", ["of_high"], ["whole"]),
                 node("ReduceMax", ["corners"], ["largest"], keepdims=0)]
        more = numbers(ends=np.array([2], np.int64), last=np.array([1], np.int64))
        outputs = ["all", "corners", "selected", "values", "whole", *(["largest"] if count != "none" else [])]
        yield network(f"NonMaxSuppression_of_rows_{count}", nodes, given, [*held, *more], outputs, 18)
        # The boxes of each class apart from those of others, as torchvision's batched_nms moves them.
        nodes = [*found, node("Shape", ["high"], ["size"]), node("ConstantOfShape", ["size"], ["zeros"]),
                 node("Add", ["zeros", "half"], ["classes"]), node("Expand", ["half", "size"], ["others"]),
                 node("Concat", ["classes", "others"], ["labels"], axis=0),
                 node("Concat", ["of_high", "of_high"], ["corners"], axis=0),
                 node("Unsqueeze", ["labels", "last"], ["offsets"]), node("Add", ["corners", "offsets"], ["moved"]),
                 node("Concat", ["size", "four"], ["wanted"], axis=0), node("Reshape", ["of_high", "wanted"], ["again"])]
        more = numbers(last=np.array([1], np.int64), four=np.array([4], np.int64))
        yield network(f"sizes_of_rows_{count}", nodes, given, [*held, *more], ["labels", "moved", "again", "others"])
        # A branch without rows for none, as torchvision's batched_nms writes.
        real = [helper.make_tensor_value_info("made", TensorProto.FLOAT, None)]
        branches = {"then_branch": helper.make_graph(
                        [node("ConstantOfShape", ["empty"], ["made"])], "none", [], real,
                        [numpy_helper.from_array(np.array([0, 4], np.int64), "empty")]),
                    "else_branch": helper.make_graph([node("Neg", ["of_high"], ["made"])], "some", [], real)}
        nodes = [*found, node("Size", ["of_high"], ["elements"]), node("Equal", ["elements", "zero"], ["is_empty"]),
                 node("If", ["is_empty"], ["chosen"], **branches), node("ReduceSum", ["chosen"], ["sum"], keepdims=0),
                 node("RoiAlign", ["picture", "of_high", "of_picture"], ["parts"], output_height=2, output_width=3,
                      sampling_ratio=2, mode="avg"),
                 node("Conv", ["parts", "filter"], ["seen"]), node("Relu", ["seen"], ["shown"]),
                 node("Flatten", ["shown"], ["flat"]), node("Gemm", ["flat", "weights"], ["classes"]),
                 node("Softmax", ["classes"], ["shares"], axis=-1)]
        nodes.insert(5, node("Mul", ["rows", "zero"], ["of_picture"]))
        more = numbers(filter=seeded("f", (5, 2, 2, 2)), weights=seeded("w", (10, 3)))
        outputs = ["chosen", "sum", *(["shares"] if count != "none" else [])]
        yield network(f"RoiAlign_of_rows_{count}", nodes, {**given, "picture": seeded("p", (1, 2, 6, 6))},
                      [*held, *more], outputs)


def norms_and_losses():
    x, s, b = seeded("x", (2, 3, 4, 5)), seeded("s", (5,)), seeded("b", (5,))
    yield case("LayerNormalization_outputs", "LayerNormalization", [x, s, b], [1, 2], outputs=3)
    yield case("LayerNormalization_outputs_axes", "LayerNormalization", [x, seeded("s", (4, 5))], [1], outputs=3, axis=2)
    for name, more in {"plain": {}, "padded": {"pads": [1, 0, 1, 2], "strides": [2, 2]},
                       "same": {"auto_pad": "SAME_LOWER", "strides": [2, 1]}, "p3": {"p": 3}, "p1": {"p": 1},
                       "ceil": {"ceil_mode": 1, "strides": [2, 2]}}.items():
        yield case(f"LpPool_{name}", "LpPool", [x], opset=18, kernel_shape=[2, 3], **more)
    yield case("LpPool_1d", "LpPool", [seeded("x", (2, 3, 11))], opset=18, kernel_shape=[3], strides=[2], pads=[1, 1])
    scores, classes = seeded("scores", (4, 3, 2)), seeded("classes", (4, 2), np.int64, 0, 2)
    classes[0, 0], classes[3, 1] = -1, -1
    for op in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
        for reduction in ("none", "sum", "mean"):
            for weights in ([], [seeded("w", (3,), low=0.1, high=1)]):
                yield case(f"{op}_{reduction}_{len(weights)}", op, [scores, classes, *weights], opset=13,
                           reduction=reduction, ignore_index=-1)
    yield case("SoftmaxCrossEntropyLoss_shares", "SoftmaxCrossEntropyLoss",
               [seeded("s", (5, 4)), seeded("c", (5,), np.int32, 0, 3)], opset=13, outputs=2)


def unpooling():
    x = seeded("x", (2, 3, 7, 6))
    for name, more in {"plain": {}, "strided": {"strides": [2, 2]}, "padded": {"strides": [2, 1], "pads": [1, 1, 0, 1]},
                       "by_column": {"strides": [2, 2], "storage_order": 1},
                       "ceil": {"strides": [2, 2], "ceil_mode": 1}}.items():
        yield case(f"MaxPool_places_{name}", "MaxPool", [x], outputs=2, kernel_shape=[2, 3], **more)
    yield case("MaxPool_places_1d", "MaxPool", [seeded("x", (2, 3, 12))], outputs=2, kernel_shape=[3], strides=[2])
    yield case("MaxPool_integers", "MaxPool", [seeded("u", (1, 2, 6, 6), np.uint8, 0, 255)], kernel_shape=[2, 2])
    yield case("MaxPool_places_of_integers", "MaxPool", [seeded("i", (1, 2, 6, 6), np.int8, -128, 127)], outputs=2,
               kernel_shape=[2, 3])
    yield case("MaxPool_3d_dilated", "MaxPool", [seeded("v", (1, 2, 6, 7, 8))], kernel_shape=[2, 2, 2],
               dilations=[2, 1, 3], pads=[1, 0, 1, 0, 1, 1])
    yield case("AveragePool_dilated", "AveragePool", [x], kernel_shape=[2, 2], dilations=[2, 3], pads=[1, 1, 1, 1])
    yield case("AveragePool_dilated_with_padding", "AveragePool", [x], kernel_shape=[2, 2], dilations=[2, 1],
               pads=[1, 1, 1, 1], count_include_pad=1)
    window = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [helper.make_node("MaxPool", ["x"], ["most", "places"], **window),
             helper.make_node("MaxUnpool", ["most", "places"], ["y"], **window)]
    yield network("MaxUnpool_of_MaxPool", nodes, {"x": seeded("x", (2, 3, 6, 8))}, [], ["y"])
    nodes[1] = helper.make_node("MaxUnpool", ["most", "places", "shape"], ["y"], **window)
    yield network("MaxUnpool_to_a_shape", nodes, {"x": x}, [numpy_helper.from_array(np.array(x.shape, np.int64), "shape")],
                  ["y"])
    # Numbers outside of their own windows, some of them the same; windows that overlap, leave gaps or are padded.
    few = seeded("few", (1, 2, 3, 2))
    for name, more, count in (("beside", window, 48), ("overlapping", {"kernel_shape": [3, 3], "strides": [2, 1]}, 56),
                              ("padded", {"kernel_shape": [3, 2], "strides": [3, 3], "pads": [1, 0, 1, 1]}, 56)):
        anywhere = np.random.default_rng(3).integers(0, count, few.shape)
        yield case(f"MaxUnpool_{name}", "MaxUnpool", [few, anywhere], **more)
        yield case(f"MaxUnpool_{name}_constant", "MaxUnpool", [few, anywhere], [1], **more)
    yield case("MaxUnpool_volume", "MaxUnpool", [seeded("few", (1, 1, 2, 2, 2)), np.arange(63, 7, -7).reshape(1, 1, 2, 2, 2)],
               kernel_shape=[2, 2, 2], strides=[2, 2, 2])


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


def regions():
    x = seeded("x", (2, 3, 9, 11))
    corners = np.sort(seeded("roi", (5, 2, 2), low=-3, high=24), axis=1).reshape(5, 4)
    images = seeded("image", (5,), np.int64, 0, 1)
    for mode in ("half_pixel", "output_half_pixel"):
        yield case(f"RoiAlign_{mode}", "RoiAlign", [x, corners, images], output_height=3, output_width=2,
                   sampling_ratio=2, spatial_scale=0.5, coordinate_transformation_mode=mode)
    yield case("RoiAlign_one_image", "RoiAlign", [x[:1], corners, np.zeros(5, np.int64)], opset=10, output_height=2,
               output_width=2, sampling_ratio=3, spatial_scale=0.5)


def places():
    def ints(*numbers):
        return np.array(numbers, np.int64)

    x = np.round(seeded("x", (4, 5), low=-1.4, high=1.4))
    yield case("NonZero", "NonZero", [x])
    yield case("NonZero_constant", "NonZero", [np.array([[1, 0, 2], [0, 0, 3]], np.float32)], [0])
    yield case("NonZero_list", "NonZero", [seeded("c", (9,), np.bool_)])
    for axis in (None, 0, 1):
        more = {} if axis is None else {"axis": axis}
        yield case(f"Compress_{axis}", "Compress", [seeded("x", (4, 6)), np.array([0, 1, 1, 0], np.bool_)], **more)
    yield case("Compress_constant", "Compress", [seeded("x", (2, 3, 4)), np.array([1, 0, 1], np.bool_)], [1], axis=-2)
    yield case("GatherND_batches", "GatherND", [seeded("x", (2, 3, 4, 5)), seeded("i", (2, 3, 6, 1), np.int64, -4, 3)],
               batch_dims=2)
    for inverse, onesided, last, axis in ((0, 0, 1, 1), (0, 0, 2, 1), (0, 1, 1, -2), (1, 0, 2, 1), (0, 0, 2, 0)):
        yield case(f"DFT_{inverse}_{onesided}_{last}_{axis}", "DFT", [seeded("d", (3, 10, last)), None, np.int64(axis)],
                   [2], opset=20, inverse=inverse, onesided=onesided)
    for length in (7, 16):
        yield case(f"DFT_{length}", "DFT", [seeded("d", (2, 10, 1)), np.int64(length)], [1], opset=17, onesided=1)
    for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        nodes = [helper.make_node(op, ["n"], ["window"], periodic=0), helper.make_node("Mul", ["x", "window"], ["y"])]
        yield network(op, nodes, {"x": seeded("x", (2, 12))}, [numpy_helper.from_array(np.int64(12), "n")], ["y"], 17)
    yield case("CenterCropPad", "CenterCropPad", [seeded("x", (5, 8, 3)), ints(8, 3)], [1], opset=18, axes=[0, 1])
    for corners in (0, 1):
        yield case(f"AffineGrid_{corners}", "AffineGrid", [seeded("t", (2, 2, 3)), ints(2, 3, 4, 5)], [1], opset=20,
                   align_corners=corners)
    # What is done with the places of elements: as torch writes x[x > 0], and torch.where.
    held = [numpy_helper.from_array(np.float32(0), "zero"), numpy_helper.from_array(np.int64(1), "one"),
            numpy_helper.from_array(ints(0), "first")]
    nodes = [helper.make_node("Greater", ["x", "zero"], ["mask"]), helper.make_node("NonZero", ["mask"], ["found"]),
             helper.make_node("Transpose", ["found"], ["rows"], perm=[1, 0]),
             helper.make_node("GatherND", ["x", "rows"], ["kept"]),
             helper.make_node("Gather", ["found", "one"], ["columns"], axis=0),
             helper.make_node("Split", ["found"], ["up", "down"], axis=0, num_outputs=2),
             helper.make_node("Squeeze", ["up", "first"], ["lines"]),
             helper.make_node("Gather", ["x", "lines"], ["taken"], axis=0),
             helper.make_node("Cast", ["found"], ["real"], to=TensorProto.FLOAT),
             helper.make_node("ReduceMax", ["columns"], ["last"], keepdims=0),
             helper.make_node("ReduceSum", ["kept"], ["sum"], keepdims=0), helper.make_node("Shape", ["found"], ["shape"])]
    yield network("NonZero_uses", nodes, {"x": seeded("x", (4, 5))}, held,
                  ["kept", "columns", "taken", "real", "last", "sum", "shape", "down"])


def lists():
    listed = np.array([2, 1, 1, 3, 4, 3, -1], np.float32)
    for op_sorted in (0, 1):
        yield case(f"Unique_{op_sorted}", "Unique", [listed], outputs=4, sorted=op_sorted)
        yield case(f"Unique_integers_{op_sorted}", "Unique", [seeded("i", (4, 5), np.int64, -3, 3)], outputs=4,
                   sorted=op_sorted)
    yield case("Unique_of_one", "Unique", [np.array([3], np.float32)], outputs=4)
    for dtype in (np.uint8, np.uint32):
        for direction in ("LEFT", "RIGHT"):
            yield case(f"BitShift_{direction}_{dtype.__name__}", "BitShift",
                       [seeded("b", (9,), dtype, 0, 255), np.array([0, 1, 2, 3, 4, 5, 6, 7, 7], dtype)],
                       direction=direction)
    for direction in ("LEFT", "RIGHT"):
        b = seeded("b", (4,), np.uint8, 1, 255)
        yield case(f"BitShift_beyond_{direction}", "BitShift", [b, np.array([7, 8, 9, 15], np.uint8)], [0], direction=direction)
    yield case("Pow_of_large_integers", "Pow", [seeded("i", (9,), np.int64, -2**25, 2**25), np.float32(2)], [1], opset=15)
    a, b = seeded("a", (2, 3, 4), np.int64, -9, 9), seeded("b", (2, 4, 5), np.int64, -9, 9)
    yield case("Einsum_integers", "Einsum", [a, b], equation="bij,bjk->bik")
    yield case("MatMul_integers", "MatMul", [a[0].astype(np.int32), b.astype(np.int32)])
    for equation in ("ii->i", "...ii->...i", "iji->j"):
        x = seeded("x", (4, 3, 4) if equation == "iji->j" else (4, 4))
        yield case(f"Einsum_diagonal_{equation}".replace(">", ""), "Einsum", [x], equation=equation)
    x, w = seeded("x", (1, 3, 6, 7)), seeded("w", (4, 3, 3, 3))
    for name, numbers in (("Relu", []), ("Tanh", []), ("Sigmoid", []), ("LeakyRelu", [0.3]), ("Clip", [-0.5, 1.25]),
                          ("HardSigmoid", [0.25, 0.4]), ("HardSwish", [])):
        more = {"activation_params": numbers} if numbers else {}
        yield case(f"FusedConv_{name}", "FusedConv", [x, w, seeded("b", (4,))], [1, 2], domain="com.microsoft",
                   pads=[1, 1, 1, 1], activation=name, **more)
        if name not in ("Clip", "HardSwish"):  # no activations of FusedGemm
            more = dict(zip(("activation_alpha", "activation_beta"), numbers))
            yield case(f"FusedGemm_{name}", "FusedGemm", [seeded("a", (3, 5)), seeded("m", (4, 5)), seeded("b", (4,))],
                       [1, 2], domain="com.microsoft", transB=1, activation=name, **more)
    yield case("FusedConv_sum", "FusedConv", [x, w, seeded("b", (4,)), seeded("z", (1, 4, 4, 5))], [1, 2],
               domain="com.microsoft", activation="Relu")
    yield case("FusedMatMul", "FusedMatMul", [seeded("a", (2, 6, 4)), seeded("b", (2, 5, 6))],
               domain="com.microsoft", transA=1, transB=1, alpha=0.5)
    yield case("ReduceMax_bool", "ReduceMax", [seeded("b", (3, 4), np.bool_), np.array([1], np.int64)], [1], opset=20)
    yield case("ReduceL1_of_none", "ReduceL1", [seeded("x", (3, 4))], opset=18, noop_with_empty_axes=1)
    yield case("GlobalLpPool", "GlobalLpPool", [seeded("x", (2, 3, 4, 5))], p=3)


def regions_of_pictures():
    x = seeded("x", (1, 2, 9, 8))

    def sized(name, sizes, opset=18, region=None, **more):
        constants = [3] if region is None else [1, 3]
        return case(f"resize_{name}", "Resize", [x, region, None, np.array(sizes, np.int64)], constants, opset=opset, **more)

    for mode in ("linear", "cubic"):
        for excludes in (0, 1):
            yield case(f"resize_antialias_{mode}_{excludes}", "Resize", [x, None, np.array([1, 1, 0.5, 0.3], np.float32)],
                       [2], opset=18, mode=mode, antialias=1, exclude_outside=excludes)
        yield sized(f"antialias_{mode}_up", [1, 2, 4, 13], mode=mode, antialias=1)
    for policy in ("not_larger", "not_smaller"):
        yield sized(policy, [5, 9], mode="linear", keep_aspect_ratio_policy=policy, axes=[2, 3])
    for mode in ("nearest", "linear"):
        yield sized(f"crop_{mode}", [1, 2, 4, 6], 13, np.array([0, 0, 0.2, 0.3, 1, 1, 0.9, 1.4], np.float32), mode=mode,
                    coordinate_transformation_mode="tf_crop_and_resize", extrapolation_value=3.5)


def narrow_integers():
    x = seeded("x", (2, 8))
    for name, kind, low, high in (("int4", TensorProto.INT4, -8, 7), ("uint4", TensorProto.UINT4, 0, 15)):
        stored = helper.make_tensor("w", kind, [8, 5], seeded(name, (40,), np.int32, low, high).tolist())
        held = [stored, numpy_helper.from_array(seeded("s", (2, 5), low=0.01, high=0.1), "s")]
        nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["real"], axis=0, block_size=4),
                 helper.make_node("MatMul", ["x", "real"], ["y"])]
        yield network(f"DequantizeLinear_{name}", nodes, {"x": x}, held, ["y"], 21)
    yield case("DequantizeLinear_blocks", "DequantizeLinear",
               [seeded("q", (6, 3), np.int8, -99, 99), seeded("s", (2, 3), low=0.01, high=0.1),
                seeded("z", (2, 3), np.int8, -5, 5)], [1, 2], opset=21, axis=0, block_size=3)
    yield case("QuantizeLinear_blocks", "QuantizeLinear", [seeded("r", (3, 6)), seeded("s", (3, 3), low=0.01, high=0.1)],
               [1], opset=21, axis=1, block_size=2)


def all_cases():
    for family in (lists, regions_of_pictures, narrow_integers, norms_and_losses, unpooling, attention, transformers, narrow_weights, regions, places,
                   convolutions, pools, resizes, elements, movement, reductions, normalizations, products, recurrent,
                   quantized, quantized_recurrent, sums, samples, qlinear, boxes,
                   lists_of_data):
        yield from family()

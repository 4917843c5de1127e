"""Models of one operator each with attributes that onnx's own node tests leave out. onnxruntime says what is right."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from attention_cases import attention, transformers
from classic_cases import classic
from detector_cases import (boxes, ends_of_lists, first_rows_of_all, lists_of_data, regions, regions_of_pictures,
                            rows_around_lists, rows_filled_up, rows_in_layers, shares_of_rows, sums_of_edges)
from one_case import case, network, seeded
from quantized_cases import (counted_layers, layers_of_listed_numbers, narrow_integers, narrow_weights, qlinear,
                             quantized, quantized_recurrent, rounded_layers, tables_of_few_bits,
                             transformer_layers_of_8_bits)
from sequence_cases import sequence_cases


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
    volume = seeded("x", (2, 6, 5, 6, 7))
    yield case("conv_3d_depthwise", "Conv", [volume, seeded("w", (12, 1, 3, 3, 2)), seeded("b", (12,))], [1, 2], group=6,
               strides=[1, 2, 1], pads=[1, 1, 0, 1, 0, 1], dilations=[2, 1, 1])
    yield case("conv_3d_grouped", "Conv", [volume, seeded("w", (4, 3, 2, 3, 3))], [1], group=2, auto_pad="SAME_LOWER")
    yield case("conv_transpose_3d", "ConvTranspose", [volume, seeded("w", (6, 4, 2, 3, 3)), seeded("b", (4,))], [1, 2],
               strides=[2, 3, 1], pads=[0, 1, 2, 1, 0, 1], output_padding=[1, 2, 0], dilations=[1, 1, 2])
    yield case("conv_transpose_3d_grouped", "ConvTranspose", [volume, seeded("w", (6, 2, 2, 2, 2))], [1],
               strides=[2, 2, 2], group=3)
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
        yield case(f"conv_transpose_{name}_of_channels", "ConvTranspose",
                   [seeded("x", (2, 4, 5, 4)), seeded("w", (4, 2, 3, 2)), seeded("b", (8,))], [1, 2], group=4, **more)
    yield case("conv_transpose_grouped", "ConvTranspose",
               [seeded("x", (2, 6, 4, 5)), seeded("w", (6, 2, 3, 3)), seeded("b", (6,))], [1, 2], group=3,
               strides=[2, 2])
    yield case("conv_transpose_1d", "ConvTranspose", [seeded("x", (1, 3, 9)), seeded("w", (3, 2, 4))], [1],
               strides=[3], pads=[1, 2])
    yield case("conv_transpose_1d_of_channels", "ConvTranspose", [seeded("x", (1, 3, 9)), seeded("w", (3, 1, 4))], [1],
               group=3, strides=[3], pads=[4, 5])
    yield case("conv_transpose_of_channels_computed", "ConvTranspose",
               [seeded("x", (1, 3, 5, 5)), seeded("w", (3, 1, 4, 4))], group=3, strides=[2, 2], pads=[1, 1, 1, 1])
    # Of four dimensions, two of which have windows of one element, as jax2onnx writes the sums of pools.
    yield case("Conv_of_four_dimensions", "Conv", [seeded("x", (2, 3, 2, 7, 6, 4)), seeded("w", (5, 3, 1, 3, 2, 1)), seeded("b", (5,))], [1, 2],
               strides=[1, 2, 1, 1], pads=[0, 1, 0, 0, 0, 0, 1, 0])
    yield case("Conv_of_single_elements", "Conv", [seeded("x", (1, 2, 2, 3, 2, 2)), seeded("w", (4, 2, 1, 1, 1, 1))], [1])


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
        yield case(f"{op}_ceil_of_one", op, [seeded("x", (1, 3, 1, 5))], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
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
    for scale in (2.0, 0.6):
        yield case(f"resize_tf_half_pixel_{scale}", "Resize",
                   [x, np.zeros(0, np.float32), np.array([1, 1, scale, scale], np.float32)], [1, 2], opset=11,
                   mode="nearest", nearest_mode="floor", coordinate_transformation_mode="tf_half_pixel_for_nn")
    yield case("resize_cubic_excludes", "Resize", [x, None, np.array([1, 1, 1.5, 0.7], np.float32)], [2], mode="cubic",
               exclude_outside=1, cubic_coeff_a=-0.5)
    yield case("resize_line", "Resize", [seeded("x", (1, 3, 9)), None, np.array([1, 1, 2.5], np.float32)], [2],
               mode="linear")
    yield case("resize_integers", "Resize", [seeded("x", (1, 2, 4, 4), np.uint8, 0, 255), None,
                                             np.array([1, 1, 2, 2], np.float32)], [2], mode="nearest")
    for scale in (0.4, 0.7, 1.5):
        yield case(f"resize_10_{scale}", "Resize", [x, np.array([1, 1, scale, scale], np.float32)], [1], opset=10)
    # Ratios of sizes in float32, as exporters write them.
    for size, made in ((12, 10), (11, 7), (9, 31), (53, 59), (59, 47)):
        for kind in ("nearest", "linear"):
            yield case(f"resize_{size}_to_{made}_{kind}", "Resize", [seeded("x", (1, 2, size, 3)), None, np.array([1, 1, made / size, 1], np.float32)],
                       [2], mode=kind)
    yield case("upsample_7_to_23", "Upsample", [seeded("x", (1, 2, 7, 3)), np.array([1, 1, 23 / 7, 1], np.float32)], [1], opset=9)
    yield case("upsample", "Upsample", [x, np.array([1, 1, 2, 3], np.float32)], [1], opset=9, mode="linear")


def elements():
    a, b = seeded("a", (2, 3, 4, 5)), seeded("b", (3, 1, 5), low=0.5, high=2)
    for op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Equal", "Less", "GreaterOrEqual"):
        yield case(f"{op}_broadcast", op, [a, b])
        yield case(f"{op}_integers", op, [seeded("i", (3, 4), np.int32, -9, 9), seeded("j", (4,), np.int32, 1, 5)])
    for kind in (np.int8, np.int32, np.int64, np.uint8):
        whole = np.array([0, 1, 2, 3, 100, 7], kind) if kind is np.uint8 else np.array([-3, -2, -1, 0, 1, 2, 3, 100], kind)
        for lambd, bias in ((0.5, 0.0), (1.5, 1.0), (1.5, 0.75)):
            yield case(f"Shrink_{np.dtype(kind)}_{lambd}_{bias}", "Shrink", [whole], opset=9, lambd=lambd, bias=bias)
    for kind in (np.int8, np.int32):
        yield case(f"Relu_{np.dtype(kind)}", "Relu", [np.array([-128, -1, 0, 1, 127], kind)], opset=14)
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
    roots = np.array([169, 40, -39, 6859, 46339, 16777217], np.int32)
    for power in (0.5, 1.0, 1 / 3):
        for held in ([], [1]):
            yield case(f"Pow_integers_{power:.1f}_{len(held)}", "Pow", [np.abs(roots), np.float32(power)], held)
    yield case("Pow_integers_by_each", "Pow", [roots[:4], np.array([1, 2, 3, 1], np.float32)])
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
    for axis in range(3):  # fewer indices than elements along the other dimensions
        few = seeded("few", [7 if d == axis else size for d, size in enumerate((2, 3, 1))], np.int64, -3, 2)
        data, updates = seeded("data", (3, 4, 3)), seeded("u", few.shape)
        for held in ([], [1]):
            yield case(f"GatherElements_few_{axis}{len(held)}", "GatherElements", [data, few], held, axis=axis)
            yield case(f"ScatterElements_few_{axis}{len(held)}", "ScatterElements", [data, few, updates], held,
                       axis=axis, reduction="add", opset=18)
    yield case("ScatterElements_max_of_bytes", "ScatterElements",
               [seeded("bytes", (3, 4), np.int8, -9, 9), np.array([[1, 0], [3, 2]], np.int64),
                seeded("u", (2, 2), np.int8, -9, 9)], [1], axis=1, reduction="max", opset=18)
    for lead in range(4):  # an update that lies at any address of the file
        yield case(f"ScatterElements_longest_{lead}", "ScatterElements",
                   [np.zeros(2, np.int64), np.zeros(1, np.int64), np.array([2**53 + 1], np.int64)], [2], axis=0,
                   **({"opset": 18} if lead % 2 else {}), **({"reduction": "none"} if lead > 1 else {}))
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
    # Whole slices, as index_add of graph networks writes them, and more updates than elements.
    for held in ([], [1]):
        edges = np.repeat(seeded("edges", (1, 90, 1), np.int64, -3, 2), 2, axis=0).repeat(5, axis=2)
        for kind in ("add", "max", "none"):
            yield case(f"ScatterElements_of_slices_{kind}_{len(held)}", "ScatterElements",
                       [seeded("x", (2, 3, 5)), edges, seeded("u", (2, 90, 5))], held, axis=1, reduction=kind, opset=18)
    far = seeded("far", (300, 1), np.int64, -40, 39)
    for kind in ("add", "mul", "max", "min", "none"):
        for dtype in (np.float32, np.int64):
            x, u = (seeded(name, shape, dtype, -3, 3) for name, shape in (("x", (40, 6)), ("u", (300, 6))))
            yield case(f"ScatterND_many_{kind}_{np.dtype(dtype)}", "ScatterND", [x, far, u], reduction=kind, opset=18)
    stamps = np.array([1700000000000000001, 1700000000000000003, 2**62], np.int64)
    for held in ([1], [1, 2], [0, 2], []):
        for kind in ("max", "min", "add", "mul", "none"):
            yield case(f"ScatterElements_long_{kind}_{len(held)}{0 in held}", "ScatterElements",
                       [stamps, np.array([2, 1, 2, 2], np.int64), np.array([5, 2**53 + 1, 2**61 + 1, -3], np.int64)], held,
                       reduction=kind, opset=18)
    yield case("ReduceMax_long_constant", "ReduceMax", [np.array([2**53 + 1, 1], np.int64)], [0], opset=13, keepdims=0)
    for name, op, a, b in (("Sub", "Sub", 2**63 - 1, 5), ("Add", "Add", -2**63, 8), ("Mul", "Mul", 2**63 - 1, -1)):
        yield case(f"{name}_longest_constant", op, [np.array([a], np.int64), np.array([b], np.int64)], [0, 1])
    for shape in ((1, 1, 4, 4), (1, 2, 3, 4, 2)):
        points = np.random.default_rng(5).uniform(-1.2, 1.2, (1, *(2,) * (len(shape) - 2), len(shape) - 2))
        yield case(f"GridSample_float64_{len(shape)}", "GridSample", [seeded("x", shape).astype(np.float64), points], opset=20)
    yield case("TensorScatter_far_start", "TensorScatter",
               [seeded("x", (2, 5, 3)), seeded("u", (2, 2, 3)), np.array([2**32 + 1, 4], np.int64)], opset=24, axis=1,
               mode="circular")
    infinite = np.where(np.arange(24).reshape(8, 3) == 4, np.inf, 1).astype(np.float32)
    yield case("ScatterND_infinity_stays", "ScatterND",
               [seeded("x", (5, 3)), seeded("i", (8, 1), np.int64, 0, 3), infinite], reduction="add", opset=18)
    for name, image, block, more in (("apart", (4, 6), (2, 3), {"strides": [2, 3]}),
                                     ("over", (6, 5), (3, 2), {"strides": [2, 1], "pads": [1, 0, 2, 1]}),
                                     ("dilated", (7, 6), (2, 3), {"dilations": [3, 2]}), ("line", (9,), (4,), {})):
        n = len(image)
        pads, strides, gaps = more.get("pads", [0] * 2 * n), more.get("strides", [1] * n), more.get("dilations", [1] * n)
        windows = np.prod([(image[d] + pads[d] + pads[n + d] - gaps[d] * (block[d] - 1) - 1) // strides[d] + 1
                           for d in range(n)])
        yield case(f"Col2Im_{name}", "Col2Im", [seeded("x", (2, 3 * np.prod(block), windows)), np.array(image, np.int64),
                                                np.array(block, np.int64)], [1, 2], opset=18, **more)


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
    for outputs, opset in ((5, 9), (5, 13), (3, 15)):  # as PyTorch standardizes weights
        training = {"training_mode": 1} if opset > 13 else {}
        yield case(f"BatchNormalization_training_{opset}", "BatchNormalization",
                   [x, c("s"), c("b"), c("m"), c("v")], [1, 2, 3, 4], outputs=outputs, opset=opset, momentum=0.7,
                   **training)
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
    for a, b in ([(2, 3, 1, 2, 2, 4), (4, 5)], [(2, 3, 1, 2, 2, 4), (4,)], [(2, 2, 4), (2, 3, 1, 2, 4, 5)],
                 [(2, 1, 3, 2, 2, 4), (2, 5, 1, 1, 4, 3)]):
        yield case(f"MatMul_of_ranks_{len(a)}_{len(b)}", "MatMul", [seeded("a", a), seeded("b", b)])
    yield case("MatMul_layer", "MatMul", [seeded("a", (2, 3, 5)), seeded("b", (5, 7))], [1])
    yield case("MatMul_by_no_matrices", "MatMul", [seeded("a", (2, 4)), seeded("b", (0, 4, 3))], [0, 1])
    for ta in (0, 1):
        for tb in (0, 1):
            a, b = (5, 3) if ta else (3, 5), (7, 5) if tb else (5, 7)
            yield case(f"Gemm_{ta}{tb}", "Gemm", [seeded("a", a), seeded("b", b), seeded("c", (7,))], [1, 2],
                       transA=ta, transB=tb, alpha=0.5, beta=2.0)
    yield case("Gemm_of_nothing", "Gemm", [seeded("a", (3, 0)), seeded("b", (0, 2)), seeded("c", (2,))], [1, 2], beta=2.0)
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
        x, state = x[:, :2], state[:, :2]
        cells = [seeded("c", (d, 2, 4)), seeded("p", (d, 12))]
        # As Keras' layers with relu and hard_sigmoid are converted; parameters stand in the order of functions.
        for name, given, functions, settings in (
                ("relu", None, ["Sigmoid", "Relu", "Relu"], {}),
                ("hard_sigmoid", None, ["HardSigmoid", "Softsign", "Elu"], {}),
                ("parameters", None, ["HardSigmoid", "LeakyRelu", "ScaledTanh"],
                 {"activation_alpha": [0.25, 0.1, 1.5] * d, "activation_beta": [0.4, 0.7] * d}),
                ("ended_relu", np.array([4, 0], np.int32), ["Sigmoid", "Relu", "ThresholdedRelu"], {}),
                ("clip", None, ["Sigmoid", "Tanh", "Tanh"], {"clip": 0.4}),
                ("tied", None, ["Sigmoid", "Tanh", "Tanh"], {"input_forget": 1})):
            yield case(f"LSTM_{direction}_{name}", "LSTM", [x, *weights(4, d), given, state, *cells], [1, 2, 3, 7],
                       outputs=3, direction=direction, hidden_size=4, activations=functions * d, **settings)
            if name == "tied":
                continue
            yield case(f"GRU_{direction}_{name}", "GRU", [x, *weights(3, d), given, state], [1, 2, 3], outputs=2,
                       direction=direction, hidden_size=4, activations=functions[:2] * d, **settings)
            yield case(f"RNN_{direction}_{name}", "RNN", [x, *weights(1, d), given, state], [1, 2, 3], outputs=2,
                       direction=direction, hidden_size=4, activations=functions[1:2] * d, **settings)
        large = seeded("x", (6, 3, 5)).copy()
        large[4:, 0], large[1:, 2] = np.inf, 1e5  # behind the ends
        yield case(f"LSTM_{direction}_large_behind_ends", "LSTM", [large, *weights(4, d), lengths], [1, 2, 3], outputs=3,
                   direction=direction, hidden_size=4)


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
    # Where a window begins is data, how long it is is not.
    held = [numpy_helper.from_array(np.asarray(array, np.int64), name) for name, array in
            dict(two=[2], one=[1], second=[1], rest=[0], last=[5]).items()]
    window = [helper.make_node("Add", ["s", "two"], ["behind"]), helper.make_node("Concat", ["rest", "s"], ["starts"], axis=0),
              helper.make_node("Concat", ["last", "behind"], ["ends"], axis=0), helper.make_node("Slice", ["x", "s", "behind", "second"], ["columns"]),
              helper.make_node("Slice", ["x", "starts", "ends"], ["part"]), helper.make_node("Slice", ["x", "s", "behind"], ["rows"])]
    for start in (0, 3, 4, -6, -3):
        yield network(f"Slice_from_{start}", window, {"x": seeded("x", (6, 8)), "s": np.array([start], np.int64)}, held, ["columns", "part", "rows"])
    best = [helper.make_node("ReduceMax", ["x", "second"], ["best"], keepdims=0), helper.make_node("ArgMax", ["best"], ["at"], keepdims=1),
            helper.make_node("Add", ["at", "one"], ["behind"]), helper.make_node("Slice", ["x", "at", "behind"], ["row"])]
    yield network("Slice_from_the_best", best, {"x": seeded("x", (6, 8))}, held, ["row"], 18)
    yield case("Compress_by_a_mask", "Compress", [seeded("x", (4, 6)), seeded("mask", (4, 6), np.bool_)])
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
    for groups in (2, 6):
        yield case(f"GroupNormalization_{groups}_of_6", "GroupNormalization",
                   [seeded("x", (2, 6, 5, 4)), seeded("s", (6,)), seeded("b", (6,))], [1, 2], opset=21, num_groups=groups)
    for size in range(1, 6):
        yield case(f"Det_{size}", "Det", [seeded("square", (2, 3, size, size))])
    for turned in (0, 1):
        rows, columns = (3, 5, 2, 4), (6, 5, 2, 4) if turned else (4, 5, 2, 6)
        for held in ([], [1]):
            yield case(f"FusedMatMul_batch_{turned}{len(held)}", "FusedMatMul", [seeded("a", rows), seeded("b", columns)],
                       held, domain="com.microsoft", transB=turned, transBatchA=1, transBatchB=1)
    yield case("FusedMatMul", "FusedMatMul", [seeded("a", (2, 6, 4)), seeded("b", (2, 5, 6))],
               domain="com.microsoft", transA=1, transB=1, alpha=0.5)
    yield case("ReduceMax_bool", "ReduceMax", [seeded("b", (3, 4), np.bool_), np.array([1], np.int64)], [1], opset=20)
    yield case("ReduceL1_of_none", "ReduceL1", [seeded("x", (3, 4))], opset=18, noop_with_empty_axes=1)
    yield case("GlobalLpPool", "GlobalLpPool", [seeded("x", (2, 3, 4, 5))], p=3)


def all_cases():
    for family in (convolutions, pools, unpooling, resizes, elements, movement, places, lists, reductions, normalizations,
                   norms_and_losses, products, sums, recurrent, samples, quantized, quantized_recurrent, qlinear,
                   counted_layers, rounded_layers, narrow_weights, narrow_integers, tables_of_few_bits,
                   layers_of_listed_numbers, transformer_layers_of_8_bits, boxes, regions, regions_of_pictures,
                   lists_of_data, rows_in_layers, rows_around_lists, rows_filled_up, sums_of_edges, shares_of_rows,
                   first_rows_of_all, ends_of_lists, attention, transformers, classic,
                   sequence_cases):
        yield from family()

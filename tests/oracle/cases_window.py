"""Convolutions, depthwise and transposed ones among them."""

import numpy as np
import tensorflow as tf

import flatbuffer_net as fb

ALL = ("float", "float16", "int8", "int16")


def random_array(shape, seed=1, low=-1.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def window_size(size, kernel, stride, dilation, padding):
    reach = (kernel - 1) * dilation + 1
    return -(-size // stride) if padding == "SAME" else -(-(size - reach + 1) // stride)


def add_conv(models):
    def conv(name, shape, filter_shape, modes=("float",), activation=None, bias=True, shows="", **how):
        how = {"strides": 1, "padding": "SAME"} | how
        weights = tf.constant(random_array(filter_shape))
        offsets = tf.constant(random_array(filter_shape[-1:], 2))

        def function(x):
            y = tf.nn.conv2d(x, weights, **how)
            y = tf.nn.bias_add(y, offsets) if bias else y
            return activation(y) if activation else y

        models.converted("CONV_2D", f"conv_2d_{name}", function, [shape], [(-1, 1)], modes, shows)

    conv("3x3_same", (1, 7, 6, 3), (3, 3, 3, 8), ALL + ("int8_tensor",))
    conv("3x3_valid_stride2", (1, 9, 8, 5), (3, 3, 5, 3), ALL, strides=2, padding="VALID")
    conv("same_stride2_even", (1, 8, 6, 4), (3, 3, 4, 5), ("float", "int8"), strides=2, shows="uneven padding")
    conv("1x1", (2, 4, 5, 8), (1, 1, 8, 5), ALL, shows="batch 2")
    conv("5x3_stride_3x2", (1, 11, 9, 3), (5, 3, 3, 4), ("float", "int8"), strides=(3, 2))
    conv("dilated", (1, 9, 9, 3), (3, 3, 3, 5), ("float", "int8"), dilations=2)
    conv("dilated_valid", (1, 11, 9, 3), (3, 2, 3, 4), ("float",), dilations=(3, 2), padding="VALID")
    conv("relu6", (1, 5, 5, 3), (3, 3, 3, 8), ALL, activation=tf.nn.relu6)
    conv("relu", (1, 5, 5, 8), (2, 2, 8, 3), ("float", "int8"), activation=tf.nn.relu)
    conv(
        "relu_n1_to_1",
        (1, 5, 5, 8),
        (2, 2, 8, 3),
        ("float",),
        activation=lambda x: tf.maximum(tf.minimum(x, 1.0), -1.0),
    )
    conv("tanh", (1, 5, 5, 8), (2, 2, 8, 3), ("float",), activation=tf.tanh)
    conv("no_bias", (1, 5, 5, 8), (3, 3, 8, 8), ("float",), bias=False)
    conv("groups2", (1, 6, 5, 8), (3, 3, 4, 6), ("float", "int8"), shows="2 groups of 4 channels")
    conv("groups4", (1, 6, 5, 12), (3, 3, 3, 8), ("float",), strides=2, shows="4 groups of 3 channels")
    conv("large_kernel", (1, 5, 5, 3), (7, 7, 3, 4), ("float",), shows="kernel larger than the image")
    conv("hybrid", (1, 5, 5, 8), (3, 3, 8, 16), ("hybrid", "hybrid_tensor"), shows="8-bit weights, float activations")
    add_built_conv(models)


def built_conv(
    models,
    name,
    dtype,
    weight_dtype,
    x_quant,
    w_quant,
    y_quant,
    version,
    groups=1,
    bias_dtype=fb.INT32,
    padding="SAME",
    op="CONV_2D",
    channels=8,
    outputs=5,
):
    """A quantized convolution whose types the converter does not write. Depthwise: `outputs` is the multiplier."""
    net = fb.Net()
    shape, random = (1, 6, 5, channels), np.random.default_rng(11)
    depthwise = op == "DEPTHWISE_CONV_2D"
    filter_shape = (1, 3, 3, channels * outputs) if depthwise else (outputs, 3, 3, channels // groups)
    out_channels = filter_shape[3] if depthwise else outputs
    x = net.input(shape, dtype, x_quant)
    low, high = {fb.INT4: (-7, 8), fb.UINT8: (0, 256)}.get(weight_dtype, (-127, 128))
    w = net.const(random.integers(low, high, filter_shape), weight_dtype, w_quant)
    y = net.tensor(
        (1, window_size(6, 3, 1, 1, padding), window_size(5, 3, 1, 1, padding), out_channels), dtype, y_quant
    )
    if bias_dtype == fb.FLOAT32:
        b = net.const(random_array((out_channels,), 4))
    else:
        scales = np.atleast_1d(x_quant[0]) * np.atleast_1d(w_quant[0])
        b = net.const(random.integers(-50, 50, (out_channels,)), bias_dtype, (scales, [0] * len(scales)))
    padding = getattr(fb.schema.Padding, padding)
    if depthwise:
        net.op(
            op,
            [x, w, b],
            [y],
            version,
            "DepthwiseConv2D",
            padding=padding,
            strideH=1,
            strideW=1,
            depthMultiplier=outputs,
            dilationHFactor=1,
            dilationWFactor=1,
        )
    else:
        net.op(
            op,
            [x, w, b],
            [y],
            version,
            "Conv2D",
            padding=padding,
            strideH=1,
            strideW=1,
            dilationHFactor=1,
            dilationWFactor=1,
            quantizedBiasType=bias_dtype if version == 8 else 0,
        )
    models.built(
        op, name, net, [y], [(-1, 1)], f"{fb.TYPE_NAMES[weight_dtype]} weights, {fb.TYPE_NAMES[dtype]} activations"
    )


def add_built_conv(models):
    per_channel = (np.linspace(0.004, 0.02, 5), [0] * 5, 0)
    uint8 = fb.UINT8, fb.UINT8, (0.02, 128), (0.01, 121), (0.05, 110)
    built_conv(models, "conv_2d_uint8", *uint8, 1)
    built_conv(models, "conv_2d_valid_uint8", *uint8, 1, padding="VALID", channels=3)
    int4 = (np.linspace(0.05, 0.1, 5), [0] * 5, 0)
    built_conv(models, "conv_2d_int4_int8", fb.INT8, fb.INT4, (0.02, 3), int4, (0.05, -5), 7)
    built_conv(models, "conv_2d_int4_hybrid", fb.FLOAT32, fb.INT4, None, int4, None, 7, bias_dtype=fb.FLOAT32)
    built_conv(models, "conv_2d_v5_hybrid_int8", fb.FLOAT32, fb.INT8, None, per_channel, None, 5, bias_dtype=fb.FLOAT32)
    built_conv(models, "conv_2d_v2_hybrid_int8", fb.FLOAT32, fb.INT8, None, (0.01, 0), None, 2, bias_dtype=fb.FLOAT32)
    for bias, version in ((fb.INT64, 4), (fb.INT32, 8)):
        built_conv(
            models,
            f"conv_2d_v{version}_int16",
            fb.INT16,
            fb.INT8,
            (0.0001, 0),
            per_channel,
            (0.0002, 0),
            version,
            bias_dtype=bias,
        )
    built_conv(
        models,
        "conv_2d_v6_groups2_int8",
        fb.INT8,
        fb.INT8,
        (0.02, 3),
        (np.linspace(0.004, 0.02, 6), [0] * 6, 0),
        (0.05, -5),
        6,
        groups=2,
        outputs=6,
    )
    name, depthwise = "depthwise_conv_2d", {"op": "DEPTHWISE_CONV_2D", "outputs": 1}
    per_channel = (np.linspace(0.004, 0.02, 8), [0] * 8, 3)
    built_conv(models, f"{name}_uint8", *uint8, 1, **depthwise)
    built_conv(models, f"{name}_multiplier_uint8", *uint8, 1, op="DEPTHWISE_CONV_2D", channels=3, outputs=2)
    for version in (4, 6):  # the interpreter reads a scale per channel in both
        built_conv(
            models,
            f"{name}_v{version}_hybrid_int8",
            fb.FLOAT32,
            fb.INT8,
            None,
            per_channel,
            None,
            version,
            bias_dtype=fb.FLOAT32,
            **depthwise,
        )
    built_conv(
        models,
        f"{name}_int4_int8",
        fb.INT8,
        fb.INT4,
        (0.02, 3),
        (np.linspace(0.05, 0.1, 8), [0] * 8, 3),
        (0.05, -5),
        7,
        **depthwise,
    )
    add_runtime_weights(models)


def add_runtime_weights(models):
    net = fb.Net()
    x, w, b, y = net.input((1, 6, 5, 3)), net.input((5, 3, 3, 3)), net.input((5,)), net.tensor((1, 6, 5, 5))
    net.op("CONV_2D", [x, w, b], [y], 1, "Conv2D", strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1)
    models.built("CONV_2D", "conv_2d_runtime_weights", net, [y], [(-1, 1)], "filter and bias are inputs")
    net = fb.Net()
    x, w, y = net.input((2, 7, 6, 8)), net.input((4, 3, 2, 8)), net.tensor((2, 3, 3, 4))
    net.op(
        "CONV_2D",
        [x, w, net.const(random_array((4,), 2))],
        [y],
        1,
        "Conv2D",
        padding=1,
        strideH=2,
        strideW=2,
        dilationHFactor=1,
        dilationWFactor=1,
    )
    models.built(
        "CONV_2D", "conv_2d_runtime_weights_valid", net, [y], [(-1, 1)], "filter is an input, stride 2, batch 2"
    )
    net = fb.Net()
    x, w, y = net.input((1, 6, 5, 5)), net.input((1, 3, 3, 5)), net.tensor((1, 6, 5, 5))
    net.op(
        "DEPTHWISE_CONV_2D",
        [x, w, net.const(random_array((5,), 2))],
        [y],
        1,
        "DepthwiseConv2D",
        strideH=1,
        strideW=1,
        depthMultiplier=1,
        dilationHFactor=1,
        dilationWFactor=1,
    )
    models.built("DEPTHWISE_CONV_2D", "depthwise_conv_2d_runtime_weights", net, [y], [(-1, 1)], "filter is an input")
    net = fb.Net()
    x, w, b, y = net.input((1, 4, 3, 3)), net.input((5, 3, 3, 3)), net.input((5,)), net.tensor((1, 8, 6, 5))
    size = net.const(np.array([1, 8, 6, 5], np.int32))
    net.op("TRANSPOSE_CONV", [size, w, x, b], [y], 3, "TransposeConv", strideH=2, strideW=2)
    models.built("TRANSPOSE_CONV", "transpose_conv_runtime_weights", net, [y], [(-1, 1)], "filter and bias are inputs")


def add_depthwise(models):
    def depthwise(
        name, shape, filter_shape, modes=("float",), activation=None, shows="", strides=1, padding="SAME", dilations=1
    ):
        weights = tf.constant(random_array(filter_shape))
        offsets = tf.constant(random_array((filter_shape[2] * filter_shape[3],), 2))

        def function(x):
            y = tf.nn.depthwise_conv2d(x, weights, [1, strides, strides, 1], padding, dilations=[dilations, dilations])
            y = tf.nn.bias_add(y, offsets)
            return activation(y) if activation else y

        models.converted("DEPTHWISE_CONV_2D", f"depthwise_conv_2d_{name}", function, [shape], [(-1, 1)], modes, shows)

    depthwise("3x3_same", (1, 7, 6, 8), (3, 3, 8, 1), ALL + ("int8_tensor",))
    depthwise("stride2_valid", (2, 9, 8, 5), (3, 3, 5, 1), ALL, strides=2, padding="VALID", shows="batch 2")
    depthwise("stride2_same", (1, 8, 8, 3), (3, 3, 3, 1), ("float", "int8"), strides=2, shows="uneven padding")
    depthwise("multiplier2", (1, 5, 6, 3), (3, 3, 3, 2), ALL, shows="multiplier 2")
    depthwise("multiplier5", (1, 5, 6, 1), (3, 3, 1, 5), ("float", "int8"), shows="multiplier 5 of 1 channel")
    depthwise("dilated", (1, 9, 9, 5), (3, 3, 5, 1), ("float", "int8"), dilations=2)
    depthwise("relu6", (1, 5, 5, 8), (5, 5, 8, 1), ("float", "int8"), activation=tf.nn.relu6)
    depthwise("2x4", (1, 5, 6, 3), (2, 4, 3, 1), ("float",), activation=tf.nn.relu)
    depthwise("hybrid", (1, 5, 5, 128), (3, 3, 128, 1), ("hybrid",), shows="8-bit weights, float activations")


def add_transpose_conv(models):
    def transposed(
        name, shape, filter_shape, out, strides, padding="SAME", modes=("float",), activation=None, bias=False, shows=""
    ):
        weights, offsets = tf.constant(random_array(filter_shape)), tf.constant(random_array(filter_shape[2:3], 2))

        def function(x):
            y = tf.nn.conv2d_transpose(x, weights, out, strides, padding)
            y = tf.nn.bias_add(y, offsets) if bias else y
            return activation(y) if activation else y

        models.converted("TRANSPOSE_CONV", f"transpose_conv_{name}", function, [shape], [(-1, 1)], modes, shows)

    transposed("3x3_stride2", (1, 4, 3, 3), (3, 3, 5, 3), (1, 8, 6, 5), 2, modes=ALL)
    transposed("valid", (1, 4, 3, 8), (3, 3, 3, 8), (1, 9, 7, 3), 2, "VALID", ("float", "int8"))
    transposed("odd_output", (1, 4, 3, 8), (3, 3, 3, 8), (1, 7, 5, 3), 2, modes=("float",), shows="output size 2n - 1")
    transposed("bias", (2, 3, 4, 5), (4, 4, 4, 5), (2, 6, 8, 4), 2, modes=ALL, bias=True, shows="batch 2")
    transposed("stride1", (1, 5, 4, 3), (3, 3, 3, 3), (1, 5, 4, 3), 1, modes=("float", "int8"), bias=True)
    transposed(
        "stride3_1x2", (1, 3, 3, 4), (1, 2, 8, 4), (1, 9, 9, 8), 3, modes=("float",), shows="kernel below stride"
    )
    transposed(
        "2x2_stride2",
        (1, 3, 4, 8),
        (2, 2, 3, 8),
        (1, 6, 8, 3),
        (2, 2),
        modes=("float", "int8"),
        shows="kernel equals stride",
    )
    transposed("stride_2x1", (1, 3, 4, 3), (5, 3, 4, 3), (1, 6, 4, 4), (2, 1), modes=("float",))
    transposed(
        "relu", (1, 3, 4, 3), (3, 3, 4, 3), (1, 6, 8, 4), 2, modes=("float", "int8"), bias=True, activation=tf.nn.relu
    )
    net = fb.Net()
    x, y = net.input((1, 3, 4, 8), fb.UINT8, (0.02, 128)), net.tensor((1, 6, 8, 5), fb.UINT8, (0.05, 110))
    random = np.random.default_rng(2)
    w = net.const(random.integers(0, 256, (5, 3, 3, 8)), fb.UINT8, (0.01, 121))
    net.op(
        "TRANSPOSE_CONV",
        [net.const(np.array([1, 6, 8, 5], np.int32)), w, x],
        [y],
        2,
        "TransposeConv",
        strideH=2,
        strideW=2,
    )
    models.built("TRANSPOSE_CONV", "transpose_conv_uint8", net, [y], shows="uint8")

"""Convolutions of three dimensions, spectra, choices of boxes."""

import numpy as np

import flatbuffer_net as fb

SAME, VALID, RELU = 0, 1, 1
COMPLEX = fb.schema.TensorType.COMPLEX64


def weights(*shape, seed=7):
    return np.random.default_rng(seed).uniform(-0.5, 0.5, shape).astype(np.float32)


def conv_options(stride, padding, activation, dilation=(1, 1, 1)):
    names = [f"{kind}{axis}{end}" for kind, end in (("stride", ""), ("dilation", "Factor")) for axis in "DHW"]
    return dict(zip(names, (*stride, *dilation), strict=True)) | {
        "padding": padding,
        "fusedActivationFunction": activation,
    }


def add_conv_3d(models):
    for name, image, window, stride, dilation, padding, activation, bias in (
        ("plain", (1, 4, 5, 6, 3), (2, 3, 3), (1, 1, 1), (1, 1, 1), VALID, 0, True),
        ("same", (2, 4, 5, 6, 2), (3, 3, 2), (1, 1, 1), (1, 1, 1), SAME, RELU, True),
        ("strides", (1, 7, 6, 5, 3), (3, 2, 3), (2, 2, 1), (1, 1, 1), SAME, 0, True),
        ("dilated", (1, 6, 7, 7, 2), (2, 3, 2), (1, 1, 1), (2, 1, 2), VALID, 0, False),
        ("pointwise", (2, 3, 4, 4, 5), (1, 1, 1), (1, 1, 1), (1, 1, 1), SAME, 0, True),
        ("one_plane", (1, 1, 5, 5, 3), (3, 3, 3), (1, 1, 1), (1, 1, 1), SAME, 0, True),
    ):
        net, outputs = fb.Net(), 5
        inputs = [net.input(image), net.const(weights(*window, image[4], outputs))]
        if bias:
            inputs.append(net.const(weights(outputs)))
        sizes = [
            -(-size // s) if padding == SAME else (size - (k - 1) * d - 1) // s + 1
            for size, k, s, d in zip(image[1:4], window, stride, dilation, strict=True)
        ]
        y = net.tensor((image[0], *sizes, outputs))
        net.op("CONV_3D", inputs, [y], options="Conv3D", **conv_options(stride, padding, activation, dilation))
        models.built("CONV_3D", f"conv_3d_{name}", net, [y], shows=f"{window}, strides {stride}, dilations {dilation}")


def add_conv_3d_transpose(models):
    for name, image, window, stride, made, padding, activation, bias in (
        ("plain", (1, 3, 4, 4, 3), (2, 3, 3), (1, 1, 1), (4, 6, 6), VALID, 0, True),
        ("same_strides", (2, 3, 4, 3, 2), (3, 3, 3), (2, 2, 2), (6, 8, 6), SAME, RELU, True),
        ("odd_size", (1, 3, 4, 3, 2), (3, 3, 2), (2, 2, 1), (5, 7, 3), SAME, 0, False),
        ("gaps", (1, 2, 3, 3, 2), (2, 2, 2), (3, 2, 2), (5, 6, 6), VALID, 0, True),
        ("deep", (1, 2, 3, 3, 2), (5, 1, 1), (2, 1, 1), (7, 3, 3), VALID, 0, True),
    ):
        net, outputs = fb.Net(), 4
        shape = (image[0], *made, outputs)
        inputs = [net.const(np.array(shape, np.int32)), net.const(weights(*window, outputs, image[4]))]
        inputs.append(net.input(image))
        if bias:
            inputs.append(net.const(weights(outputs)))
        y = net.tensor(shape)
        net.op("CONV_3D_TRANSPOSE", inputs, [y], options="Conv3D", **conv_options(stride, padding, activation))
        models.built("CONV_3D_TRANSPOSE", f"conv_3d_transpose_{name}", net, [y], shows=f"{window}, strides {stride}")


def add_spectra(models):
    for name, shape, sizes in (
        ("frames", (2, 3, 1, 16), (1, 16)),
        ("image", (2, 4, 8), (4, 8)),
        ("cut", (3, 10), (2, 8)),
        ("filled", (1, 12), (1, 16)),
    ):
        made = (*shape[:-2], sizes[0], sizes[1] // 2 + 1)
        for reader in ("COMPLEX_ABS", "REAL", "IMAG"):
            net = fb.Net()
            spectrum, y = net.tensor(made, COMPLEX), net.tensor(made)
            net.op("RFFT2D", [net.input(shape), net.const(np.array(sizes, np.int32))], [spectrum], options="Rfft2d")
            net.op(reader, [spectrum], [y])
            models.built(reader, f"rfft2d_{name}_{reader.lower()}", net, [y], shows=f"{shape} as {sizes}")
    net = fb.Net()
    spectrum, flat, y = net.tensor((3, 1, 9), COMPLEX), net.tensor((3, 9), COMPLEX), net.tensor((3, 9))
    net.op("RFFT2D", [net.input((3, 1, 16)), net.const(np.array([1, 16], np.int32))], [spectrum], options="Rfft2d")
    net.op("RESHAPE", [spectrum, net.const(np.array([3, 9], np.int32))], [flat], options="Reshape", newShape=[3, 9])
    net.op("COMPLEX_ABS", [flat], [y])
    models.built("RFFT2D", "rfft2d_reshaped", net, [y], shows="a complex tensor is reshaped")


def add_suppression(models):
    count, most = 20, 6
    places = np.array([(0.1 * (i // 5), 0.1 * (i % 5)) for i in range(count)])
    boxes = np.concatenate([places, places + np.array([0.25, 0.22])], axis=1).astype(np.float32)
    boxes[3] = boxes[3][[2, 3, 0, 1]]  # corners in the other order
    for name, overlap, score, sigma, scores in (
        ("plain", 0.3, 0.2, 0.0, (0, 1)),
        ("all", 0.99, -1.0, 0.0, (0, 1)),
        ("few", 0.1, 0.8, 0.0, (0, 1)),
        ("soft", 0.6, 0.3, 0.5, (0, 1)),
        ("equal_scores", 0.99, 0.1, 0.0, (0, 1, 0.25)),
        ("equal_scores_suppressed", 0.2, 0.1, 0.0, (0, 1, 0.25)),
        ("equal_scores_soft", 0.99, 0.1, 0.5, (0, 1, 0.25)),
    ):
        for version in (4, 5):
            if version == 4 and sigma:
                continue
            net = fb.Net()
            numbers = [net.const(np.array(number, np.float32)) for number in (overlap, score, sigma)]
            inputs = [net.const(boxes), net.input((count,)), net.const(np.array(most, np.int32)), *numbers]
            chosen, taken, left = net.tensor((most,), fb.INT32), net.tensor((most,)), net.tensor((), fb.INT32)
            outputs = [chosen, taken, left] if version == 5 else [chosen, left]
            op = f"NON_MAX_SUPPRESSION_V{version}"
            net.op(op, inputs if version == 5 else inputs[:-1], outputs, options=f"NonMaxSuppressionV{version}")
            models.built(op, f"{op.lower()}_{name}", net, outputs, [scores], f"overlap {overlap}, score {score}")
    net = fb.Net()
    inputs = [net.input((count, 4)), net.input((count,)), net.const(np.array(most, np.int32))]
    inputs += [net.const(np.array(number, np.float32)) for number in (0.5, 0.1)]
    outputs = [net.tensor((most,), fb.INT32), net.tensor((), fb.INT32)]
    net.op("NON_MAX_SUPPRESSION_V4", inputs, outputs, options="NonMaxSuppressionV4")
    models.built("NON_MAX_SUPPRESSION_V4", "non_max_suppression_v4_computed", net, outputs, [(0, 1)], "boxes are data")

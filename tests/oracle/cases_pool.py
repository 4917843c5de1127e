"""Pooling, and normalization over channels."""

import tensorflow as tf

import flatbuffer_net as fb


def add_pool(models):
    for op, function in (("AVERAGE_POOL_2D", tf.nn.avg_pool2d), ("MAX_POOL_2D", tf.nn.max_pool2d)):

        def pool(name, shape, kernel, strides, padding, modes=("float",), activation=None, op=op, function=function):
            def run(x):
                y = function(x, kernel, strides, padding)
                return activation(y) if activation else y

            models.converted(
                op,
                f"{op.lower()}_{name}",
                run,
                [shape],
                [(-2, 2)],
                modes,
                f"{kernel} stride {strides} {padding}",
                moves=op == "MAX_POOL_2D" and not activation,
            )

        pool("2x2", (1, 6, 8, 3), 2, 2, "VALID", ("float", "int8", "int16"))
        pool("3x3_same", (2, 7, 5, 8), 3, 2, "SAME", ("float", "int8", "int16"))
        pool("3x2_stride_1x2", (1, 5, 6, 5), (3, 2), (1, 2), "SAME")
        pool("global", (1, 5, 7, 8), (5, 7), 1, "VALID", ("float", "int8"))
        pool("relu6", (1, 6, 6, 3), 3, 1, "SAME", ("float", "int8"), tf.nn.relu6)
        pool("relu_n1_to_1", (1, 6, 6, 3), 2, 2, "SAME", ("float",), lambda x: tf.maximum(tf.minimum(x, 1.0), -1.0))
        pool("all_padding", (1, 2, 2, 3), 5, 1, "SAME")
        net = fb.Net()
        x, y = net.input((1, 6, 5, 3), fb.UINT8, (0.02, 128)), net.tensor((1, 3, 3, 3), fb.UINT8, (0.02, 128))
        net.op(op, [x], [y], 1, "Pool2D", strideH=2, strideW=2, filterHeight=3, filterWidth=3)
        models.built(op, f"{op.lower()}_uint8", net, [y], shows="uint8", moves=op == "MAX_POOL_2D")


def add_l2_pool(models):
    for name, shape, kernel, stride, padding, made in (
        ("2x2", (1, 6, 8, 3), (2, 2), 2, 1, (3, 4)),
        ("3x2_same", (2, 5, 5, 5), (3, 2), 1, 0, (5, 5)),
    ):
        net = fb.Net()
        x, y = net.input(shape), net.tensor((shape[0], *made, shape[3]))
        steps = {"strideH": stride, "strideW": stride, "filterHeight": kernel[0], "filterWidth": kernel[1]}
        net.op("L2_POOL_2D", [x], [y], 1, "Pool2D", padding=padding, **steps)
        models.built("L2_POOL_2D", f"l2_pool_2d_{name}", net, [y], shows=f"{kernel} stride {stride}")


def add_normalizations(models):
    for name, how in (("default", {}), ("narrow", {"depth_radius": 1, "bias": 2.0, "alpha": 0.3, "beta": 0.75})):
        models.converted(
            "LOCAL_RESPONSE_NORMALIZATION",
            f"local_response_normalization_{name}",
            lambda x, how=how: tf.nn.local_response_normalization(x, **how),
            [(2, 3, 4, 8)],
            shows=str(how),
        )
    models.converted(
        "L2_NORMALIZATION",
        "l2_normalization",
        lambda x: tf.math.l2_normalize(x, -1),
        [(2, 3, 4, 5)],
        modes=("float", "int8"),
    )
    models.converted("L2_NORMALIZATION", "l2_normalization_rank2", lambda x: tf.math.l2_normalize(x, -1), [(4, 9)])
    net = fb.Net()
    x, y = net.input((3, 8)), net.tensor((3, 8))
    net.op("L2_NORMALIZATION", [x], [y], 1, "L2Norm")
    models.built("L2_NORMALIZATION", "l2_normalization_zero", net, [y], [(0, 0)], "of zeros")

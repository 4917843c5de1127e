"""Functions of one element, of two, comparisons, logic, casts and quantization changes."""

import numpy as np
import tensorflow as tf

import flatbuffer_net as fb

IMAGE = (1, 4, 5, 3)
I8, I16 = ("float", "int8"), ("float", "int8", "int16")


def add_unary(models):
    odd = (-4, 4)
    table = [  # op, function, shape, range, modes
        ("ABS", tf.abs, (2, 3, 4, 5), odd, I16),
        ("COS", tf.cos, (7,), (-7, 7), ("float",)),
        ("CEIL", tf.math.ceil, (1, 3, 3, 5), odd, ("float",)),
        ("ELU", tf.nn.elu, IMAGE, odd, I8),
        ("EXP", tf.exp, (3, 8), (-3, 3), I16),
        ("FLOOR", tf.floor, (2, 3, 4, 2, 3), odd, ("float",)),
        ("LOG", tf.math.log, (2, 6), (0.1, 9), I8),
        ("LOGISTIC", tf.sigmoid, (1, 6, 5), (-6, 6), I16),
        ("NEG", tf.negative, (), odd, ("float",)),
        ("RSQRT", tf.math.rsqrt, (3, 7), (0.1, 9), I8),
        ("SIGN", tf.sign, (3, 5), odd, ("float",)),
        ("SIN", tf.sin, (1, 1, 1, 1), (-7, 7), ("float",)),
        ("SQRT", tf.sqrt, (5, 1, 3), (0, 9), ("float",)),
        ("SQUARE", tf.square, (2, 2, 2, 2, 2), odd, ("float",)),
        ("TANH", tf.tanh, (4, 3, 2), odd, I16),
        ("RELU", tf.nn.relu, IMAGE, odd, I16),
        ("RELU6", tf.nn.relu6, (2, 3, 3, 8), (-3, 9), I16),
        ("RELU_N1_TO_1", lambda x: tf.maximum(tf.minimum(x, 1.0), -1.0), IMAGE, odd, I8),
        ("LEAKY_RELU", lambda x: tf.nn.leaky_relu(x, 0.2), IMAGE, odd, I16),
        ("HARD_SWISH", lambda x: x * tf.nn.relu6(x + 3) * (1 / 6), IMAGE, (-5, 5), I8),
        ("GELU", lambda x: tf.nn.gelu(x, approximate=False), (2, 9), odd, I8),
    ]
    for op, function, shape, values, modes in table:
        rounds = op in ("CEIL", "FLOOR", "SIGN", "NEG", "ABS")
        models.converted(op, op.lower(), function, [shape], [values], modes, f"rank {len(shape)}")
        if rounds:
            models.entries[-len(modes)]["tolerance"] = "exact"
    models.converted("GELU", "gelu_tanh", lambda x: tf.nn.gelu(x, approximate=True), [(2, 9)], [odd], I8, "approximate")
    models.converted(
        "LEAKY_RELU", "leaky_relu_steep", lambda x: tf.nn.leaky_relu(x, 1.5), [IMAGE], [odd], I8, "alpha > 1"
    )
    models.converted("ROUND", "round_halves", tf.round, [(4, 8)], [(-6, 6, 0.5)], shows="halves go to even", moves=True)
    models.converted(
        "CEIL", "ceil_halves", tf.math.ceil, [(4, 8)], [(-6, 6, 0.5)], shows="whole and half numbers", moves=True
    )
    models.converted(
        "FLOOR", "floor_halves", tf.floor, [(4, 8)], [(-6, 6, 0.5)], shows="whole and half numbers", moves=True
    )
    models.converted("SIGN", "sign_zero", tf.sign, [(4, 8)], [(-1, 1, 0.5)], shows="of zero", moves=True)
    for dtype in (tf.int32, tf.int64):
        models.converted("NEG", f"neg_{dtype.name}", tf.negative, [((3, 5), dtype)], [(-9, 9)])
    models.converted("ABS", "abs_int32", tf.abs, [((3, 5), tf.int32)], [(-9, 9)])
    models.converted("SIGN", "sign_int32", tf.sign, [((3, 5), tf.int32)], [(-2, 2)])
    models.converted("EXP", "exp_large", tf.exp, [(40,)], [(-100, 60)], shows="from underflow to 1e26")
    add_prelu(models)
    add_built_unary(models)


def add_prelu(models):
    random = np.random.default_rng(3)
    for name, alpha_shape in (("channels", (3,)), ("broadcast", (1, 1, 3)), ("full", (4, 5, 3)), ("rows", (4, 1, 3))):
        alpha = tf.constant(random.uniform(-0.5, 1.5, alpha_shape).astype(np.float32))

        def prelu(x, alpha=alpha):
            return tf.nn.relu(x) - alpha * tf.nn.relu(-x)

        net = fb.Net()
        x, y = net.input(IMAGE), net.tensor(IMAGE)
        net.op("PRELU", [x, net.const(alpha.numpy())], [y])
        models.built("PRELU", f"prelu_{name}", net, [y], shows=f"alpha of shape {alpha_shape}")
    for dtype, zero in ((fb.INT8, -3), (fb.UINT8, 120)):
        net = fb.Net()
        x, y = net.input(IMAGE, dtype, (0.03, zero)), net.tensor(IMAGE, dtype, (0.025, zero + 5))
        alpha = net.const(np.array([[[10, 60, -20]]]) + zero, dtype, (0.01, zero))
        net.op("PRELU", [x, alpha], [y])
        models.built("PRELU", f"prelu_{fb.TYPE_NAMES[dtype]}", net, [y], shows="quantized alpha")


def add_built_unary(models):
    for dtype, quant in ((fb.FLOAT32, None), (fb.INT8, (1 / 255, -128)), (fb.UINT8, (1 / 255, 0))):
        net = fb.Net()
        x, y = net.input(IMAGE, dtype, quant and (0.02, quant[1] + 128)), net.tensor(IMAGE, dtype, quant)
        net.op("RELU_0_TO_1", [x], [y])
        models.built("RELU_0_TO_1", f"relu_0_to_1_{fb.TYPE_NAMES[dtype]}", net, [y])
    for op, scale, version in (("RSQRT", 0.0003, 3), ("TANH", 2**-12, 3), ("LOGISTIC", 2**-12, 3)):
        net = fb.Net()
        x, y = net.input(IMAGE, fb.INT16, (scale, 0)), net.tensor(
            IMAGE, fb.INT16, (2**-15 if op != "RSQRT" else 0.001, 0)
        )
        net.op(op, [x], [y], version)
        values = (900, 32000, "stored") if op == "RSQRT" else (0, 0)
        models.built(op, f"{op.lower()}_v{version}_int16", net, [y], [values], "int16")
    for op, output in (
        ("LOGISTIC", (1 / 256, 0)),
        ("TANH", (1 / 128, 128)),
        ("RELU", (0.03, 90)),
        ("RELU6", (6 / 255, 0)),
        ("RELU_N1_TO_1", (2 / 255, 128)),
        ("LEAKY_RELU", (0.03, 128)),
        ("HARD_SWISH", (0.03, 20)),
    ):
        net = fb.Net()
        x, y = net.input(IMAGE, fb.UINT8, (0.04, 118)), net.tensor(IMAGE, fb.UINT8, output)
        if op == "LEAKY_RELU":
            net.op(op, [x], [y], options="LeakyRelu", alpha=0.1)
        else:
            net.op(op, [x], [y], options="HardSwish" if op == "HARD_SWISH" else None)
        models.built(op, f"{op.lower()}_uint8", net, [y], shows="uint8")


def add_binary(models):
    wide = (-3, 3)
    broadcast = [  # name, shapes
        ("same", (1, 4, 5, 3), (1, 4, 5, 3)),
        ("channel", (2, 4, 5, 8), (8,)),
        ("scalar", (1, 4, 5, 3), ()),
        ("left_smaller", (3,), (1, 4, 5, 3)),
        ("both", (1, 4, 1, 3), (2, 1, 5, 1)),
        ("one_channel", (1, 4, 5, 8), (1, 4, 5, 1)),
        ("batch", (2, 3, 2, 5), (2, 1, 1, 5)),
        ("rank5", (2, 1, 3, 2, 3), (1, 2, 3, 1, 3)),
        ("rank2", (4, 5), (4, 1)),
        ("rank0", (), ()),
    ]
    arithmetic = [
        ("ADD", tf.add, wide),
        ("SUB", tf.subtract, wide),
        ("MUL", tf.multiply, wide),
        ("DIV", tf.divide, (0.5, 4)),
    ]
    for op, function, second in arithmetic:
        for name, a, b in broadcast:
            models.converted(op, f"{op.lower()}_{name}", function, [a, b], [wide, second], shows=f"{a} with {b}")
        for act, fused in (
            ("relu", tf.nn.relu),
            ("relu6", tf.nn.relu6),
            ("relu_n1_to_1", lambda x: tf.maximum(tf.minimum(x, 1.0), -1.0)),
        ):
            models.converted(
                op,
                f"{op.lower()}_{act}",
                lambda x, y, f=function, g=fused: g(f(x, y)),
                [IMAGE, IMAGE],
                [wide, second],
                ("float", "int8") if op in ("ADD", "MUL") else ("float",),
                f"fused {act}",
            )
        constant = tf.constant([0.5, -2.0, 1.5])
        models.converted(
            op,
            f"{op.lower()}_constant_left",
            lambda y, f=function: f(constant, y),
            [IMAGE],
            [second],
            shows="constant first",
        )
        for dtype in (tf.int32, tf.int64):
            if op == "DIV":
                continue
            models.converted(op, f"{op.lower()}_{dtype.name}", function, [((2, 3, 4), dtype), ((4,), dtype)], [(-9, 9)])
        if op != "DIV":
            for name, b in (("same", IMAGE), ("channel", (3,))):
                models.converted(
                    op,
                    f"{op.lower()}_{name}",
                    function,
                    [IMAGE, b],
                    [wide, (-1, 2)],
                    ("int8", "int16"),
                    f"{IMAGE} with {b}",
                )
    models.converted(
        "DIV",
        "div_int32",
        lambda x, y: tf.raw_ops.Div(x=x, y=y),
        [((2, 3, 4), tf.int32), ((4,), tf.int32)],
        [(-20, 20), (1, 5)],
        shows="truncates",
    )
    add_other_binary(models, wide)
    add_built_binary(models)


def add_other_binary(models, wide):
    others = [
        ("MAXIMUM", tf.maximum, wide, wide),
        ("MINIMUM", tf.minimum, wide, wide),
        ("POW", tf.pow, (0.2, 3), wide),
        ("SQUARED_DIFFERENCE", tf.math.squared_difference, wide, wide),
        ("FLOOR_DIV", tf.math.floordiv, (-9, 9), (0.7, 3)),
        ("FLOOR_MOD", tf.math.floormod, (-9, 9), (0.7, 3)),
        ("ATAN2", tf.atan2, wide, wide),
    ]
    for op, function, first, second in others:
        for name, a, b in (("same", IMAGE, IMAGE), ("broadcast", (2, 1, 5, 8), (3, 1, 8)), ("scalar", (3, 7), ())):
            if op == "ATAN2" and name != "same":  # the interpreter's takes equal shapes only
                continue
            models.converted(
                op,
                f"{op.lower()}_{name}",
                function,
                [a, b],
                [first, second],
                shows=f"{a} with {b}",
                moves=op in ("MAXIMUM", "MINIMUM"),
            )
        if op in ("MAXIMUM", "MINIMUM"):
            models.converted(op, f"{op.lower()}_same", function, [IMAGE, IMAGE], [wide], ("int8", "int16"))
            models.converted(op, f"{op.lower()}_int64", function, [((6,), tf.int64), ((6,), tf.int64)], [(-9, 9)])
        if op == "SQUARED_DIFFERENCE":
            models.converted(op, "squared_difference_same", function, [IMAGE, IMAGE], [wide], ("int8",))
        if op not in ("ATAN2",):
            values = {"POW": [(-3, 3), (0, 4)], "FLOOR_DIV": [(-20, 20), (1, 6)], "FLOOR_MOD": [(-20, 20), (1, 6)]}
            models.converted(
                op, f"{op.lower()}_int32", function, [((3, 4), tf.int32), ((4,), tf.int32)], values.get(op, [(-9, 9)])
            )
    for op, function in (("FLOOR_DIV", tf.math.floordiv), ("FLOOR_MOD", tf.math.floormod)):
        models.converted(
            op, f"{op.lower()}_negative", function, [IMAGE, IMAGE], [(-9, 9), (-3, -0.7)], shows="divisor below 0"
        )
        models.converted(
            op,
            f"{op.lower()}_whole",
            function,
            [IMAGE, IMAGE],
            [(-9, 9, 0.5), (1.5, 4, 0.5)],
            shows="quotients that are whole numbers",
        )
    models.converted(
        "FLOOR_MOD", "floor_mod_int64", tf.math.floormod, [((3, 4), tf.int64), ((4,), tf.int64)], [(-20, 20), (1, 6)]
    )


def add_built_binary(models):
    """uint8, and the versions that only the options or scales bring about."""
    for op, options in (("ADD", "Add"), ("SUB", "Sub"), ("MUL", "Mul"), ("DIV", "Div")):
        for name, shape in (("same", IMAGE), ("scalar", ())):
            net = fb.Net()
            a = net.input(IMAGE, fb.UINT8, (0.02, 128))
            b = net.input(shape, fb.UINT8, (0.03, 0 if op == "DIV" else 100))
            y = net.tensor(IMAGE, fb.UINT8, (0.05, 127))
            net.op(op, [a, b], [y], 2 if op == "SUB" else 1, options)
            if op == "DIV" and name == "scalar":
                continue
            models.built(
                op,
                f"{op.lower()}_{name}_uint8",
                net,
                [y],
                shows="uint8",
                ranges=[(0, 0), (40, 255, "stored")] if op == "DIV" else ((0, 0),),
            )
    for op in ("MAXIMUM", "MINIMUM"):
        net = fb.Net()
        a, b = (net.input(IMAGE, fb.UINT8, (0.02, 128)) for _ in range(2))
        y = net.tensor(IMAGE, fb.UINT8, (0.02, 128))
        net.op(op, [a, b], [y], 1, "MaximumMinimum")
        models.built(op, f"{op.lower()}_same_uint8", net, [y], shows="uint8", moves=True)
    net = fb.Net()
    a, b = (net.input(IMAGE, fb.INT8, (1.5, 0)) for _ in range(2))
    y = net.tensor(IMAGE, fb.INT8, (2.0, 3))
    net.op("MUL", [a, b], [y], 3, "Mul")
    models.built("MUL", "mul_large_scales_int8", net, [y], shows="product of the scales over the output's is above 1")
    for op in ("ADD", "SUB"):
        net = fb.Net()
        a, b = net.input(IMAGE, fb.INT16, (2**-11, 0)), net.input(IMAGE, fb.INT16, (2**-13, 0))
        y = net.tensor(IMAGE, fb.INT16, (2**-11, 0))
        net.op(op, [a, b], [y], 3 if op == "ADD" else 5, op.title(), potScaleInt16=True)
        models.built(op, f"{op.lower()}_power_of_two_scales_int16", net, [y], shows="pot_scale_int16")
    for count in (2, 4):
        net = fb.Net()
        parts, y = [net.input(IMAGE) for _ in range(count)], net.tensor(IMAGE)
        net.op("ADD_N", parts, [y], 1, "AddN")
        models.built("ADD_N", f"add_n_{count}", net, [y], shows=f"{count} inputs")
    net = fb.Net()
    parts, y = [net.input((3, 5), fb.INT32) for _ in range(3)], net.tensor((3, 5), fb.INT32)
    net.op("ADD_N", parts, [y], 1, "AddN")
    models.built("ADD_N", "add_n_int32", net, [y], ranges=[(-9, 9)], shows="3 inputs of int32")
    net = fb.Net()
    x, y = net.input(IMAGE), net.tensor(IMAGE)
    net.op("ADD", [x, x], [y], 1, "Add")
    models.built("ADD", "add_itself", net, [y], shows="one value twice")

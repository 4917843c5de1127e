"""Models of one operator (or a few) with awkward parameters: sizes of one, strides beyond windows, negative axes, odd paddings,
ranks 1 to 5, open batches. Which parameters an operator has stands in a row; the product of their values makes models."""

import itertools

import numpy as np
import tensorflow as tf
from networks import Input, Network

REGISTERED = {}


def _tag(value):
    text = str(value).lower().replace(" ", "")
    return "".join(c if c.isalnum() or c in ".-" else "_" for c in text).strip("_")


def _with(function, chosen):
    return lambda *x: function(*x, **chosen)


def add(family, inputs, function, quantizations=("float",), **parameters):
    """One model for each combination of parameters. `inputs`: a function of the parameters, or a list."""
    for values in itertools.product(*parameters.values()):
        chosen = dict(zip(parameters, values))
        name = ".".join([family, *(_tag(value) for value in values)])
        given = inputs(**chosen) if callable(inputs) else inputs
        build = _with(function, chosen)
        assert name not in REGISTERED, name
        REGISTERED[name] = Network(name, family, build, given, "function", 1, list(quantizations))


def x(*shape, rule=(-2.0, 2.0), name="x", dtype="float32"):
    return Input(name, list(shape), rule if isinstance(rule, dict) else list(rule), dtype)


def constant(*shape, seed=1, scale=0.4):
    return tf.constant((np.random.default_rng(seed).standard_normal(shape) * scale).astype(np.float32))


BOTH = ("float", "int8")
ALL = ("float", "float16", "dynamic", "int8", "int16x8")


def windows():
    def fits(size, window, rate, padding):
        return padding == "SAME" or size[0] >= (window[0] - 1) * rate + 1 <= size[1] and size[1] >= (window[1] - 1) * rate + 1

    for size, window, strides, rate, padding in itertools.product(
            ((7, 9), (1, 5)), ((1, 1), (3, 3), (1, 4), (5, 2)), ((1, 1), (2, 2), (3, 1)), (1, 2), ("SAME", "VALID")):
        if not fits(size, window, rate, padding) or (rate > 1 and strides != (1, 1)):
            continue
        which = dict(size=[size], window=[window], strides=[strides], rate=[rate], padding=[padding])
        add("conv", [x(1, *size, 3)], lambda v, window, strides, rate, padding, size: tf.nn.conv2d(
            v, constant(*window, 3, 5), strides, padding, dilations=rate) + constant(5, seed=2), BOTH, **which)
        add("depthwise", [x(2, *size, 3)], lambda v, window, strides, rate, padding, size: tf.nn.depthwise_conv2d(
            v, constant(*window, 3, 2), (1, strides[0], strides[0], 1), padding, dilations=(rate, rate)),
            ("float",) if window[0] != 3 else BOTH, **which)
    for window, strides, padding in itertools.product(((2, 2), (1, 3), (7, 7)), ((1, 1), (2, 3), (5, 5)), ("SAME", "VALID")):
        which = dict(window=[window], strides=[strides], padding=[padding])
        add("max_pool", [x(1, 8, 9, 2)], lambda v, window, strides, padding: tf.nn.max_pool2d(v, window, strides, padding),
            BOTH, **which)
        add("average_pool", [x(1, 8, 9, 2)], lambda v, window, strides, padding: tf.nn.avg_pool2d(
            v, window, strides, padding), BOTH, **which)
    add("transpose_conv", [x(1, 4, 5, 3)], lambda v, window, stride, padding: tf.nn.conv2d_transpose(
        v, constant(window, window, 4, 3),
        [1, *(((n * stride) if padding == "SAME" else (n - 1) * stride + max(window, stride)) for n in (4, 5)), 4],
        stride, padding), BOTH, window=[1, 2, 3, 5], stride=[1, 2, 3], padding=["SAME", "VALID"])
    add("grouped", [x(1, 6, 6, 8)], lambda v, groups: tf.nn.conv2d(v, constant(3, 3, 8 // groups, 8), 1, "SAME"), BOTH,
        groups=[1, 2, 4, 8])
    add("conv_1d", [x(2, 11, 3)], lambda v, width, stride: tf.nn.conv1d(v, constant(width, 3, 4), stride, "SAME"),
        width=[1, 2, 5], stride=[1, 3])


def elementwise():
    unary = {"exp": tf.exp, "log": lambda v: tf.math.log(tf.abs(v) + 0.1), "sqrt": lambda v: tf.sqrt(tf.abs(v)),
             "rsqrt": lambda v: tf.math.rsqrt(tf.abs(v) + 0.1), "sin": tf.sin, "cos": tf.cos, "tanh": tf.tanh,
             "sigmoid": tf.sigmoid, "relu": tf.nn.relu, "relu6": tf.nn.relu6, "elu": tf.nn.elu, "neg": tf.negative,
             "leaky": tf.nn.leaky_relu, "gelu": tf.nn.gelu, "softplus": tf.nn.softplus, "abs": tf.abs, "ceil": tf.math.ceil,
             "floor": tf.floor, "round": tf.round, "sign": tf.sign, "square": tf.square}
    for kind, function in unary.items():
        add(kind, lambda shape: [x(*shape)], lambda v, shape, f=function: f(v),
            BOTH if kind in ("tanh", "sigmoid", "relu", "elu", "leaky", "abs", "exp", "gelu") else ("float",),
            shape=[(1,), (3, 1, 5), (2, 1, 3, 1, 2)])
    pairs = [((4,), (1,)), ((2, 3), (3,)), ((2, 1, 4), (3, 1)), ((1, 2, 2, 3), (2, 1, 1)), ((2, 1, 1, 2, 3), (1, 3, 2, 1, 1)),
             ((2, 2, 1, 2, 1, 2), (2, 1, 2))]
    binary = {"add": tf.add, "sub": tf.subtract, "mul": tf.multiply, "maximum": tf.maximum, "minimum": tf.minimum,
              "squared_difference": tf.math.squared_difference,
              "div": lambda a, b: a / (tf.abs(b) + 0.5), "pow": lambda a, b: tf.pow(tf.abs(a) + 0.1, b),
              "floor_div": lambda a, b: tf.math.floordiv(a, b + 3.3), "floor_mod": lambda a, b: tf.math.floormod(a, b + 3.3),
              "less": lambda a, b: tf.less(a, b), "select": lambda a, b: tf.where(a > b, a * 2.0, b)}
    for kind, function in binary.items():
        add(kind, lambda shapes: [x(*shapes[0]), x(*shapes[1], name="y")], lambda a, b, shapes, f=function: f(a, b),
            BOTH if kind in ("add", "sub", "mul", "maximum") else ("float",), shapes=pairs)
    add("integer_arithmetic", lambda dtype: [x(3, 4, rule={"int": [-50, 50]}, dtype=dtype),
                                             x(4, rule={"int": [1, 9]}, dtype=dtype, name="y")],
        lambda a, b, dtype: [a + b, a - b, a * b, a // b, a % b, tf.maximum(a, b), tf.cast(a, tf.float32)],
        dtype=["int32", "int64"])


def movement():
    shapes = [(5,), (2, 3), (1, 4, 3), (2, 3, 1, 4), (2, 1, 3, 2, 2)]
    for shape in shapes:
        rank = len(shape)
        turned = list(itertools.permutations(range(rank)))[:: max(1, 24 // 5) if rank > 3 else 1][:8]
        add("transpose", [x(*shape)], lambda v, order, shape: tf.transpose(v, order), BOTH, shape=[shape], order=turned)
        add("concat", [x(*shape), x(*shape, name="y")], lambda a, b, axis, shape: tf.concat([a, b, a], axis), BOTH,
            shape=[shape], axis=[*range(rank), -1])
        add("pad", [x(*shape)], lambda v, amount, mode, shape: tf.pad(v, [amount] * len(shape), mode,
                                                                     **({"constant_values": 1.5} if mode == "CONSTANT" else {})),
            shape=[shape], amount=[(0, 1), (2, 0)], mode=["CONSTANT"])
        add("reverse", [x(*shape)], lambda v, axis, shape: tf.reverse(v, [axis]), shape=[shape], axis=range(rank))
        add("slice", [x(*shape)], lambda v, step, shape: v[(slice(None, None, step),) * len(shape)], shape=[shape],
            step=[2, -1, -2])
        add("tile", [x(*shape)], lambda v, times, shape: tf.tile(v, [times] + [1] * (len(shape) - 1)), shape=[shape],
            times=[1, 3])
        add("gather", [x(*shape)], lambda v, axis, shape: tf.gather(v, [[0, shape[axis] - 1], [0, 0]], axis=axis), BOTH,
            shape=[shape], axis=range(rank))
        add("unstack", [x(*shape)], lambda v, axis, shape: tf.stack(tf.unstack(v, axis=axis)[::-1], axis=-1), shape=[shape],
            axis=[0, -1] if rank > 1 else [0])
        add("one_hot", [x(*shape, rule={"int": [-1, 5]}, dtype="int32")],
            lambda v, axis, shape: tf.one_hot(v, 5, 2.0, -1.0, axis), shape=[shape] if rank < 5 else [], axis=[-1, 0])
    add("mirror_pad", [x(1, 4, 5, 2)], lambda v, mode, amount: tf.pad(v, [[0, 0], amount, [1, 2], [0, 0]], mode), BOTH,
        mode=["REFLECT", "SYMMETRIC"], amount=[(0, 0), (2, 3), (3, 0)])
    add("resize", [x(1, 5, 4, 3)], lambda v, size, method: tf.image.resize(v, size, method), BOTH,
        size=[(1, 1), (10, 8), (7, 3), (5, 4), (2, 13)], method=["bilinear", "nearest"])
    add("resize_v1", [x(1, 5, 4, 3)], lambda v, size, corners: tf.compat.v1.image.resize_bilinear(v, size, corners), BOTH,
        size=[(1, 1), (9, 7), (3, 2)], corners=[True, False])
    add("depth_to_space", [x(2, 3, 2, 16)], lambda v, block: tf.nn.depth_to_space(v, block), BOTH, block=[2, 4])
    add("batch_blocks", [x(4, 3, 4, 2)], lambda v, crops: tf.batch_to_space(v, [2, 2], crops), crops=[[[0, 0], [0, 0]], [[1, 0], [0, 2]]])
    add("broadcast_to", [x(3, 1)], lambda v, shape: tf.broadcast_to(v, shape), shape=[(3, 1), (3, 4), (2, 3, 4), (1, 2, 3, 2)])
    add("split", [x(2, 6, 4)], lambda v, sizes, axis: [part * 2.0 for part in tf.split(v, sizes, axis)],
        sizes=[2, [1, 1, 2]], axis=[-1])


def reducing():
    kinds = {"sum": tf.reduce_sum, "mean": tf.reduce_mean, "max": tf.reduce_max, "min": tf.reduce_min,
             "prod": tf.reduce_prod}
    for kind, function in kinds.items():
        add(f"reduce_{kind}", [x(2, 3, 1, 4)], lambda v, axes, kept, f=function: f(v, axes, kept),
            BOTH if kind in ("mean", "sum", "max") else ("float",),
            axes=[None, 0, -1, (1, 2), (0, 3), (0, 1, 2, 3)], kept=[True, False])
    add("softmax", lambda shape: [x(*shape, rule=(-9.0, 9.0))], lambda v, shape: tf.nn.softmax(v), ALL,
        shape=[(4,), (1, 1), (2, 7), (2, 1, 3, 5)])
    add("softmax_axis", [x(2, 3, 4)], lambda v, axis: tf.nn.softmax(v, axis), axis=[0, 1])
    add("log_softmax", [x(3, 5)], lambda v, scale: tf.nn.log_softmax(v * scale), BOTH, scale=[1.0, 30.0])
    add("arg", [x(3, 4, 5)], lambda v, axis, lowest: (tf.argmin if lowest else tf.argmax)(v, axis), axis=[0, 1, -1],
        lowest=[True, False])
    add("top_k", [x(2, 7)], lambda v, k: tf.math.top_k(v, k), k=[1, 3, 7])
    add("cumsum", [x(3, 5)], lambda v, axis, exclusive, backwards: tf.cumsum(v, axis, exclusive, backwards), axis=[0, -1],
        exclusive=[True, False], backwards=[True, False])
    add("l2", [x(2, 3, 4)], lambda v, axis: tf.math.l2_normalize(v, axis), BOTH, axis=[-1])


def products():
    add("dense", lambda batch, depth, units: [x(batch, depth)],
        lambda v, batch, depth, units: tf.matmul(v, constant(depth, units)) + constant(units, seed=3), ALL,
        batch=[1, 3, None], depth=[1, 7, 16], units=[1, 5])
    add("batch_matmul", lambda left, adjoint: [x(2, *((4, 3) if adjoint[0] else (3, 4))), x(
        *left, *((5, 4) if adjoint[1] else (4, 5)), name="y")],
        lambda a, b, left, adjoint: tf.matmul(a, b, transpose_a=adjoint[0], transpose_b=adjoint[1]), BOTH,
        left=[(2,), (1,), (3, 1)], adjoint=[(False, False), (True, False), (False, True)])
    add("einsum", [x(2, 3, 4), x(2, 5, 4, name="y")], lambda a, b, how: tf.einsum(how, a, b),
        how=["abc,adc->abd", "abc,adc->bd", "abc,adc->adb"])


def open_sizes():
    functions = {"mean": lambda v: tf.reduce_mean(v, 1), "flatten": lambda v: tf.reshape(v, [tf.shape(v)[0], -1]),
                 "tile": lambda v: tf.tile(v, [1, 2, 1]), "pad": lambda v: tf.pad(v, [[0, 0], [1, 1], [0, 0]]),
                 "split": lambda v: tf.split(v, 2, 2)[1], "pow": lambda v: tf.abs(v) ** 1.5, "shape": lambda v: tf.shape(v),
                 "zeros": lambda v: tf.concat([v, tf.zeros_like(v)], 1), "expand": lambda v: v[:, None],
                 "broadcast": lambda v: tf.broadcast_to(v[:, :1], tf.shape(v)), "range": lambda v: tf.range(tf.shape(v)[0]),
                 "fill": lambda v: tf.fill([tf.shape(v)[0], 2], 0.5), "matmul": lambda v: tf.matmul(v, v, transpose_b=True),
                 "onehot": lambda v: tf.one_hot(tf.argmax(v, -1), 4), "slice": lambda v: v[:, -1], "where": lambda v: tf.where(v > 0, v, 0.0)}
    for kind, function in functions.items():
        add("open", lambda kind, batch: [x(batch, 3, 4)], lambda v, kind, batch, f=function: f(v), kind=[kind],
            batch=[None])


def register_all():
    for part in (windows, elementwise, movement, reducing, products, open_sizes):
        part()

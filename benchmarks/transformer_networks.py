"""Networks of many nodes with random weights, as converters write them: transformers, mixers, unrolled loops."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "oracle"))
import flatbuffer_net as fb  # noqa: E402


class Layers(fb.Net):
    """A network whose operators are methods: each returns the tensor that it makes."""

    def __init__(self, seed=1):
        super().__init__()
        self.random = np.random.default_rng(seed)

    def shape(self, x):
        return list(self.tensors[x].shape)

    def ints(self, *numbers):
        return self.const(np.array(numbers, np.int32))

    def weights(self, *shape):
        return self.const(self.random.normal(0, 1 / np.sqrt(shape[-1]), shape).astype(np.float32))

    def make(self, name, inputs, shape, options=None, dtype=fb.FLOAT32, **attributes):
        return self.op(name, inputs, [self.tensor(shape, dtype)], 1, options, **attributes)

    def unary(self, name, x):
        return self.make(name, [x], self.shape(x))

    def pair(self, name, a, b):
        if isinstance(b, float):
            b = self.const(np.float32(b))
        shape = np.broadcast_shapes(tuple(self.shape(a)), tuple(self.shape(b)))
        options = {"ADD": "Add", "MUL": "Mul", "SUB": "Sub", "DIV": "Div"}.get(name)
        return self.make(name, [a, b], list(shape), options)

    def dense(self, x, width, bias=True):
        inputs = [x, self.weights(width, self.shape(x)[-1])] + ([self.weights(width)] if bias else [])
        return self.make("FULLY_CONNECTED", inputs, self.shape(x)[:-1] + [width], "FullyConnected", keepNumDims=True)

    def reshape(self, x, *shape):
        return self.make("RESHAPE", [x, self.ints(*shape)], list(shape), "Reshape", newShape=list(shape))

    def transpose(self, x, *order):
        return self.make("TRANSPOSE", [x, self.ints(*order)], [self.shape(x)[d] for d in order], "Transpose")

    def product(self, a, b, transposed=False):
        shape = self.shape(a)[:-1] + [self.shape(b)[-2 if transposed else -1]]
        return self.make("BATCH_MATMUL", [a, b], shape, "BatchMatMul", adjX=False, adjY=transposed)

    def softmax(self, x):
        return self.make("SOFTMAX", [x], self.shape(x), "Softmax", beta=1.0)

    def mean(self, x):
        return self.make("MEAN", [x, self.ints(len(self.shape(x)) - 1)], self.shape(x)[:-1] + [1], "Reducer", keepDims=True)

    def slice(self, x, begin, size):
        return self.make("SLICE", [x, self.ints(*begin), self.ints(*size)], list(size), "Slice")

    def split(self, x, count):
        shape = self.shape(x)[:-1] + [self.shape(x)[-1] // count]
        outputs = [self.tensor(shape) for _ in range(count)]
        self.op("SPLIT", [self.ints(len(shape) - 1), x], outputs, 1, "Split", numSplits=count)
        return outputs

    def join(self, parts, axis):
        shape = self.shape(parts[0])
        shape[axis] = sum(self.shape(part)[axis] for part in parts)
        return self.make("CONCATENATION", parts, shape, "Concatenation", axis=axis)

    def layer_norm(self, x):
        width = self.shape(x)[-1]
        centered = self.pair("SUB", x, self.mean(x))
        variance = self.mean(self.pair("MUL", centered, centered))
        scaled = self.pair("MUL", centered, self.unary("RSQRT", self.pair("ADD", variance, 1e-5)))
        return self.pair("ADD", self.pair("MUL", scaled, self.weights(width)), self.weights(width))

    def rms_norm(self, x):
        mean = self.mean(self.pair("MUL", x, x))
        return self.pair("MUL", self.pair("MUL", x, self.unary("RSQRT", self.pair("ADD", mean, 1e-6))),
                         self.weights(self.shape(x)[-1]))

    def gelu(self, x):
        """GELU by tanh, written out as by exporters without the operator."""
        cube = self.pair("MUL", self.pair("MUL", x, x), x)
        inner = self.pair("MUL", self.pair("ADD", x, self.pair("MUL", cube, 0.044715)), 0.7978845608)
        return self.pair("MUL", self.pair("MUL", x, 0.5), self.pair("ADD", self.unary("TANH", inner), 1.0))

    def silu(self, x):
        return self.pair("MUL", x, self.unary("LOGISTIC", x))

    def heads(self, x, count):
        batch, length, width = self.shape(x)
        return self.transpose(self.reshape(x, batch, length, count, width // count), 0, 2, 1, 3)

    def attend(self, q, k, v, mask=None):
        """Attention over [batch, heads, length, depth]; the result has the heads concatenated."""
        scores = self.pair("MUL", self.product(q, k, transposed=True), self.shape(q)[-1] ** -0.5)
        if mask is not None:
            scores = self.pair("ADD", scores, mask)
        y = self.transpose(self.product(self.softmax(scores), v), 0, 2, 1, 3)
        batch, length, heads, depth = self.shape(y)
        return self.reshape(y, batch, length, heads * depth)


def encoder(layers=4, length=128, width=256, heads=4):
    net = Layers()
    x = net.input([1, length, width])
    mask = net.input([1, 1, length, length])
    for _ in range(layers):
        y = net.layer_norm(x)
        q, k, v = (net.heads(net.dense(y, width), heads) for _ in range(3))
        x = net.pair("ADD", x, net.dense(net.attend(q, k, v, mask), width))
        x = net.pair("ADD", x, net.dense(net.gelu(net.dense(net.layer_norm(x), 4 * width)), width))
    return net.finish([net.layer_norm(x)])


def decoder_step(layers=4, length=128, width=256, heads=4):
    """One token of a language model: rotated queries and keys, caches of keys and values as inputs and outputs."""
    net, depth = Layers(), width // heads
    x, at = net.input([1, 1, width]), net.input([4], fb.INT32)
    mask = net.input([1, 1, 1, length])
    turns = [net.input([1, heads, 1, depth]) for _ in range(2)]  # cosine and sine of the position's angles
    outputs = []

    def rotated(t):
        low, high = net.split(t, 2)
        turned = net.join([net.unary("NEG", high), low], 3)
        return net.pair("ADD", net.pair("MUL", t, turns[0]), net.pair("MUL", turned, turns[1]))

    for _ in range(layers):
        y = net.rms_norm(x)
        q, k, v = (net.heads(net.dense(y, width, bias=False), heads) for _ in range(3))
        caches = []
        for new in (rotated(k), v):
            old = net.input([1, heads, length, depth])
            caches.append(net.make("DYNAMIC_UPDATE_SLICE", [old, new, at], net.shape(old)))
        outputs += caches
        x = net.pair("ADD", x, net.dense(net.attend(rotated(q), *caches, mask), width, bias=False))
        y = net.rms_norm(x)
        gated = net.pair("MUL", net.silu(net.dense(y, 2 * width, bias=False)), net.dense(y, 2 * width, bias=False))
        x = net.pair("ADD", x, net.dense(gated, width, bias=False))
    return net.finish([net.rms_norm(x), *outputs])


def vision_transformer(layers=4, size=112, patch=8, width=192, heads=3):
    """Queries, keys and values are one product, split after a transpose of rank 5."""
    net, side = Layers(), size // patch
    image, length, depth = net.input([1, size, size, 3]), side * side, width // heads
    filters = net.const(net.random.normal(0, 0.1, (width, patch, patch, 3)).astype(np.float32))
    x = net.make("CONV_2D", [image, filters, net.weights(width)], [1, side, side, width], "Conv2D",
                 padding=fb.schema.Padding.VALID, strideW=patch, strideH=patch, dilationWFactor=1, dilationHFactor=1)
    x = net.pair("ADD", net.reshape(x, 1, length, width), net.weights(1, length, width))
    for _ in range(layers):
        packed = net.transpose(net.reshape(net.dense(net.layer_norm(x), 3 * width), 1, length, 3, heads, depth), 2, 0, 3, 1, 4)
        q, k, v = (net.reshape(net.slice(packed, [part, 0, 0, 0, 0], [1, 1, heads, length, depth]), 1, heads, length, depth)
                   for part in range(3))
        x = net.pair("ADD", x, net.dense(net.attend(q, k, v), width))
        x = net.pair("ADD", x, net.dense(net.gelu(net.dense(net.layer_norm(x), 4 * width)), width))
    return net.finish([net.dense(net.mean(net.transpose(net.layer_norm(x), 0, 2, 1)), 10)])


def mixer(layers=4, length=196, width=128):
    net = Layers()
    x = net.input([1, length, width])
    for _ in range(layers):
        y = net.transpose(net.layer_norm(x), 0, 2, 1)
        y = net.transpose(net.dense(net.gelu(net.dense(y, 2 * width)), length), 0, 2, 1)
        x = net.pair("ADD", x, y)
        x = net.pair("ADD", x, net.dense(net.gelu(net.dense(net.layer_norm(x), 4 * width)), width))
    return net.finish([net.layer_norm(x)])


def unrolled_gru(steps=39, width=64):
    """17 nodes per step: 39 steps have 663."""
    net = Layers()
    x, h = net.input([1, steps, width]), net.input([1, width])
    weights = [net.weights(3 * width, width) for _ in range(2)]
    bias = net.weights(3 * width)

    def gates(t, matrix):
        y = net.make("FULLY_CONNECTED", [t, matrix, bias], [1, 3 * width], "FullyConnected", keepNumDims=False)
        return net.split(y, 3)

    for step in range(steps):
        now = net.reshape(net.slice(x, [0, step, 0], [1, 1, width]), 1, width)
        of_x, of_h = gates(now, weights[0]), gates(h, weights[1])
        update, reset = (net.unary("LOGISTIC", net.pair("ADD", of_x[k], of_h[k])) for k in range(2))
        new = net.unary("TANH", net.pair("ADD", of_x[2], net.pair("MUL", reset, of_h[2])))
        kept = net.pair("MUL", update, h)
        h = net.pair("ADD", kept, net.pair("MUL", net.pair("SUB", net.const(np.ones([1, width], np.float32)), update), new))
    return net.finish([h])


def chain(nodes=100, width=32):
    """Alternating products and functions, with sums over some of them."""
    net = Layers()
    x = first = net.input([1, 8, width])
    for k in range(nodes):
        kind = k % 5
        if kind == 0:
            x = net.dense(x, width)
        elif kind == 3:
            x = net.pair("ADD", x, first)
        else:
            x = net.unary(("TANH", "LOGISTIC", "ABS")[kind % 3], x)
    return net.finish([x])


NETWORKS = {
    "encoder": encoder,
    "decoder_step": decoder_step,
    "vision_transformer": vision_transformer,
    "mixer": mixer,
    "unrolled_gru": unrolled_gru,
}
LADDER = {f"chain_{nodes}": (lambda nodes=nodes: chain(nodes)) for nodes in (100, 200, 500, 1000)}
LADDER.update({f"gru_{17 * steps}": (lambda steps=steps: unrolled_gru(steps)) for steps in (6, 12, 30, 60)})
LADDER.update({f"encoder_{layers}": (lambda layers=layers: encoder(layers, 16, 64)) for layers in (2, 8, 24)})

"""A decoder with random weights and the signatures `prefill` and `decode`, as LiteRT-LM has them: keys and values of all
positions go in and come out, and a program binds both to one buffer."""

import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
import flatbuffer_net  # noqa: E402

LAYERS, WIDTH, HEADS, POSITIONS, TOKENS, WORDS = 2, 32, 2, 64, 8, 48
HEAD = WIDTH // HEADS
CACHE = (1, POSITIONS, WIDTH)  # of the keys, or the values, of one layer
STATE_BYTES = 2 * LAYERS * 4 * int(np.prod(CACHE))


class Decoder:
    """Of one signature."""

    def __init__(self, tokens):
        self.net, self.tokens, self.random = flatbuffer_net.Net(), tokens, np.random.default_rng(5)
        self.inputs, self.outputs = {}, {}

    def made(self, name, inputs, shape, **options):
        return self.net.op(name, inputs, [self.net.tensor(shape)], **options)

    def binary(self, name, a, b, shape):
        return self.made(name, [a, b], shape, options={"ADD": "Add", "MUL": "Mul"}[name])

    def product(self, x, rows, columns):
        """A fully connected layer."""
        weights = self.random.normal(0, 1 / np.sqrt(rows), (columns, rows)).astype(np.float32)
        bias = self.random.normal(0, 0.1, columns).astype(np.float32)
        shape = (1, self.tokens, columns)
        inputs = [x, self.net.const(weights), self.net.const(bias)]
        return self.made("FULLY_CONNECTED", inputs, shape, options="FullyConnected", keepNumDims=True)

    def heads(self, x, length):
        split = self.made("RESHAPE", [x, self.net.const(np.int32([1, length, HEADS, HEAD]))], (1, length, HEADS, HEAD), options="Reshape")
        return self.made("TRANSPOSE", [split, self.net.const(np.int32([0, 2, 1, 3]))], (1, HEADS, length, HEAD), options="Transpose")

    def remembered(self, name, x):
        """All positions of what x is of these tokens."""
        cache = self.net.input(CACHE)
        next_ = self.made("DYNAMIC_UPDATE_SLICE", [cache, x, self.inputs["at"]], CACHE)
        self.inputs[name], self.outputs[name] = cache, next_
        return self.heads(next_, POSITIONS)

    def attention(self, layer, x):
        q = self.heads(self.product(x, WIDTH, WIDTH), self.tokens)
        k = self.remembered(f"kv_cache_k_{layer}", self.product(x, WIDTH, WIDTH))
        v = self.remembered(f"kv_cache_v_{layer}", self.product(x, WIDTH, WIDTH))
        shape = (1, HEADS, self.tokens, POSITIONS)
        scores = self.made("BATCH_MATMUL", [q, k], shape, options="BatchMatMul", adjY=True)
        scores = self.binary("MUL", scores, self.net.const(np.float32(HEAD**-0.5)), shape)
        scores = self.binary("ADD", scores, self.inputs["mask"], shape)
        scores = self.made("SOFTMAX", [scores], shape, options="Softmax", beta=1.0)
        y = self.made("BATCH_MATMUL", [scores, v], (1, HEADS, self.tokens, HEAD), options="BatchMatMul")
        shape = (1, self.tokens, HEADS, HEAD)
        y = self.made("TRANSPOSE", [y, self.net.const(np.int32([0, 2, 1, 3]))], shape, options="Transpose")
        shape = (1, self.tokens, WIDTH)
        y = self.made("RESHAPE", [y, self.net.const(np.int32(shape))], shape, options="Reshape")
        return self.product(y, WIDTH, WIDTH)

    def finish(self, has_logits):
        shape = (1, self.tokens, WIDTH)
        self.inputs = {"words": self.net.input(shape)}
        self.inputs["at"] = self.net.input((3,), flatbuffer_net.INT32)
        self.inputs["mask"] = self.net.input((1, 1, self.tokens, POSITIONS))
        x = self.inputs["words"]
        for layer in range(LAYERS):
            x = self.binary("ADD", x, self.attention(layer, x), shape)
            wide = self.made("TANH", [self.product(x, WIDTH, 2 * WIDTH)], (1, self.tokens, 2 * WIDTH))
            x = self.binary("ADD", x, self.product(wide, 2 * WIDTH, WIDTH), shape)
        logits = self.product(x, WIDTH, WORDS)  # in both, so that both have the same weights
        if has_logits:
            self.outputs["logits"] = logits
        return self.net.finish(self.outputs.values())


def model():
    prefill, decode = Decoder(TOKENS), Decoder(1)
    first, second = prefill.finish(False), decode.finish(True)
    signatures = [("prefill", prefill.inputs, prefill.outputs), ("decode", decode.inputs, decode.outputs)]
    return flatbuffer_net.with_signatures(flatbuffer_net.add_subgraphs(first, [second]), signatures)


def step(first, tokens):
    """The inputs beside the states, for tokens from position `first` on."""
    words = np.random.default_rng(first).normal(0, 1, (1, tokens, WIDTH)).astype(np.float32)
    seen = np.arange(POSITIONS)[None, :] <= first + np.arange(tokens)[:, None]
    mask = np.where(seen, 0, -1e4).astype(np.float32)
    return {"words": words, "at": np.int32([0, first, 0]), "mask": mask[None, None]}

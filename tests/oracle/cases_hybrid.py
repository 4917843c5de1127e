"""Weights of 8 bits under float data, declared as the interpreter's kernels do not read them.

They read the bytes of uint8 as int8, and ignore the zero point of both.
"""

import numpy as np

import flatbuffer_net as fb

UNITS, DEPTH = 8, 24
DECLARATIONS = {"uint8": (fb.UINT8, 0), "uint8_zero_point": (fb.UINT8, 128), "int8_zero_point": (fb.INT8, 5)}
# Models of other families whose weights are declared anew. Other operators refuse uint8, or have models below.
MADE_ELSEWHERE = {
    "batch_matmul_hybrid": ("int8_zero_point",),
    "bidirectional_sequence_lstm_hybrid": ("uint8_zero_point",),
    "conv_2d_v2_hybrid_int8": DECLARATIONS,
    "conv_2d_v5_hybrid_int8": ("int8_zero_point",),
    "depthwise_conv_2d_v6_hybrid_int8": ("int8_zero_point",),
    "fully_connected_v12_hybrid_per_channel": ("uint8_zero_point",),
    "fully_connected_v3_hybrid": DECLARATIONS,
    "lstm_full_everything_hybrid": ("uint8_zero_point",),
    "unidirectional_sequence_lstm_hybrid": ("uint8",),
}


def declare_anew(data, dtype, zero_point):
    """The model with this type and zero point for its 8-bit constants, whose bytes stay."""
    model = fb.unpack(data)
    for tensor in model.subgraphs[0].tensors:
        if tensor.type == fb.INT8 and tensor.buffer != 0:
            tensor.type = dtype
            tensor.quantization.zeroPoint = [zero_point] * len(tensor.quantization.scale)
    return fb.pack(model)


def add_declared(models, name, data, entry, declaration):
    models.files[f"{name}_{declaration}.tflite"] = declare_anew(data, *DECLARATIONS[declaration])
    shows = f"weights declared as {declaration.replace('_', ' ')}"
    models.entries.append(
        entry | {"file": f"{name}_{declaration}.tflite", "family": models.family, "shows": shows, "tolerance": "hybrid"}
    )


def weights(net, random, *shape):
    return net.const(random.integers(-127, 128, shape), fb.INT8, (0.01, 0))


def add_recurrent(models):
    """Other than LSTM."""
    none = fb.schema.ActivationFunctionType.NONE
    for op, options, shape in (
        ("RNN", "RNN", (2, DEPTH)),
        ("UNIDIRECTIONAL_SEQUENCE_RNN", "SequenceRNN", (2, 3, DEPTH)),
        ("SVDF", "SVDF", (2, DEPTH)),
    ):
        net, random = fb.Net(), np.random.default_rng(5)
        x = net.input(shape)
        memory = 6 if op == "SVDF" else UNITS
        inputs = [x, weights(net, random, UNITS, DEPTH), weights(net, random, UNITS, memory)]
        inputs.append(net.const(np.zeros(UNITS, np.float32)))
        inputs.append(net.tensor((2, UNITS * memory if op == "SVDF" else UNITS), variable=True))
        y = net.tensor((*shape[:-1], UNITS))
        fields = {"rank": 1} if op == "SVDF" else {}
        net.op(op, inputs, [y], 2, options, fusedActivationFunction=none if op == "SVDF" else 4, **fields)
        models.built(op, f"{op.lower()}_hybrid", net, [y], [(-1, 1)], "8-bit weights", tolerance="hybrid")


def add_bidirectional(models):
    net, random = fb.Net(), np.random.default_rng(6)
    inputs = [net.input((2, 3, DEPTH))]
    for _ in range(2):
        inputs += [weights(net, random, UNITS, DEPTH), weights(net, random, UNITS, UNITS)]
        inputs += [net.const(np.zeros(UNITS, np.float32)), net.tensor((2, UNITS), variable=True)]
    y = [net.tensor((2, 3, UNITS)), net.tensor((2, 3, UNITS))]
    net.op("BIDIRECTIONAL_SEQUENCE_RNN", inputs + [-1] * 3, y, 2, "BidirectionalSequenceRNN", fusedActivationFunction=4)
    name = "bidirectional_sequence_rnn_hybrid"
    models.built("BIDIRECTIONAL_SEQUENCE_RNN", name, net, y, [(-1, 1)], "8-bit weights", tolerance="hybrid")


def add_table(models):
    net, random = fb.Net(), np.random.default_rng(7)
    ids, y = net.input((5,), fb.INT32), net.tensor((5, DEPTH))
    net.op("EMBEDDING_LOOKUP", [ids, weights(net, random, UNITS, DEPTH)], [y], 3)
    models.built("EMBEDDING_LOOKUP", "embedding_lookup_hybrid", net, [y], [(0, UNITS - 1)], "8-bit table")


def add_other_declarations(models):
    """After all other families."""
    add_recurrent(models)
    add_bidirectional(models)
    add_table(models)
    own = [entry["file"].removesuffix(".tflite") for entry in models.entries if entry["family"] == models.family]
    wanted = MADE_ELSEWHERE | {
        name: ("uint8",) if name.startswith("embedding") else ("uint8_zero_point",) for name in own
    }
    entries = {entry["file"]: entry for entry in models.entries}
    for name, declarations in wanted.items():
        file = f"{name}.tflite"
        for declaration in declarations:
            add_declared(models, name, models.files[file], entries[file], declaration)

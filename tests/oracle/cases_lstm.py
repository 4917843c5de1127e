"""Recurrent cells: the basic kernel, the full one with each of its options, and whole sequences."""

import numpy as np

import flatbuffer_net as fb

INPUT, CELLS, OUTPUT = 5, 8, 3
TANH = fb.schema.ActivationFunctionType.TANH


def add_basic(models):
    for name, batch, depth, cells, is_state in (
        ("one", 1, 5, 4, False),
        ("batch", 2, 3, 8, False),
        ("state", 1, 6, 4, True),
    ):
        net, random = fb.Net(), np.random.default_rng(21)
        x = net.input((batch, depth))
        if is_state:
            activation, state = (net.tensor((batch, cells), variable=True) for _ in range(2))
        else:
            activation, state = net.input((batch, cells)), net.input((batch, cells))
        weights = net.const(random.uniform(-0.6, 0.6, (4 * cells, depth + cells)).astype(np.float32))
        bias = net.const(random.uniform(-0.5, 0.5, (4 * cells,)).astype(np.float32))
        outputs = [net.tensor((batch, width)) for width in (cells, cells, depth + cells, 4 * cells)]
        net.op(
            "LSTM",
            [x, activation, weights, bias, state],
            outputs,
            2,
            "LSTM",
            kernelType=1,
            fusedActivationFunction=TANH,
        )
        models.built(
            "LSTM",
            f"lstm_basic_{name}",
            net,
            outputs[:2],
            [(-1, 1)],
            "basic kernel, state as variable tensors" if is_state else "basic kernel, state as inputs and outputs",
        )


def lstm_inputs(net, x, batch, cells, output, cifg, peephole, projection, norm, weight_type):
    """The 20 or 24 operands. `output` is the width of the output, `cells` that of the cell state."""
    random = np.random.default_rng(33)
    depth = net.tensors[x].shape[-1]

    def matrix(rows, columns):
        values = random.uniform(-0.7, 0.7, (rows, columns)).astype(np.float32)
        if weight_type == fb.FLOAT32:
            return net.const(values)
        scale = float(np.abs(values).max()) / 127
        return net.const(np.round(values / scale), weight_type, (scale, 0))

    def vector(low, high, size=cells):
        return net.const(random.uniform(low, high, (size,)).astype(np.float32))

    gates = range(4)  # input, forget, cell, output
    skipped = [cifg and gate == 0 for gate in gates]
    to_gates = [-1 if skipped[g] else matrix(cells, depth) for g in gates]
    recurrent = [-1 if skipped[g] else matrix(cells, output) for g in gates]
    peepholes = [-1] * 3
    if peephole:
        if weight_type == fb.FLOAT32:
            peepholes = [-1 if cifg and g == 0 else vector(-0.5, 0.5) for g in range(3)]
        else:
            peepholes = [
                -1 if cifg and g == 0 else net.const(random.integers(-127, 128, (cells,)), weight_type, (0.004, 0))
                for g in range(3)
            ]
    biases = [-1 if skipped[g] else vector(-0.5, 0.5) for g in gates]
    projections = [matrix(output, cells), vector(-0.2, 0.2, output)] if projection else [-1, -1]
    states = [net.tensor((batch, output), variable=True), net.tensor((batch, cells), variable=True)]
    norms = [-1 if skipped[g] else vector(0.5, 1.5) for g in gates] if norm else []
    return [x] + to_gates + recurrent + peepholes + biases + projections + states + norms


FORMS = {  # of the full kernel
    "plain": {},
    "cifg": {"cifg": True},
    "peephole": {"peephole": True},
    "projection": {"projection": True},
    "cifg_peephole_projection": {"cifg": True, "peephole": True, "projection": True},
    "layer_norm": {"norm": True},
    "everything": {"peephole": True, "projection": True, "norm": True},
    "clip": {"projection": True, "cell_clip": 0.4, "proj_clip": 0.2},
    "cifg_layer_norm": {"cifg": True, "norm": True},
}


def lstm(
    models,
    op,
    name,
    shape,
    batch,
    version=1,
    weight_type=fb.FLOAT32,
    cell_clip=0.0,
    proj_clip=0.0,
    shows="",
    projection=False,
    cifg=False,
    peephole=False,
    norm=False,
    **options,
):
    net = fb.Net()
    x = net.input(shape)
    output = OUTPUT if projection else CELLS
    inputs = lstm_inputs(net, x, batch, CELLS, output, cifg, peephole, projection, norm, weight_type)
    y = net.tensor([*shape[:-1], output])
    net.op(
        op,
        inputs,
        [y],
        version,
        "LSTM" if op == "LSTM" else "UnidirectionalSequenceLSTM",
        fusedActivationFunction=TANH,
        cellClip=cell_clip,
        projClip=proj_clip,
        **options,
    )
    models.built(
        op,
        f"{op.lower()}_{name}",
        net,
        [y],
        [(-1, 1)],
        shows or name.replace("_", " "),
        tolerance="float" if weight_type == fb.FLOAT32 else "hybrid",
    )


def add_full(models):
    for name, form in FORMS.items():
        lstm(models, "LSTM", f"full_{name}", (1, INPUT), 1, **form)
    lstm(models, "LSTM", "full_batch", (3, INPUT), 3)
    for name, version, asymmetric in (("hybrid", 3, False), ("hybrid_asymmetric", 4, True)):
        lstm(models, "LSTM", f"full_{name}", (1, INPUT), 1, version, fb.INT8, asymmetricQuantizeInputs=asymmetric)
        lstm(
            models,
            "LSTM",
            f"full_everything_{name}",
            (2, INPUT),
            2,
            version,
            fb.INT8,
            asymmetricQuantizeInputs=asymmetric,
            **FORMS["everything"],
        )


def add_sequences(models):
    op = "UNIDIRECTIONAL_SEQUENCE_LSTM"
    for name, form in FORMS.items():
        lstm(models, op, name, (2, 4, INPUT), 2, **form)
    lstm(models, op, "time_major", (4, 2, INPUT), 2, timeMajor=True)
    lstm(models, op, "one_step", (1, 1, INPUT), 1)
    lstm(models, op, "hybrid", (2, 3, INPUT), 2, 2, fb.INT8)
    lstm(models, op, "hybrid_asymmetric", (2, 3, INPUT), 2, 3, fb.INT8, asymmetricQuantizeInputs=True)

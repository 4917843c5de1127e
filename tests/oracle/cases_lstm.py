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


def lstm_inputs(net, x, batch, cells, output, cifg, peephole, projection, norm, weight_type, seed=33):
    """The 20 or 24 operands. `output` is the width of the output, `cells` that of the cell state."""
    random = np.random.default_rng(seed)
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



def add_simple(models):
    """RNN, SVDF, and sequences of RNN."""
    random = np.random.default_rng(44)

    def constant(net, *dims):
        return net.const(random.uniform(-0.5, 0.5, dims).astype(np.float32))

    for name, shape, batch, time_major in (
        ("step", (2, INPUT), 2, None),
        ("sequence", (2, 4, INPUT), 2, False),
        ("time_major", (4, 2, INPUT), 2, True),
    ):
        net = fb.Net()
        inputs = [net.input(shape), constant(net, CELLS, INPUT), constant(net, CELLS, CELLS), constant(net, CELLS)]
        inputs.append(net.tensor((batch, CELLS), variable=True))
        y = net.tensor((*shape[:-1], CELLS))
        op, options = ("RNN", {}) if time_major is None else ("UNIDIRECTIONAL_SEQUENCE_RNN", {"timeMajor": time_major})
        net.op(
            op, inputs, [y], 1, "RNN" if op == "RNN" else "SequenceRNN", fusedActivationFunction=TANH, **options
        )
        models.built(op, f"{op.lower()}_{name}", net, [y], [(-1, 1)], name)
    for name, rank, bias in (("rank_1", 1, True), ("rank_2", 2, False)):
        net, units, memory = fb.Net(), 4, 6
        filters = units * rank
        inputs = [net.input((2, INPUT)), constant(net, filters, INPUT), constant(net, filters, memory)]
        inputs += [constant(net, units) if bias else -1, net.tensor((2, filters * memory), variable=True)]
        y = net.tensor((2, units))
        net.op("SVDF", inputs, [y], 1, "SVDF", rank=rank)
        models.built("SVDF", f"svdf_{name}", net, [y], [(-1, 1)], name)


def bidirectional_lstm(models, name, shape, merge, time_major=False, weight_type=fb.FLOAT32, auxiliary=None, **form):
    """`auxiliary`: none, "parallel" (the second direction reads it) or "joined" (both read it beside x)."""
    net = fb.Net()
    x = net.input(shape)
    batch = shape[1] if time_major else shape[0]
    output = OUTPUT if form.get("projection") else CELLS
    form = {key: form.get(key, False) for key in ("cifg", "peephole", "projection")}
    directions = [
        lstm_inputs(net, x, batch, CELLS, output, **form, norm=False, weight_type=weight_type, seed=seed)
        for seed in (5, 6)
    ]
    inputs = [x] + directions[0][1:18] + directions[1][1:18]
    inputs += directions[0][18:20] + directions[1][18:20]
    inputs += [net.input(shape) if auxiliary else -1]
    random = np.random.default_rng(11)
    for _ in range(8):
        values = random.uniform(-0.5, 0.5, (CELLS, INPUT)).astype(np.float32)
        inputs.append(net.const(values) if auxiliary == "joined" else -1)
    widths = [2 * output] if merge else [output, output]
    outputs = [net.tensor([*shape[:-1], width]) for width in widths]
    net.op(
        "BIDIRECTIONAL_SEQUENCE_LSTM",
        inputs,
        outputs,
        1 if weight_type == fb.FLOAT32 else 3,
        "BidirectionalSequenceLSTM",
        fusedActivationFunction=TANH,
        mergeOutputs=merge,
        timeMajor=time_major,
    )
    models.built(
        "BIDIRECTIONAL_SEQUENCE_LSTM",
        f"bidirectional_sequence_lstm_{name}",
        net,
        outputs,
        [(-1, 1)],
        name.replace("_", " "),
        tolerance="float" if weight_type == fb.FLOAT32 else "hybrid",
    )


def bidirectional_rnn(models, name, shape, merge, time_major=False, auxiliary=None):
    net = fb.Net()
    x, random = net.input(shape), np.random.default_rng(12)
    batch = shape[1] if time_major else shape[0]

    def matrix(*dims):
        return net.const(random.uniform(-0.5, 0.5, dims).astype(np.float32))

    inputs = [x]
    for _ in range(2):
        inputs += [matrix(CELLS, INPUT), matrix(CELLS, CELLS), matrix(CELLS)]
        inputs += [net.tensor((batch, CELLS), variable=True)]
    inputs += [net.input(shape)] if auxiliary else [-1]
    inputs += [matrix(CELLS, INPUT) if auxiliary == "joined" else -1 for _ in range(2)]
    outputs = [net.tensor([*shape[:-1], width]) for width in ([2 * CELLS] if merge else [CELLS, CELLS])]
    net.op(
        "BIDIRECTIONAL_SEQUENCE_RNN",
        inputs,
        outputs,
        1,
        "BidirectionalSequenceRNN",
        fusedActivationFunction=TANH,
        mergeOutputs=merge,
        timeMajor=time_major,
    )
    models.built(
        "BIDIRECTIONAL_SEQUENCE_RNN", f"bidirectional_sequence_rnn_{name}", net, outputs, [(-1, 1)], name
    )


def add_bidirectional(models):
    """Not among them, since the interpreter contradicts itself there: outputs of an LSTM that are merged batch by
    batch, and an auxiliary input without weights of its own that an RNN reads batch by batch."""
    sequence, steps = (2, 4, INPUT), (4, 2, INPUT)
    bidirectional_lstm(models, "apart", sequence, False)
    bidirectional_lstm(models, "merged", steps, True, time_major=True)
    bidirectional_lstm(models, "cifg_projection", sequence, False, cifg=True, projection=True)
    bidirectional_lstm(models, "peephole", steps, True, time_major=True, peephole=True)
    bidirectional_lstm(models, "parallel_auxiliary", sequence, False, auxiliary="parallel")
    bidirectional_lstm(models, "joined_auxiliary", sequence, False, auxiliary="joined")
    bidirectional_lstm(models, "hybrid", sequence, False, weight_type=fb.INT8)
    bidirectional_rnn(models, "merged", sequence, True)
    bidirectional_rnn(models, "apart", sequence, False)
    bidirectional_rnn(models, "time_major", steps, True, time_major=True)
    bidirectional_rnn(models, "parallel_auxiliary", steps, False, time_major=True, auxiliary="parallel")
    bidirectional_rnn(models, "joined_auxiliary", sequence, True, auxiliary="joined")

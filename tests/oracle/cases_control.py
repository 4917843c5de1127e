"""Loops and branches: what goes around and through them in odd ways, and state in them."""

import numpy as np

import flatbuffer_net as fb

VECTOR, COUNT, TRUTH = ((4,), fb.FLOAT32), ((), fb.INT32), ((), fb.BOOL)


def number(net, value):
    return net.const(np.float32(value))


def ints(net, *values):
    return net.const(np.array(values, np.int32))


def add(net, a, b, kind=VECTOR):
    return net.op("ADD", [a, b], [net.tensor(*kind)], options="Add")


def next_of(net, counter):
    return add(net, counter, net.const(np.int32(1)), COUNT)


def scaled(net, x, factor):
    return net.op("MUL", [x, number(net, factor)], [net.tensor(*VECTOR)], options="Mul")


def less(net, a, b):
    return net.op("LESS", [a, b], [net.tensor(*TRUTH)], options="Less")


def total(net, x):
    return net.op("SUM", [x, ints(net, 0)], [net.tensor(())], options="Reducer")


def is_positive(net, x):
    return net.op("GREATER", [total(net, x), number(net, 0)], [net.tensor(*TRUTH)], options="Greater")


def draw(net):
    return net.op("RANDOM_UNIFORM", [ints(net, 4)], [net.tensor(*VECTOR)], options="Random", seed=3, seed2=4)


def remembered(net, x):
    """The sum of x and of the halves of what came before, which a variable tensor holds."""
    matrix = net.op("RESHAPE", [x, ints(net, 1, 4)], [net.tensor((1, 4))])
    features = net.const(np.eye(4, dtype=np.float32))
    time = net.const(np.tile(np.array([0.25, 0.5, 1], np.float32), (4, 1)))
    memory = net.tensor((1, 12), variable=True)
    made = net.op("SVDF", [matrix, features, time, -1, memory], [net.tensor((1, 4))], options="SVDF", rank=1)
    return net.op("RESHAPE", [made, ints(net, 4)], [net.tensor(*VECTOR)])


def part(kinds, build):
    """A finished subgraph with inputs of these shapes and types."""
    net = fb.Net()
    inputs = [net.input(*kind) for kind in kinds]
    return net.finish(build(net, *inputs))


def loop(net, operands, kinds, condition=1):
    made = [net.tensor(*kind) for kind in kinds]
    net.op("WHILE", operands, made, options="While", condSubgraphIndex=condition, bodySubgraphIndex=condition + 1)
    return made


def branch(net, operands, kinds, first=1):
    made = [net.tensor(*kind) for kind in kinds]
    net.op("IF", operands, made, options="If", thenSubgraphIndex=first, elseSubgraphIndex=first + 1)
    return made


def few_turns(turns, *more):
    return part([COUNT, VECTOR, *more], lambda net, i, *_: [less(net, i, net.const(np.int32(turns)))])


def add_loops(models):
    """Each with a counter that is known, so that the turns are written out, and with one that the first input gives."""
    bodies = {
        "scales": lambda net, i, x: [next_of(net, i), scaled(net, x, 1.5)],
        "remembers": lambda net, i, x: [next_of(net, i), add(net, x, remembered(net, x))],
        "draws": lambda net, i, x: [next_of(net, i), add(net, x, draw(net))],
        "gives_a_constant": lambda net, i, x: [next_of(net, i), net.const(np.arange(4, dtype=np.float32))],
        "chooses": lambda net, i, x: [next_of(net, i), *branch(net, [is_positive(net, x), x], [VECTOR], 3)],
        "loops": lambda net, i, x: [next_of(net, i), loop(net, [i, x], [COUNT, VECTOR], 3)[1]],
    }
    behind = {
        "chooses": lambda: [
            part([VECTOR], lambda net, x: [add(net, remembered(net, x), number(net, -3))]),
            part([VECTOR], lambda net, x: [add(net, scaled(net, x, -1), draw(net))]),
        ],
        "loops": lambda: [
            few_turns(5),
            part([COUNT, VECTOR], lambda net, i, x: [next_of(net, i), add(net, x, remembered(net, x))]),
        ],
    }
    for name, body in bodies.items():
        for kind, turns in (("known", 3), ("computed", 4), ("none", 0)):
            net = fb.Net()
            counter = net.const(np.int32(0)) if kind != "computed" else net.input(*COUNT)
            x = net.input(*VECTOR)
            made = loop(net, [counter, x], [COUNT, VECTOR])
            net.further = [few_turns(turns), part([COUNT, VECTOR], body), *behind.get(name, list)()]
            y = add(net, made[1], number(net, 0.5))
            ranges = [(0, 3), (-2, 2)] if kind == "computed" else [(-2, 2)]
            models.built("WHILE", f"while_{name}_{kind}", net, [y], ranges, f"{kind} turns")


def without_the_first(net, x):
    inputs = [x, ints(net, 1), ints(net, 0), ints(net, 1)]
    return net.op("STRIDED_SLICE", inputs, [net.tensor((3,))], options="StridedSlice", endMask=1)


def add_ends(models):
    """Loops that data end, within a number of turns and without one."""
    for name, limit in (("bounded", 9), ("unbounded", None)):
        net = fb.Net()
        counter, x = net.const(np.int32(0)), net.input(*VECTOR)
        made = loop(net, [counter, x], [COUNT, VECTOR])

        def condition(net, i, x, limit=limit):
            goes_on = less(net, total(net, x), number(net, 20))
            if limit is None:
                return [goes_on]
            few = less(net, i, net.const(np.int32(limit)))
            return [net.op("LOGICAL_AND", [few, goes_on], [net.tensor(*TRUTH)])]

        def body(net, i, x):
            longer = net.op("ABS", [add(net, x, remembered(net, x))], [net.tensor(*VECTOR)], options="Abs")
            return [next_of(net, i), add(net, longer, number(net, 0.5))]

        net.further = [part([COUNT, VECTOR], condition), part([COUNT, VECTOR], body)]
        models.built("WHILE", f"while_data_end_{name}", net, made, [(-2, 2)], f"ended by data, {name}")
    for name, change in (
        ("shrinks", without_the_first),
        ("grows", lambda net, x: net.op("CONCATENATION", [x, x], [net.tensor((8,))], options="Concatenation", axis=0)),
    ):
        net = fb.Net()
        last = ((16 if name == "grows" else 2,), fb.FLOAT32)
        made = loop(net, [net.const(np.int32(0)), net.input(*VECTOR)], [COUNT, last])
        body = part([COUNT, VECTOR], lambda net, i, x, change=change: [next_of(net, i), change(net, x)])
        net.further = [few_turns(2), body]
        models.built("WHILE", f"while_{name}", net, [made[1]], [(-2, 2)], "another shape in each turn", moves=True)


def add_branches(models):
    def pass_on(net, x, y):
        return [x, y]

    for name, then, other in (
        (
            "calculates",
            lambda net, x, y: [add(net, x, y), scaled(net, y, 2)],
            lambda net, x, y: [scaled(net, x, 3), add(net, x, y)],
        ),
        ("passes_on", pass_on, pass_on),
        ("exchanges", pass_on, lambda net, x, y: [y, x]),
        ("remembers", lambda net, x, y: [remembered(net, x), y], lambda net, x, y: [x, remembered(net, y)]),
        ("draws", lambda net, x, y: [draw(net), y], lambda net, x, y: [x, add(net, draw(net), y)]),
        (
            "loops",
            lambda net, x, y: [loop(net, [net.const(np.int32(0)), x], [COUNT, VECTOR], 3)[1], y],
            lambda net, x, y: [scaled(net, x, -1), add(net, x, y)],
        ),
    ):
        net = fb.Net()
        x, y = net.input(*VECTOR), net.input(*VECTOR)
        made = branch(net, [is_positive(net, x), x, y], [VECTOR, VECTOR])
        net.further = [part([VECTOR, VECTOR], then), part([VECTOR, VECTOR], other)]
        if name == "loops":
            body = part([COUNT, VECTOR], lambda net, i, x: [next_of(net, i), add(net, remembered(net, x), draw(net))])
            net.further += [few_turns(3), body]
        models.built("IF", f"if_{name}", net, made, [(-2, 2)], name)

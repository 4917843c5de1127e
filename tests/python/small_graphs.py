"""Networks of a few operations, built in memory, and where they run unless a test says otherwise."""

import hearth

CPU = {"device": "cpu", "cache": False}


def negated_sum():
    """y = -(x + all x before), [1, 4]."""
    graph = hearth.Graph("sum")
    x, memory = graph.input("x", (1, 4)), graph.state("memory", (1, 4))
    total = graph.binary("add", x, memory)
    graph.update(memory, total)
    graph.output(graph.unary("neg", total), "y")
    return graph.build()


def negated():
    """y = -x, [1, 4]."""
    graph = hearth.Graph("negated")
    graph.output(graph.unary("neg", graph.input("x", (1, 4))), "y")
    return graph.build()

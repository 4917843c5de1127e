"""Networks that a program builds."""

import hearth
import numpy as np
import pytest
from small_graphs import CPU


@pytest.mark.parametrize("values", [None, [1j], np.ones(2, np.complex64), [object()], ["1"]])
def test_a_constant_of_a_graph_is_made_of_real_numbers(values):
    with pytest.raises(TypeError, match="constant 'c': .* are not real numbers"):
        hearth.Graph().constant("c", values)


def test_mistakes_in_a_graph_are_raised_when_it_is_built():
    graph = hearth.Graph("broken")
    x = graph.input("x", (1, 4))
    graph.output(graph.unary("colour", x), "y")
    with pytest.raises(hearth.Error, match="'colour'"):
        graph.build()
    with pytest.raises(hearth.Error, match="built before"):
        graph.build()
    with pytest.raises(hearth.Error, match="no padding"):
        hearth.Graph().max_pool_2d(x, (2, 2), padding="some")


def test_every_operation_of_the_graph_runs():
    graph = hearth.Graph()
    x = graph.input("x", (1, 4, 4, 1))
    kernel = graph.constant("k", np.ones((1, 2, 2, 1)))
    y = graph.depthwise_conv_2d(graph.conv_2d(x, kernel, activation="relu"), kernel)
    pools = [graph.average_pool_2d(y, (2, 2), stride=(2, 2)), graph.max_pool_2d(y, (2, 2), stride=(2, 2))]
    row = graph.reshape(graph.resize_bilinear(graph.concat(pools, 3), (2, 1)), (1, 4))
    dense = graph.fully_connected(row, graph.constant("w", np.ones((2, 4))), graph.constant("b", [1, 1]))
    graph.output(graph.softmax(dense), "scores")
    (scores,) = hearth.Session(graph.build(), **CPU).run(np.ones((1, 4, 4, 1), np.float32))
    assert scores.tolist() == [[0.5, 0.5]]

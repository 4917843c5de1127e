"""Networks from code. Shapes and semantics are TFLite's; all tensors are float32."""

from typing import Any, Optional, Sequence, Tuple

import numpy as np

from hearth import _hearth
from hearth._hearth import GraphTensor as GraphTensor  # which mypy then counts as exported
from hearth._session import Model
from hearth._shapes import shape_list

Pair = Tuple[int, int]


class Graph:
    """A network that is being built.

        graph = hearth.Graph("edges")
        x = graph.input("image", (1, 64, 64, 1))
        graph.output(graph.conv_2d(x, graph.constant("kernel", weights)), "edges")
        model = graph.build()  # the first mistake, if any, is raised here

    Pairs are (height, width). Paddings: "same", "valid". Activations: "none", "relu", "relu6", "relu_n1_to_1", "tanh",
    "sigmoid". One thread at a time.
    """

    def __init__(self, name: str = "graph"):
        self._native = _hearth.Graph(name)

    def input(self, name: str, shape: Sequence[int]) -> GraphTensor:
        return self._native.input(name, shape_list(shape, f"shape of {name!r}"))

    def constant(self, name: str, values: Any) -> GraphTensor:
        given = np.asarray(values)
        if given.dtype.kind not in "fiub":  # numpy would make NaN of None, and drop imaginary parts
            raise TypeError(f"constant {name!r}: {given.dtype} are not real numbers")
        array = np.asarray(given, np.float32, order="C")
        return self._native.constant(name, list(array.shape), array)

    def output(self, tensor: GraphTensor, name: str) -> None:
        self._native.output(tensor, name)

    def state(self, name: str, shape: Sequence[int]) -> GraphTensor:
        """A state of the network: zeros in the first run, then the value of `update` in the previous run."""
        return self._native.state(name, shape_list(shape, f"shape of {name!r}"))

    def update(self, state: GraphTensor, to: GraphTensor) -> None:
        self._native.update(state, to)

    def conv_2d(
        self,
        x: GraphTensor,
        filter: GraphTensor,
        bias: Optional[GraphTensor] = None,
        *,
        stride: Pair = (1, 1),
        dilation: Pair = (1, 1),
        padding: str = "same",
        activation: str = "none",
    ) -> GraphTensor:
        """filter [O, kh, kw, I], bias [O]"""
        return self._native.conv_2d(x, filter, bias, stride, dilation, padding, activation)

    def depthwise_conv_2d(
        self,
        x: GraphTensor,
        filter: GraphTensor,
        bias: Optional[GraphTensor] = None,
        *,
        stride: Pair = (1, 1),
        dilation: Pair = (1, 1),
        padding: str = "same",
        activation: str = "none",
    ) -> GraphTensor:
        """filter [1, kh, kw, C * multiplier]"""
        return self._native.depthwise_conv_2d(x, filter, bias, stride, dilation, padding, activation)

    def average_pool_2d(
        self,
        x: GraphTensor,
        kernel: Pair,
        *,
        stride: Pair = (1, 1),
        padding: str = "same",
        activation: str = "none",
    ) -> GraphTensor:
        return self._native.average_pool_2d(x, kernel, stride, padding, activation)

    def max_pool_2d(
        self,
        x: GraphTensor,
        kernel: Pair,
        *,
        stride: Pair = (1, 1),
        padding: str = "same",
        activation: str = "none",
    ) -> GraphTensor:
        return self._native.max_pool_2d(x, kernel, stride, padding, activation)

    def fully_connected(
        self, x: GraphTensor, filter: GraphTensor, bias: Optional[GraphTensor] = None, *, activation: str = "none"
    ) -> GraphTensor:
        """filter [O, I], bias [O]"""
        return self._native.fully_connected(x, filter, bias, activation)

    def binary(self, op: str, a: GraphTensor, b: GraphTensor, *, activation: str = "none") -> GraphTensor:
        """`op`: "add", "sub", "mul", "div", "maximum", "minimum", ..."""
        return self._native.binary(op, a, b, activation)

    def unary(self, op: str, x: GraphTensor) -> GraphTensor:
        """`op`: "relu", "relu6", "tanh", "logistic", "exp", ..."""
        return self._native.unary(op, x)

    def concat(self, tensors: Sequence[GraphTensor], axis: int) -> GraphTensor:
        return self._native.concat(list(tensors), axis)

    def resize_bilinear(
        self, x: GraphTensor, size: Pair, *, align_corners: bool = False, half_pixel_centers: bool = False
    ) -> GraphTensor:
        return self._native.resize_bilinear(x, size, align_corners, half_pixel_centers)

    def reshape(self, x: GraphTensor, shape: Sequence[int]) -> GraphTensor:
        return self._native.reshape(x, shape_list(shape, "shape"))

    def softmax(self, x: GraphTensor, beta: float = 1.0) -> GraphTensor:
        return self._native.softmax(x, beta)

    def build(self) -> Model:
        """Returns the finished model. The graph can't be used afterwards."""
        return Model._of(self._native.build())

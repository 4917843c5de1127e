"""Operators of one's own as Python functions."""

import atexit
import contextlib
import dataclasses
import weakref
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from hearth import _hearth

_NativeTensor = Tuple[str, Tuple[int, ...], Optional[memoryview], Tuple[float, ...], Tuple[int, ...]]


@dataclasses.dataclass(frozen=True)
class OpInput:
    """An input of an operator while the outputs' shapes are asked for."""

    dtype: np.dtype
    shape: Tuple[int, ...]
    value: Optional[np.ndarray]
    """What it holds, if the file says so."""
    scales: Tuple[float, ...]
    """Quantized tensors: real = scale * (stored - zero_point)."""
    zero_points: Tuple[int, ...]


def _array(tensor: Optional[_NativeTensor]) -> Optional[np.ndarray]:
    """A copy: the memory is Hearth's."""
    if tensor is None or tensor[2] is None:
        return None
    return np.frombuffer(tensor[2], np.dtype(tensor[0])).reshape(tensor[1]).copy()


class CustomOp:
    """An operator that Hearth lacks, computed by Python functions on the CPU.

        mish = hearth.CustomOp("Mish", lambda x: x * np.tanh(np.log1p(np.exp(x))))
        session = hearth.Session("model.tflite", custom_ops=[mish])

    `name`: a .tflite operator's custom_code; of .onnx files "domain::OpType", or "OpType" for the domain ai.onnx. It comes
    before Hearth's own operator of the same name.
    `run(*inputs, **attributes)`: takes arrays (None for an absent input), returns the output or a list of outputs. A .tflite
    operator's custom_options, if it has any, are the keyword `options`, as bytes; an .onnx node's attributes are keywords
    (int, float, bytes, or lists of these).
    `shapes(*inputs, **attributes)`: takes OpInputs, returns a list with (dtype, shape) for each output. Without it all
    outputs are like the first input. It must depend on nothing else: it is called whenever a plan is made.
    `version`: change it with what the functions do; the cache keeps no plan of another version.

    The functions are kept alive by models and sessions. They may be called from several threads, one at a time (with the
    GIL), and on zeros while a session starts. Their exceptions become hearth.Error of the call, with their text.
    """

    def __init__(
        self,
        name: str,
        run: Callable[..., Any],
        shapes: Optional[Callable[..., Sequence[Tuple[Any, Sequence[int]]]]] = None,
        *,
        version: str = "",
    ):
        if not callable(run) or not (shapes is None or callable(shapes)):
            raise TypeError(f"CustomOp {name!r}: run and shapes are functions")
        self.name, self.version = name, version
        self._function, self._shapes = run, shapes

    def __repr__(self) -> str:
        return f"<hearth.CustomOp {self.name!r}>"

    def _infer(
        self, inputs: List[Optional[_NativeTensor]], count: int, attributes: Dict[str, Any]
    ) -> List[Tuple[str, List[int]]]:
        given = [t and OpInput(np.dtype(t[0]), t[1], _array(t), t[3], t[4]) for t in inputs]
        if self._shapes is not None:
            made = list(self._shapes(*given, **attributes))
        else:
            made = [(given[0].dtype, given[0].shape)] * count if given and given[0] else []
        if len(made) != count:
            raise ValueError(f"the shapes of {len(made)} outputs are given, it has {count}")
        return [(np.dtype(dtype).name, [int(size) for size in shape]) for dtype, shape in made]

    def _run(
        self, inputs: List[Optional[_NativeTensor]], outputs: List[_NativeTensor], attributes: Dict[str, Any]
    ) -> None:
        made = self._function(*[_array(tensor) for tensor in inputs], **attributes)
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        if len(made) != len(outputs):
            raise ValueError(f"{len(made)} outputs were made, it has {len(outputs)}")
        for array, (dtype, shape, memory, *_) in zip(made, outputs):
            if np.shape(array) != shape:
                raise ValueError(f"an output of shape {np.shape(array)} was made, {shape} was told")
            np.copyto(np.frombuffer(memory or b"", dtype).reshape(shape), array, casting="same_kind")


_sessions: "weakref.WeakSet[Any]" = weakref.WeakSet()  # those that may have such operators
_are_used = False


def close_at_exit(session: Any) -> None:
    if _are_used:
        _sessions.add(session)


@atexit.register
def _close_sessions() -> None:
    """Python ends the threads that want its lock behind its end, and a session's end would wait for its own for ever."""
    for session in list(_sessions):
        with contextlib.suppress(Exception):  # another thread runs it
            session.close()


def _native_op(op: CustomOp) -> "_hearth.NativeOp":
    """With functions that do not keep the operator: what refers to a session of its own could never be collected."""
    alive = weakref.ref(op)

    def infer(*given: Any) -> List[Tuple[str, List[int]]]:
        return _living(alive)._infer(*given)

    def run(*given: Any) -> None:
        _living(alive)._run(*given)

    return op.name, op.version, infer, run


def _living(alive: "weakref.ref[CustomOp]") -> CustomOp:
    op = alive()
    if op is None:
        raise ReferenceError("the operator's model and sessions are gone")
    return op


def native_ops(ops: Optional[Sequence[CustomOp]]) -> "List[_hearth.NativeOp]":
    global _are_used
    listed = list(ops or [])
    _are_used = _are_used or bool(listed)
    for op in listed:
        if not isinstance(op, CustomOp):
            raise TypeError(f"custom_ops: {op!r} is no hearth.CustomOp")
    return [_native_op(op) for op in listed]

"""Hearth: neural networks on whatever compute driver a machine has.

    import hearth, numpy as np

    session = hearth.Session("mobilenet.tflite", device="auto")
    (scores,) = session.run(image)                  # numpy in, numpy out
    print(session.report()["ready_ms"], scores.argmax())

Threads: all objects may be used from several threads; the GIL is released while Hearth works, and calls of one session
wait for each other. Errors raise hearth.Error, whose message says what, where and what to do.
"""

from typing import Callable, Dict, List, Mapping, Optional, Tuple, TypedDict, Union, cast

from hearth import _hearth
from hearth._hearth import Error, __version__
from hearth._errors import ErrorCode, ModelNotFoundError, Warning, log_as_python_does  # noqa: A004
from hearth._cache import Cache
from hearth._frame import DmaBuf, Frame
from hearth._graph import Graph, GraphTensor
from hearth._ops import CustomOp, OpInput
from hearth._program import delegate_path, litert_runtime_path
from hearth._results import Box, ClassArea, KeyPoint, KeyPoints, Result, ScoredClass
from hearth._session import Model, ProfileEntry, Session, Tensor, Ticket
from hearth._types import DeviceLimits, Report, SessionOptions

__all__ = [
    "Box",
    "Cache",
    "ClassArea",
    "CustomOp",
    "Device",
    "DeviceLimits",
    "DmaBuf",
    "Error",
    "ErrorCode",
    "Frame",
    "Graph",
    "GraphTensor",
    "KeyPoint",
    "KeyPoints",
    "Model",
    "ModelNotFoundError",
    "OpInput",
    "ProfileEntry",
    "Report",
    "Result",
    "ScoredClass",
    "Session",
    "SessionOptions",
    "Tensor",
    "Ticket",
    "Warning",
    "__version__",
    "delegate_path",
    "devices",
    "litert_runtime_path",
    "log_to",
    "option_names",
]


class Device(TypedDict):
    """One compute device; `reason` says why it is not usable."""

    id: str
    backend: str
    name: str
    driver: str
    type: str
    usable: bool
    reason: str
    features: Dict[str, str]
    limits: Optional[DeviceLimits]
    """The features that are numbers, sizes ("1024x1024x64") or switches, as such; None if the device could not be opened."""


_TEXT_FEATURES = ("vendor", "uuid", "driver_environment")


def _limits(features: Mapping[str, str]) -> Optional[DeviceLimits]:
    def value(text: str) -> Union[bool, int, Tuple[int, ...]]:
        if text in ("yes", "no"):
            return text == "yes"
        numbers = tuple(int(part) for part in text.split("x"))
        return numbers if len(numbers) > 1 else numbers[0]

    limits = {name: value(text) for name, text in features.items() if name not in _TEXT_FEATURES}
    return cast(DeviceLimits, limits) if limits else None


def devices() -> List[Device]:
    """Every device of every backend, usable or not. Opens each driver: up to a second."""
    return [cast(Device, {**device, "limits": _limits(device["features"])}) for device in _hearth.devices()]


def option_names() -> Dict[str, str]:
    """The names of a session's options, each with its allowed values."""
    return dict(_hearth.option_names())


def log_to(callback: Optional[Callable[[str, str], None]]) -> None:
    """Gives Hearth's messages to callback(level, message), level "debug", "info", "warning" or "error".

    None, the default: warnings are Python's warnings (hearth.Warning), the rest goes to the logger "hearth". With the
    environment variable HEARTH_LOG (off, error, warning, info, debug) all goes to standard error instead. There is one
    callback per process. What a call has to say is told when its work is done, on its thread: an exception of the callback
    (or of warnings that are errors) is then the call's. Hearth's own threads call it at any time. It must not call Hearth.
    """
    if callback is None:
        log_as_python_does()
    elif callable(callback):
        _hearth.log_to(callback)
    else:
        raise TypeError(f"log_to takes a function or None, not {type(callback).__name__}")


log_as_python_does()

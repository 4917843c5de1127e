"""The kinds of hearth.Error, and the default destination of Hearth's messages in Python."""

import atexit
import enum
import errno
import logging
import os
import sys
import warnings
from typing import Callable, TypeVar, Union

from hearth import _hearth

Opened = TypeVar("Opened")


class ErrorCode(str, enum.Enum):
    """The code of an Error. Each is also its text: code == "not found"."""

    INVALID_ARGUMENT = "invalid argument"
    MALFORMED_INPUT = "malformed input"
    NOT_FOUND = "not found"
    UNSUPPORTED = "unsupported"
    UNAVAILABLE = "unavailable"
    RESOURCE_EXHAUSTED = "resource exhausted"
    DEVICE_LOST = "device lost"
    IO_ERROR = "input/output error"
    INTERNAL_ERROR = "internal error"

    def __str__(self) -> str:
        return self.value


class ModelNotFoundError(FileNotFoundError, _hearth.Error):
    """A missing file: an Error and Python's FileNotFoundError."""

    code = ErrorCode.NOT_FOUND

    def __str__(self) -> str:
        return self.strerror or ""


class Warning(UserWarning):  # noqa: A001: hearth.Warning
    """Something works, but not as well as possible. Also in Session.report()["warnings"]."""


def opened(path: Union[str, bytes], make: Callable[[], Opened]) -> Opened:
    """Calls `make`, which opens the file, and raises ModelNotFoundError if it is missing."""
    try:
        return make()
    except _hearth.Error as error:
        if error.code != ErrorCode.NOT_FOUND or os.path.exists(path):
            raise
        raise ModelNotFoundError(errno.ENOENT, str(error), path) from None


_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "error": logging.ERROR}


def _callers_level() -> int:
    """The stack level for warnings.warn: the first frame outside of this package."""
    level, frame = 1, sys._getframe(1)
    folder = os.path.dirname(__file__)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == folder:
        level, frame = level + 1, frame.f_back
    return level


def _log(level: str, message: str) -> None:
    if level == "warning":
        warnings.warn(message, Warning, stacklevel=_callers_level())
    else:
        logging.getLogger("hearth").log(_LEVELS[level], message)


def log_as_python_does() -> None:
    """Warnings to Python's warnings, the rest to the logger "hearth"; HEARTH_LOG sends all to standard error instead."""
    _hearth.log_to(None if os.environ.get("HEARTH_LOG") else _log)


atexit.register(_hearth.log_to, None)  # no Python to call behind its end

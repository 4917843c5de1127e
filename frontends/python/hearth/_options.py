"""Options and paths as Hearth takes them: texts."""

import os
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np

from hearth._shapes import whole_size

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
NativeText = Union[str, bytes]


def native_text(text: NativeText) -> NativeText:
    """A name or path for Hearth: the path's bytes if they are not UTF-8."""
    if (b"\0" if isinstance(text, bytes) else "\0") in text:
        raise ValueError(f"embedded null character in {text!r}")
    try:
        if isinstance(text, str):
            text.encode()
    except UnicodeEncodeError:
        return os.fsencode(text)
    return text


def native_path(path: Path) -> NativeText:
    return native_text(os.fspath(path))


def _name(value: Any, role: str) -> NativeText:
    if not isinstance(value, str):
        raise TypeError(f"{role}: {value!r} is not a str")
    return native_text(value)


def whole_count(value: Any, role: str) -> int:
    if isinstance(value, (bool, np.bool_)):  # a whole number for Python, and a switch where options are texts
        raise TypeError(f"{role}: {value!r} is not a whole number")
    return whole_size(value, role)


def _switch(value: Any, role: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{role}: {value!r} is neither True nor False")
    return bool(value)


def _sizes(value: Any, role: str) -> List[str]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{role}: {value!r} is no dict of sizes by name")
    return [f"{name}={whole_size(size, role)}" for name, size in value.items()]


def _files(value: Any, role: str) -> List[NativeText]:
    files = [value] if isinstance(value, (str, bytes, os.PathLike)) else list(value)
    return [native_path(file) for file in files]


# What is chosen when a model is read, and how it is checked: alike for a file, bytes and hearth.Model.
OF_MODEL: Mapping[str, Callable[[Any, str], Any]] = {
    "signature": _name,
    "top_k": whole_count,
    "class_maps": _switch,
    "dimensions": _sizes,
    "ops": _files,
}


def of_model(options: Mapping[str, Any]) -> Dict[str, Any]:
    """The options that a model is read with, checked, without those that are None."""
    return {name: check(options[name], name) for name, check in OF_MODEL.items() if options.get(name) is not None}


def option_texts(options: Mapping[str, object]) -> Dict[str, NativeText]:
    """Options for Hearth: texts by name."""

    def text(name: str, value: Any) -> NativeText:
        if isinstance(value, (bool, np.bool_)):
            return "on" if value else "off"
        if isinstance(value, (list, tuple)):
            return (":" if name in ("cache_layers", "ops") else ",").join(os.fspath(part) for part in value)
        if isinstance(value, (int, np.integer)):
            return str(value)
        if not isinstance(value, (str, bytes, os.PathLike)):
            raise TypeError(f"{name}: {value!r} is no value of an option")
        return os.fspath(value)

    checked: Dict[str, Any] = {**options, **of_model(options)}
    return {name: native_text(text(name, value)) for name, value in checked.items() if value is not None}


def constant_arrays(constants: Optional[Mapping[str, Any]]) -> Dict[str, Tuple[str, List[int], bytes]]:
    """Type, shape and content of arrays by input name."""
    if constants is not None and not (isinstance(constants, Mapping) and all(isinstance(name, str) for name in constants)):
        raise TypeError(f"constants: {constants!r} is not a mapping of names to numbers")
    arrays = {name: np.ascontiguousarray(value) for name, value in (constants or {}).items()}
    arrays = {name: array.astype(array.dtype.newbyteorder("="), copy=False) for name, array in arrays.items()}
    return {
        name: (array.dtype.name, [] if np.ndim((constants or {})[name]) == 0 else list(array.shape), array.tobytes())
        for name, array in arrays.items()
    }

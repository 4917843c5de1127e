"""Writes frontends/python/hearth/_types.py: the keywords of sessions from the option table, dicts from a session's report and a device.

PYTHONPATH=build/release/python python3 tests/python/make_types.py     (after a change of an option or a report's key)
"""

import pathlib
import re
from typing import Any, Dict, List, Tuple

import hearth
from hearth._options import OF_MODEL

FILE = pathlib.Path(__file__).resolve().parents[2] / "frontends/python/hearth/_types.py"

HEAD = '''"""Types of options, reports and devices. Made by make_types.py: a test compares them with the library."""

import os
from typing import List, Literal, Mapping, Optional, Sequence, Tuple, TypedDict, Union

import numpy as np
'''

# Values that a small session does not show.
UNSEEN = {"fallbacks": "List[OperatorFallback]", "warnings": "List[str]", "moved_at_run": "Optional[int]"}
PATH = 'Union[str, "os.PathLike[str]"]'
FALLBACK = {"index": 0, "op": "", "reason": ""}


def option_type(name: str, values: str) -> str:
    """The type of what option_texts() takes, by the table's words for the values."""
    if name in OF_MODEL:  # checked more strictly, as parameters of hearth.Model
        kinds = {"on, off": "Union[bool, np.bool_]", "a number": "int", "sizes": "Mapping[str, int]", "a name": "str"}
        kinds["shared libraries"] = f"Union[{PATH}, Sequence[{PATH}]]"
        return next(kind for words, kind in kinds.items() if values.startswith(words))
    if values == "on, off":
        return 'Union[bool, np.bool_, Literal["on", "off"]]'
    if values.startswith("a number, or one with"):
        return "Union[int, str]"
    if values.startswith("a number"):
        return "int"
    if re.fullmatch(r"\w+(, \w+)+", values):
        return f"Literal[{', '.join(repr(choice) for choice in values.split(', '))}]".replace("'", '"')
    text = 'Union[str, "os.PathLike[str]"]' if re.search(r"\b(folders?|file)\b", values) and name.startswith("cache") else "str"
    return f"Union[{text}, Sequence[{text}]]" if "separated by" in values else text


def value_type(path: str, key: str, value: Any, classes: List[str]) -> str:
    if key in UNSEEN:
        return UNSEEN[key]
    if isinstance(value, dict):
        name = path + "".join(word.capitalize() for word in key.split("_"))
        add_class(name, value, "", classes)
        return name
    if isinstance(value, tuple):
        return f"Tuple[{', '.join(type(part).__name__ for part in value)}]"
    return type(value).__name__


def add_class(name: str, values: Dict[str, Any], doc: str, classes: List[str]) -> None:
    rows = [f"    {key}: {value_type(name, key, value, classes)}" for key, value in values.items()]
    docstring = [f'    """{doc}"""\n'] if doc else []
    classes.append("\n".join((f"\n\nclass {name}(TypedDict):", *docstring, *rows)) + "\n")


def options_class(options: List[Tuple[str, str]]) -> str:
    rows = [f'    {name}: Optional[{option_type(name, values)}]\n    """{values}"""' for name, values in options]
    doc = '    """Keywords of Session, Cache.explain and Cache.warm; each with the values that it takes."""\n'
    return "\n".join(("\n\nclass SessionOptions(TypedDict, total=False):", doc, *rows)) + "\n"


def text() -> str:
    graph = hearth.Graph("negated")
    graph.output(graph.unary("neg", graph.input("x", (1, 4))), "y")
    with hearth.Session(graph.build(), device="cpu", cache=False) as session:
        report = session.report()
    (cpu,) = (device for device in hearth.devices() if device["id"] == "cpu")
    classes = [options_class(list(hearth.option_names().items()))]
    add_class("OperatorFallback", FALLBACK, "An operator on the CPU, and why.", classes)
    add_class("Report", dict(report), "What Session.report() returns; times in milliseconds, sizes in bytes.", classes)
    add_class("DeviceLimits", dict(cpu["limits"]), "`limits` of a Device: its features that are numbers or switches.", classes)
    return HEAD + "".join(classes)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")

"""What type checkers and completion are told, and that it is what the library does."""

import os
import subprocess
import sys
import typing

import hearth
import make_types
import pytest
from small_graphs import CPU, negated_sum

RIGHT = """
import pathlib
import hearth
session = hearth.Session("m.tflite", device="gpu", precision="fp16", cache=False, threads=2, memory_limit_bytes="64M",
                         cpu_ops=["softmax"], cache_folder=pathlib.Path("/tmp"), top_k=3, dimensions={"h": 3}, tune=None)
ready: float = session.report()["ready_ms"]
backend: str = session.report()["device"]["backend"]
operator: str = session.report()["ops"]["fallbacks"][0]["op"]
for device in hearth.devices():
    limits = device["limits"]
    units: int = limits["compute_units"] if limits is not None else 0
hearth.Cache().explain("m.tflite", device="cpu")
"""
WRONG = [
    ('hearth.Session("m", devise="gpu")', "devise"),
    ('hearth.Session("m", device=1)', "device"),
    ('hearth.Session("m", precision="fp8")', "precision"),
    ('hearth.Session("m", threads="two")', "threads"),
    ('hearth.Cache().explain("m", devise="gpu")', "devise"),
    ('hearth.Session("m").report()["redy_ms"]', "redy_ms"),
    ('hearth.devices()[0]["limits"]["units"]', "units"),
]


def differences(value, kind, place="report"):
    """Where a value is not of the type; TypedDicts and lists of them are looked into."""
    if hasattr(kind, "__total__"):
        hints = typing.get_type_hints(kind)
        if set(value) != set(hints):
            return [f"{place}: {set(value) ^ set(hints)}"]
        return [text for key, hint in hints.items() for text in differences(value[key], hint, f"{place}.{key}")]
    if typing.get_origin(kind) is list:
        return [text for part in value for text in differences(part, typing.get_args(kind)[0], place)]
    kinds = [typing.get_origin(part) or part for part in typing.get_args(kind) or [kind]]
    return [] if type(value) in kinds else [f"{place}: {value!r} is no {kind}"]


def test_the_types_are_those_of_the_library():
    backends = hearth.option_names()["device"]
    if not all(f" {name}," in backends for name in ("opencl", "vulkan", "gles")):
        pytest.skip(f"a build without all backends: {backends}")
    assert make_types.FILE.read_text() == make_types.text(), f"run {make_types.__file__}"


@pytest.mark.parametrize("options", [{"cpu_ops": ["neg"], "device": "opencl"}, {"start": "hot", "device": "none"}, CPU])
def test_a_report_is_what_its_type_says(options):
    try:
        session = hearth.Session(negated_sum(), **{**options, "cache": False})
    except hearth.Error as error:
        pytest.skip(f"{options['device']}: {error}")
    with session:
        session.run([[1, 2, 3, 4]])
        assert differences(session.report(), hearth.Report) == []


def test_the_package_says_that_it_is_typed():
    assert os.path.isfile(os.path.join(os.path.dirname(hearth.__file__), "py.typed"))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Unpack is typing's since 3.11")
def test_the_keywords_are_seen_where_the_program_runs():
    for call in (hearth.Session.__init__, hearth.Cache.explain, hearth.Cache.warm):
        (options,) = typing.get_args(typing.get_type_hints(call)["options"])
        assert options is hearth.SessionOptions and set(typing.get_type_hints(options)) == set(hearth.option_names())


def checked(code, tmp_path):
    """What mypy says of a program that imports hearth."""
    pytest.importorskip("mypy.version", minversion="1.7", reason="no mypy, or one before 1.7, which reads no Unpack")
    program = tmp_path / "program.py"
    program.write_text(code)
    package = os.path.dirname(os.path.dirname(hearth.__file__))
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-error-summary",
               "--cache-dir", str(tmp_path.parent / "mypy"), "--python-version", "3.11"]
    done = subprocess.run([*command, str(program)], capture_output=True, text=True, timeout=600,
                          env={**os.environ, "MYPYPATH": package})
    return [line for line in done.stdout.splitlines() if "error:" in line] or done.stderr.splitlines()


def test_a_type_checker_accepts_right_programs(tmp_path):
    assert checked(RIGHT, tmp_path) == []


def test_a_type_checker_names_each_mistake(tmp_path):
    errors = checked("import hearth\n" + "\n".join(line for line, _ in WRONG), tmp_path)
    for number, (line, word) in enumerate(WRONG, start=2):
        assert any(f".py:{number}: error:" in error and word in error for error in errors), (line, errors)

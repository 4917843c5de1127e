"""The other contents of a wheel: the plugin for the LiteRT interpreter, LiteRT 2's accelerator, and the program."""

import os
import pathlib
import sys

_FOLDER = pathlib.Path(__file__).resolve().parent


def delegate_path() -> str:
    """The file of Hearth's plugin for the TFLite or LiteRT interpreter: load_delegate(hearth.delegate_path(), {...}).

    Raises FileNotFoundError if Hearth was built without it.
    """
    return str(_installed("lib/libhearth_tflite_delegate.so"))


def litert_runtime_path() -> str:
    """The folder of Hearth's accelerator for LiteRT 2: Environment.create(runtime_path=hearth.litert_runtime_path()).

    Raises FileNotFoundError if Hearth was built without it.
    """
    return str(_installed("lib/libLiteRtGpuAccelerator.so").parent)


def main() -> None:
    """The console script `hearth`: replaces the process by the program."""
    program = _installed("bin/hearth")
    os.execv(program, [str(program), *sys.argv[1:]])


def _installed(name: str) -> pathlib.Path:
    file = _FOLDER / name
    if not file.is_file():
        raise FileNotFoundError(f"{file} is not there; `cmake --build --preset release` builds it all")
    return file

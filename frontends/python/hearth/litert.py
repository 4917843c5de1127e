"""Hearth as the GPU accelerator of LiteRT 2's CompiledModel.

    from ai_edge_litert.environment import Environment
    environment = Environment.create(runtime_path=hearth.litert_runtime_path())

`python -m hearth.litert link` puts it into the installed ai-edge-litert, so that programs find it without a changed line;
`unlink` takes it out again.
"""

import argparse
import importlib.util
import os
import pathlib
import sys
from typing import List, Optional, Union

from hearth._program import litert_runtime_path

_FILE = "libLiteRtGpuAccelerator.so"  # the first name that LiteRT's loader tries


def link(package: "Optional[Union[str, os.PathLike[str]]]" = None) -> pathlib.Path:
    """Links the accelerator into a folder of LiteRT's library, by default that of the installed ai-edge-litert.

    Returns the link. FileExistsError if a file of that name is there that is not Hearth's.
    """
    place = _place(package)
    if not _is_ours(place) and (place.exists() or place.is_symlink()):
        raise FileExistsError(f"{place} is there and is not Hearth's: move it away first")
    draft = place.with_name(f"{_FILE}.{os.getpid()}")
    draft.symlink_to(pathlib.Path(litert_runtime_path()) / _FILE)
    draft.replace(place)
    return place


def unlink(package: "Optional[Union[str, os.PathLike[str]]]" = None) -> bool:
    """Removes the link. False if there is none; FileExistsError if the file there is not Hearth's."""
    place = _place(package)
    if not place.exists() and not place.is_symlink():
        return False
    if not _is_ours(place):
        raise FileExistsError(f"{place} is not Hearth's: it stays")
    place.unlink()
    return True


def _place(package: "Optional[Union[str, os.PathLike[str]]]") -> pathlib.Path:
    if package is not None:
        folder = pathlib.Path(package)
    else:
        found = importlib.util.find_spec("ai_edge_litert")
        if found is None or not found.submodule_search_locations:
            raise FileNotFoundError("ai-edge-litert is not installed for this Python: pip install ai-edge-litert")
        folder = pathlib.Path(found.submodule_search_locations[0])
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is no folder")
    return folder / _FILE


def _is_ours(place: pathlib.Path) -> bool:
    """Also of a Hearth that was removed since."""
    return place.is_symlink() and pathlib.Path(os.readlink(place)).parts[-3:] == ("hearth", "lib", _FILE)


def main(arguments: Optional[List[str]] = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m hearth.litert", description="Hearth in LiteRT 2's CompiledModel.")
    parser.add_argument("verb", choices=["link", "unlink", "path"], help="path: prints the runtime path of the accelerator")
    parser.add_argument("--package", metavar="FOLDER", help="of LiteRT's library (default: the installed ai-edge-litert)")
    given = parser.parse_args(arguments)
    try:
        if given.verb == "path":
            print(litert_runtime_path())
        elif given.verb == "link":
            print(f"linked {link(given.package)}")
        else:
            print("removed" if unlink(given.package) else "there was no link")
    except OSError as error:
        print(f"hearth.litert: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks that #include lines respect the layers: core <- hal <- backends, core <- cache, frontends above all,
tools, tests and benchmarks leaves; and that headers of drivers, sqlite and flatbuffers stay in their own folders.
Prints file:line for each violation and fails when there is one."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

LEAVES = {"tools", "tests", "benchmarks"}
LIBRARY = {"core", "hal", "backends", "cache", "frontends"}
MAY_INCLUDE = {
    "core": {"core"},
    "hal": {"core", "hal"},
    "backends": {"core", "hal"},  # and its own backend
    "cache": {"core", "cache"},
    "frontends": LIBRARY,
    **{leaf: LIBRARY | LEAVES for leaf in LEAVES},
}

# Start of a header's name -> the folders that may include it.
OWN_FOLDERS = {
    "CL/": ["backends/opencl"],
    "EGL/": ["backends/gles"],
    "GL/": ["backends/gles"],
    "GLES": ["backends/gles"],
    "KHR/": ["backends/gles"],
    "epoxy/": ["backends/gles"],
    "vulkan/": ["backends/vulkan"],
    "glslang/": ["backends/vulkan", "tests/golden"],  # the goldens are compiled without a driver
    "spirv-tools/": ["backends/vulkan"],
    "xnnpack.h": ["backends/cpu"],
    "pthreadpool.h": ["backends/cpu"],
    "sqlite3.h": ["cache", "tests/fault"],  # the faults are injected below sqlite
    "sodium.h": ["cache"],
    "hiredis/": ["cache"],
    "flatbuffers/": ["frontends/tflite"],
    # Generated from the schema: brings flatbuffers in. The tests write model files with it.
    "frontends/tflite/schema_generated.h": ["frontends/tflite", "tests/testing"],
    "pybind11/": ["frontends/python"],
    "nlohmann/": ["frontends", "tools", "tests", "benchmarks"],
    "CLI/": ["tools"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(header):
    """The top folder that an #include "header" reaches, or None when there is no such file."""
    if header.startswith("hearth/"):
        if (ROOT / "core/public" / header).exists():
            return "core"
        if any((ROOT / "frontends" / name).exists() for name in (f"api/{header}", f"api/{header}.in", f"c/{header}")):
            return "frontends"
        return None
    if (ROOT / header).exists() or header == "frontends/tflite/schema_generated.h":
        return header.split("/")[0]
    return None


def is_below(path, folder):
    return path.startswith(folder + "/")


def violation(path, quote, header):
    """Why `path` may not include `header`, or None."""
    for start, folders in OWN_FOLDERS.items():
        if header.startswith(start):
            if not any(is_below(path, folder) for folder in folders):
                return f"<{header}> belongs to {' and '.join(folders)}"
            if quote == "<":
                return None
    if quote == "<":
        return None
    layer = layer_of(header)
    if layer is None:
        return f'"{header}" is not a file under the root, core/public, frontends/api or frontends/c'
    own = path.split("/")[0]
    if own == layer == "backends":
        backend = "/".join(path.split("/")[:2])
        return None if is_below(header, backend) else f'"{header}" is another backend\'s'
    if layer not in MAY_INCLUDE[own]:
        return f'{own} may not include "{header}" of {layer}'
    return None


def main():
    failures, files = 0, 0
    for folder in sorted(MAY_INCLUDE):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in (".cc", ".h"):
                continue
            files += 1
            path = str(file.relative_to(ROOT))
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                why = match and violation(path, match[1], match[2])
                if why:
                    print(f"{path}:{number}: {why}")
                    failures += 1
    print(f"{files} files, {failures} violations")
    sys.exit(1 if failures or not files else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks that #include lines respect the layers: core <- hal <- backends, core <- cache, core <- redis, runtime above
these, frontends and conformance above it, tools, tests and benchmarks leaves; inside layers their rooms (ROOMS); that
frontends/writer includes no model format; that headers of drivers, sqlite and flatbuffers stay in their own folders; and
that no units (a .cc with its header) include each other in a circle. Prints file:line for each violation and fails when
there is one."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

LEAVES = {"tools", "tests", "benchmarks"}
BELOW = {"core", "hal", "backends", "cache", "redis", "runtime"}
LIBRARY = BELOW | {"frontends"}
ROOMS = {  # of a folder; each may include those before it
    "core": ["base", "store", "device", "graph", "emit", "plan", "lowering"],
    "hal": ["device", "io", "programs", "run"],
    "cache": ["files", "trust", "store", "sources", "desk"],
    "runtime": ["model", "devices", "plans", "session", "results"],
    "backends/cpu": ["host", "xnnpack", "integer", "nodes"],
}
# Public headers whose types core itself speaks; the others in include/hearth belong to runtime.
CORE_HEADERS = {"cache_types.h", "custom_op.h", "export.h", "frame.h", "hearth_ops.h", "interop.h", "log.h", "status.h", "version.h"}
MAY_INCLUDE = {
    "core": {"core"},
    "hal": {"core", "hal"},
    "backends": {"core", "hal"},  # and its own backend
    "cache": {"core", "cache"},
    "redis": {"core", "redis"},
    "runtime": BELOW,
    "frontends": LIBRARY,
    "conformance": LIBRARY | {"conformance"},
    **{leaf: LIBRARY | LEAVES | {"conformance"} for leaf in LEAVES},
}

# Start of a header's name -> the folders that may include it.
OWN_FOLDERS = {
    "CL/": ["backends/opencl", "tests/accelerator"],  # there a program with a context of its own
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
    "sqlite3.h": ["cache/files", "tests/fault"],  # the faults are injected below sqlite
    "sodium.h": ["cache/trust"],
    # Everybody else goes through the one door, core/store/result_cache.h.
    "core/store/entry_source.h": ["core/store", "cache", "tests", "benchmarks"],
    "flatbuffers/": ["frontends/tflite", "tests/unit"],  # there the options of custom operators
    "protozero/": ["frontends/onnx", "tests/testing"],
    # Generated from the schema: brings flatbuffers in. The tests write model files with it.
    "frontends/tflite/schema_generated.h": ["frontends/tflite", "tests/testing"],
    "frontends/tflite/metadata_schema_generated.h": ["frontends/tflite", "tests/testing"],
    "pybind11/": ["frontends/python"],
    # hal reads the manifests of Vulkan drivers.
    "nlohmann/": ["hal/device/driver_files", "frontends", "conformance", "tools", "tests", "benchmarks"],
    "CLI/": ["tools"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def path_of(header):
    """The file under the root that an #include "header" reaches, or None when there is no such file."""
    if header.startswith("hearth/"):
        name = f"include/{header}"
        return name if (ROOT / name).exists() or (ROOT / f"{name}.in").exists() else None
    generated = header in ("frontends/tflite/schema_generated.h", "frontends/tflite/metadata_schema_generated.h",
                           "core/emit/kernel_constants.h")
    return header if generated or (ROOT / header).exists() else None


def layer_of(path):
    """The layer that a file under the root belongs to."""
    top, _, rest = path.partition("/")
    if top != "include":
        return top
    return "core" if rest.removeprefix("hearth/") in CORE_HEADERS else "runtime"


def is_below(path, folder):
    return path.startswith((folder + "/", folder + "."))  # a folder, or the files of one name


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
    target = path_of(header)
    if target is None:
        return f'"{header}" is not a file under the root or include/'
    own, layer = layer_of(path), layer_of(target)
    if own == layer == "backends":
        backend = "/".join(path.split("/")[:2])
        return None if is_below(target, backend) else f'"{header}" is another backend\'s'
    if path.startswith("frontends/writer/") and target.startswith("frontends/") and not is_below(target, "frontends/writer"):
        return f'frontends/writer knows no format, so not "{header}"'
    if layer not in MAY_INCLUDE[own]:
        return f'{own} may not include "{header}" of {layer}'
    return room_violation(path, target)


def room_violation(path, target):
    """Why a file in a room may not include `target`, of the same folder, or None."""
    for folder, rooms in ROOMS.items():
        own, other = room_of(path, folder), room_of(target, folder)
        if own and other and rooms.index(other) > rooms.index(own):
            return f"{folder}/{own} may not include {target}: {' <- '.join(rooms)}"
    return None


def room_of(path, folder):
    """The room of `folder` that a file lies in; None where it lies beside them or elsewhere."""
    return next((room for room in ROOMS[folder] if path.startswith(f"{folder}/{room}/")), None)


def find_cycle(graph):
    """Some units that include each other in a circle, first one repeated at the end, or None."""
    state, stack = {}, []

    def visit(unit):
        state[unit] = "open"
        stack.append(unit)
        for other in sorted(graph.get(unit, ())):
            if state.get(other) == "open":
                return stack[stack.index(other):] + [other]
            if other not in state and (cycle := visit(other)):
                return cycle
        stack.pop()
        state[unit] = "done"
        return None

    for unit in sorted(graph):
        if unit not in state and (cycle := visit(unit)):
            return cycle
    return None


def main():
    failures, files, units = 0, 0, {}
    for folder in sorted(MAY_INCLUDE | {"include": None}):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in (".cc", ".h"):
                continue
            files += 1
            path = str(file.relative_to(ROOT))
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                if why := violation(path, match[1], match[2]):
                    print(f"{path}:{number}: {why}")
                    failures += 1
                target = path_of(match[2]) if match[1] == '"' else None
                unit, other = (name and str(pathlib.PurePath(name).with_suffix("")) for name in (path, target))
                if other and other != unit:
                    units.setdefault(unit, set()).add(other)
    if cycle := find_cycle(units):
        print(f"units include each other in a circle: {' -> '.join(cycle)}")
        failures += 1
    print(f"{files} files, {failures} violations")
    sys.exit(1 if failures or not files else 0)


if __name__ == "__main__":
    sys.setrecursionlimit(10000)
    main()

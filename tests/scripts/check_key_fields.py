#!/usr/bin/env python3
"""A member added to a struct that cache keys, plans or prepared models depend on stops the build until it is handled.

check_key_fields.py [COMPILER [BUILD_FOLDER]]: compiles, without making objects, against headers to which a member was added.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = [  # struct, its header, the source that names each member
    ("DeviceInfo", "core/device/device_info.h", "core/plan/key_fields.cc"),
    ("LowerOptions", "core/device/options.h", "core/plan/key_fields.cc"),
    ("PackRecipe", "core/plan/pack.h", "core/plan/key_fields.cc"),
    ("Quantization", "core/graph/types.h", "core/plan/key_fields.cc"),
    ("KernelSource", "core/emit/kernel_source.h", "core/plan/plan_serialization.cc"),
    # Requests, whose members are the keys of their results.
    ("ProgramsRequest", "hal/programs/program_keys.h", "hal/programs/program_set.cc"),
    ("PortableRequest", "hal/programs/program_keys.h", "hal/programs/program_set.cc"),
    ("WeightsRequest", "hal/run/resident_constants.h", "hal/run/resident_constants.cc"),
    ("PlanRequest", "runtime/plans/plan_cache.h", "runtime/plans/plan_cache.cc"),
    ("TunedLayerRequest", "runtime/plans/tuning_cache.h", "runtime/plans/tuning_cache.cc"),
    ("ReadPathRequest", "runtime/devices/read_path_probe.h", "runtime/devices/read_path_probe.cc"),
    ("SelfTestRequest", "runtime/devices/self_test.cc", "runtime/devices/self_test.cc"),
    ("GroupLimitRequest", "runtime/plans/items_as_compiled.cc", "runtime/plans/items_as_compiled.cc"),
    ("PrepareRequest", "runtime/session/prepared.h", "runtime/session/prepared.cc"),
]


def compiles(compiler, build, scratch, source):
    folders = [scratch, ROOT, ROOT / "include", build / "include"]
    changed = pathlib.Path(scratch) / source
    file = changed if changed.exists() else ROOT / source
    command = [compiler, "-std=c++20", "-fsyntax-only", *(f"-I{folder}" for folder in folders), str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode == 0, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("compiler", nargs="?", default="c++")
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build" / "release")
    compiler, build = vars(parser.parse_args()).values()
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for part in sorted({source.split("/")[0] for _, _, source in CASES}):  # as one file, as the build has them
            sources = sorted({source for _, _, source in CASES if source.startswith(part)})
            (pathlib.Path(folder) / f"{part}.cc").write_text("".join(f'#include "{source}"\n' for source in sources))
            passed, errors = compiles(compiler, build, folder, f"{part}.cc")
            if not passed:
                failures.append(f"the sources of {part} do not compile as they are:\n{errors}")
    for struct, header, source in CASES:
        with tempfile.TemporaryDirectory() as folder:
            text = (ROOT / header).read_text()
            start = f"struct {struct} {{\n"
            if text.count(start) != 1:
                failures.append(f"{header} does not declare struct {struct}")
                continue
            scratch = pathlib.Path(folder) / header
            scratch.parent.mkdir(parents=True)
            end = text.index("\n};", text.index(start))  # at the end, where no initializer needs it
            scratch.write_text(text[:end] + "\n  int an_added_member = 0;" + text[end:])
            if compiles(compiler, build, folder, source)[0]:
                failures.append(f"{struct} took a member that {source} does not know")
    print("\n".join(failures) or f"{len(CASES)} structs, none takes a member that its source does not name")
    return 1 if failures else 0


sys.exit(main())

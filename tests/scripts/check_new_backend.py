#!/usr/bin/env python3
"""A backend is a folder, a row in the list of backends and an option of the build, and nothing else.

check_new_backend.py [BUILD_FOLDER]: configures a scratch copy of the sources, copies backends/null to backends/twin there,
adds the row and the option, and configures again. No other file may then have another compile command. Builds the files of the folder and
the list, links them with the objects that BUILD_FOLDER has already, and asks the program: the device is listed, named in
help texts, runs a model, and holds what every device must hold (the contract cases of conformance).
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = "runtime/devices/backends.cc"
OPTIONS = "cmake/Options.cmake"
LEFT_OUT = ("build", ".git", ".ci", "tests", "benchmarks", "examples", "docs")


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **more)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(str(word) for word in command)[:500]}\nfailed with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def edit(path, old, new):
    text = path.read_text()
    if text.count(old) != 1:
        sys.exit(f"{path} should hold this once:\n{old}")
    path.write_text(text.replace(old, new))


def copy_sources(tree):
    shutil.copytree(ROOT, tree, symlinks=True, ignore=lambda folder, names: [
        name for name in names if name == "__pycache__" or (pathlib.Path(folder) == ROOT and name in LEFT_OUT)])
    (tree / "docs").mkdir()
    (tree / "docs" / "CMakeLists.txt").write_text("")


def add_backend(tree):
    """The folder, the row, the option."""
    shutil.copytree(tree / "backends" / "null", tree / "backends" / "twin")
    for file in (tree / "backends" / "twin").iterdir():
        text = file.read_text().replace("backends/null/", "backends/twin/").replace('"null"', '"twin"')
        text = text.replace("Null", "Twin").replace("_NULL_", "_TWIN_").replace("backend_null", "backend_twin")
        file.write_text(text)
    # A device that is no hardware: hardware has to pass a self-test, and this one computes nothing.
    edit(tree / "backends" / "twin" / "device.cc", '  info.name = "twin";\n',
         '  info.name = "twin";\n  info.type = DeviceType::kCpu;\n')
    edit(tree / LIST, "namespace hearth {\nnamespace {\n",
         '#ifdef HEARTH_WITH_TWIN\n#include "backends/twin/backend.h"\n#endif\n\nnamespace hearth {\nnamespace {\n')
    edit(tree / LIST, "constexpr BackendDef kBackends[] = {\n",
         "constexpr BackendDef kBackends[] = {\n"
         '#ifdef HEARTH_WITH_TWIN\n    {"twin", EnumerateTwin, OpenTwin, nullptr, nullptr},\n#endif\n')
    edit(tree / OPTIONS, "option(HEARTH_WITH_GLES ", 'option(HEARTH_WITH_TWIN "The null backend again" ON)\noption(HEARTH_WITH_GLES ')


def configure(tree, build, scratch):
    """As `build` was configured, without what does not belong to the program, and with each source compiled alone."""
    parts = {"HEARTH_BUILD_TESTS", "HEARTH_BUILD_EXAMPLES", "HEARTH_BUILD_BENCHMARKS", "HEARTH_WITH_PYTHON"}
    same = re.compile(r"^((?:HEARTH_|CMAKE_BUILD_TYPE|CMAKE_C(?:XX)?_COMPILER|CMAKE_C(?:XX)?_FLAGS)\w*):(\w+)=(.*)$")
    arguments = [f"-D{part}=OFF" for part in sorted(parts)] + ["-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        found = same.match(line)
        if found and found[1] not in parts and found[2] not in ("INTERNAL", "STATIC"):
            arguments.append(f"-D{found[1]}:{found[2]}={found[3]}")
    run("cmake", "-S", tree, "-B", scratch, "-G", "Ninja", *arguments)
    return compile_commands(tree, scratch)


def compile_commands(tree, scratch):
    """Source file and its compile command without the name of the build's folder -> the command as it stands."""
    commands = {}
    for entry in json.loads((scratch / "compile_commands.json").read_text()):
        file, command = entry["file"].replace(f"{tree}/", ""), entry["command"].replace(str(scratch), "BUILD")
        commands[file.replace(str(scratch), "BUILD"), command] = entry["command"]
    return commands


def compile_changed(tree, scratch, before, after):
    """The object files of what has another compile command after than before."""
    changed = {file: after[file, command] for file, command in after if (file, command) not in before}
    expected = {LIST} | {str(file.relative_to(tree)) for file in (tree / "backends" / "twin").glob("*.cc")}
    if changed.keys() != expected:
        sys.exit(f"other files are compiled than the folder and the list: {sorted(changed.keys() ^ expected)[:20]}")
    # The headers that the build writes. Objects are not asked of ninja: it would build all libraries below them first.
    run("ninja", "-C", scratch, "cmake_object_order_depends_target_hearth_core")
    for file in sorted(changed):
        run("sh", "-c", changed[file], cwd=scratch)
    return [scratch / re.search(r" -o (\S+)", changed[file])[1] for file in sorted(changed)]


def link(objects, build, program):
    """The program of `build` with these objects before its libraries."""
    command = run("ninja", "-C", build, "-t", "commands", "bin/hearth").splitlines()[-1]
    found = re.search(r" -o bin/hearth(?= )", command)
    if not found:
        sys.exit(f"this is not how bin/hearth was linked before:\n{command[:500]}")
    files = shlex.join(str(file) for file in objects)
    run("sh", "-c", command[:found.start()] + f" {files} -o {shlex.quote(str(program))}" + command[found.end():], cwd=build)


def check_program(program, folder):
    environment = {**os.environ, "HEARTH_CACHE_DIR": str(folder / "cache")}
    environment.pop("HEARTH_DEVICE", None)

    def hearth(*arguments):
        return run(program, *arguments, env=environment)

    hearth("devices", "--json", folder / "devices.json")
    devices = json.loads((folder / "devices.json").read_text())["devices"]
    if not any(device["id"] == "twin:0" and device["usable"] for device in devices):
        sys.exit(f"twin:0 is not a usable device: {devices}")
    for text in (hearth("run", "--help"), hearth("completion", "bash")):
        if not re.search(r"\btwin\b", text):
            sys.exit(f"the backend is not named in:\n{text[:2000]}")
    demo = ROOT / "tools" / "demo"
    hearth("run", demo / "shapes_f32.tflite", demo / "shapes.png", "--device", "twin", "--json", folder / "run.json")
    ran_on = json.loads((folder / "run.json").read_text())["device"]["id"]
    if ran_on != "twin:0":
        sys.exit(f"the model ran on {ran_on}")
    return contract_cases(program, folder, environment)


def contract_cases(program, folder, environment):
    """Runs all device cases; those that compute something fail on a device that computes nothing."""
    junit = folder / "hal.xml"
    subprocess.run([program, "conformance", "--device", "twin", "--filter", "hal", "--junit", junit], env=environment,
                   stdout=subprocess.DEVNULL, check=False)
    names = re.findall(r"HEARTH_DEVICE_CASE\((\w+)\)", (ROOT / "conformance/device_cases_contract.cc").read_text())
    cases = {case.get("name").removesuffix(" [device]"): case for case in xml.etree.ElementTree.parse(junit).iter("testcase")}
    failed = [f"{name}: {cases[name].find('failure').get('message')}" for name in names
              if cases[name].find("failure") is not None]
    if failed or not names:
        sys.exit("contract cases failed:\n" + "\n".join(failed))
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build" / "release")
    build = parser.parse_args().build.resolve()
    with tempfile.TemporaryDirectory(prefix="one_folder_", dir=build) as folder:
        folder = pathlib.Path(folder).resolve()
        tree = folder / "source"
        copy_sources(tree)
        before = configure(tree, build, folder / "before")
        add_backend(tree)
        after = configure(tree, build, folder / "after")
        objects = compile_changed(tree, folder / "after", before, after)
        link(objects, build, folder / "hearth")
        names = check_program(folder / "hearth", folder)
    print(f"backends/twin, {LIST} and {OPTIONS}: {len(objects)} files compiled, {len(names)} contract cases hold")


main()

#!/usr/bin/env python3
"""A release links where the caller asks for link-time optimisation, which not every linker knows."""

import pathlib
import subprocess
import sys
import tempfile

SETTINGS = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "CompilerSettings.cmake"
PROJECT = f"""cmake_minimum_required(VERSION 3.25)
project(empty LANGUAGES C CXX)
include({SETTINGS})
add_executable(empty empty.cc)
"""


def build(cmake, compiler, option):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "CMakeLists.txt").write_text(PROJECT)
        (pathlib.Path(folder) / "empty.cc").write_text("int main() { return 0; }\n")
        begin = [cmake, "-S", folder, "-B", f"{folder}/build", f"-DCMAKE_CXX_COMPILER={compiler}"]
        for command in ([*begin, "-DCMAKE_BUILD_TYPE=Release", option], [cmake, "--build", f"{folder}/build"]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                return f"with {option}:\n{done.stdout}{done.stderr}"
    return ""


cmake, compiler = sys.argv[1:]
options = ("-DCMAKE_CXX_FLAGS=-flto", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -flto", "-DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON")
failed = [text for text in (build(cmake, compiler, option) for option in options) if text]
print("\n".join(failed) or f"{len(options)} ways to ask for it")
sys.exit(bool(failed))

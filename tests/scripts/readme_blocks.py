#!/usr/bin/env python3
"""readme_blocks.py [BUILD_FOLDER]: runs every block of README.md's sections on using Hearth, as it stands.

Shell lines run one by one; C and C++ are put into a main function and compiled against an installed copy; Python gets the
variables that its text takes for given, as Java does. They run in a temporary folder that looks like the repository's.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 300

# What stands around a block: its text takes these for given.
CPP = """%s
#include <iostream>
#include <span>
#include <vector>
static int Fail(const std::string& message) { std::cerr << message << "\\n"; return 1; }
int main() {
  const std::vector<float> pixels(96 * 96 * 3);
%s
  return scores.size() == 96 * 96 * 6 * sizeof(float) ? 0 : 1;
}
"""
C = """%s
#include <stdio.h>
static int Fail(const char* message) { fprintf(stderr, "%%s\\n", message); return 1; }
int main(void) {
  static float pixels[96 * 96 * 3];
  size_t size_bytes = sizeof pixels;
%s
  return scores != NULL && size_bytes == 96 * 96 * 6 * sizeof(float) ? 0 : 1;
}
"""
JAVA = """import dev.hearth.*;
class Block {
  public static void main(String[] arguments) {
    float[] pixels = new float[96 * 96 * 3];
%s
  }
}
"""
PYTHON = "import numpy\nimage = numpy.zeros((1, 96, 96, 3), numpy.float32)\n"
ACCELERATOR = """from ai_edge_litert.compiled_model import CompiledModel
from ai_edge_litert.environment import Environment
from ai_edge_litert.hardware_accelerator import HardwareAccelerator
"""
ACCELERATOR_END = "\nmodel.run_by_index(0, model.create_input_buffers(0), model.create_output_buffers(0))\n"
PLUGIN = "from ai_edge_litert.interpreter import Interpreter, load_delegate\n"
PLUGIN_END = "\ninterpreter.allocate_tensors()\ninterpreter.invoke()\n"


def blocks(text):
    """(language, text) of each block: fenced ones by their language, indented ones as 'shell'."""
    for match in re.finditer(r"^```(\w+)\n(.*?)^```|((?:^ {4}[^\n]*\n)+)", text, re.M | re.S):
        if match.group(1):
            yield match.group(1), match.group(2)
        else:
            yield "shell", re.sub(r"^ {4}", "", match.group(3), flags=re.M)


class Runner:
    def __init__(self, build, folder):
        self.build, self.folder = build, folder
        self.place = folder / "repository"
        (self.place / "build").mkdir(parents=True)
        (self.place / "build" / "release").symlink_to(build)
        (self.place / "tools").symlink_to(ROOT / "tools")
        self.environment = dict(os.environ, HEARTH_CACHE_DIR=str(folder / "cache"), PYTHONDONTWRITEBYTECODE="1")
        self.prefix = None

    def run(self, command, **variables):
        done = subprocess.run([str(part) for part in command], cwd=self.place, env=dict(self.environment, **variables),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{command}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")

    def installed(self):
        if self.prefix is None:
            self.prefix = self.folder / "prefix"
            self.run(["cmake", "--install", self.build, "--prefix", self.prefix])
            (self.library,) = {path.parent for path in self.prefix.rglob("libhearth.so")}
        return self.prefix

    def shell(self, text):
        for line in text.splitlines():
            words = line.split("#")[0].split()
            if words and words[0] in ("tools/quickstart", "tools/test"):  # tests/README.md says where these run
                assert os.access(ROOT / words[0], os.X_OK), words[0]
            elif words:
                self.run(words)

    def compiled(self, text, frame, compiler, ending, flags):
        lines = text.splitlines()
        heads = "\n".join(line for line in lines if line.startswith("#include"))
        body = "\n".join(line for line in lines if not line.startswith("#include"))
        source, program = self.folder / f"block{ending}", self.folder / f"block{ending}.out"
        source.write_text(frame % (heads, body))
        prefix = self.installed()
        self.run([compiler, *flags, source, "-o", program, f"-I{prefix}/include", f"-L{self.library}", "-lhearth",
                  f"-Wl,-rpath,{self.library}"])
        self.run([program])

    def cpp(self, text):
        self.compiled(text, CPP, os.environ.get("CXX", "c++"), ".cc", ["-std=c++20", "-Wall", "-Werror"])

    def c(self, text):
        self.compiled(text, C, os.environ.get("CC", "cc"), ".c", ["-std=c11", "-Wall", "-Wextra", "-Werror"])

    def java(self, text):
        jar = self.build / "lib/hearth.jar"
        if not jar.exists():
            return "this build has no Java package"
        source = self.folder / "Block.java"
        source.write_text(JAVA % text)
        self.run(["javac", "-cp", jar, "-d", self.folder, source])
        self.run(["java", "-cp", f"{jar}:{self.folder}", "Block"])
        return None

    def python(self, text):
        if "load_delegate" in text or "CompiledModel" in text:
            python = self.build / "tests/oracle/answers/venv/bin/python"
            if not python.exists():
                return "the oracle's Python with ai-edge-litert is not installed"
            # The block names a device that this machine may lack.
            device = "vulkan" if "vulkan:0" in self.devices() else "cpu"
            if "CompiledModel" in text:
                self.run([python, "-c", ACCELERATOR + text + ACCELERATOR_END], HEARTH_DEVICE=device)
            else:
                self.run([python, "-c", PLUGIN + text.replace('"vulkan"', f'"{device}"') + PLUGIN_END])
            return None
        if not (self.build / "python").exists():
            return "this build has no Python package"
        self.run([shutil.which("python3", path="/usr/bin") or sys.executable, "-c", PYTHON + text],
                 PYTHONPATH="build/release/python")
        return None

    def devices(self):
        return subprocess.run([self.build / "bin/hearth", "devices"], env=self.environment, capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build" / "release")
    build = parser.parse_args().build.resolve()
    text = (ROOT / "README.md").read_text()
    shown = text[:text.index("## What it does today")]
    failed, seen = 0, []
    with tempfile.TemporaryDirectory(prefix="hearth-readme-") as folder:
        runner = Runner(build, pathlib.Path(folder))
        for language, block in blocks(shown):
            seen.append(language)
            first = block.strip().splitlines()[0]
            try:
                skipped = getattr(runner, language)(block)
                print(f"SKIP: {language}: {skipped}" if skipped else f"fine: {language}: {first}")
            except (AssertionError, AttributeError, subprocess.TimeoutExpired) as error:
                print(f"FAILED: {language}: {first}\n{error}")
                failed += 1
    if not {"shell", "cpp", "c", "python", "java"} <= set(seen):
        print(f"FAILED: README.md shows only {sorted(set(seen))}")
        failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""A name that no .kernel file has, or that another kernel's file has, stops the build.

check_kernel_names.py [COMPILER [BUILD_FOLDER]]: compiles, without making objects, a call of a kernel as it should be and
with one mistake each.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RIGHT = """#include "core/plan/plan_builder.h"
hearth::KernelCall Call(hearth::Operand in, hearth::Operand out) {
  hearth::KernelCall call;
  call.kernel = "softmax";
  call.defines = {{"LANES", "8"}};
  call.scalars = {{"BETA", 1.0f}};
  call.tensors = hearth::TensorsOf<hearth::kernels::Softmax>({{"x", in}, {"y", out}});
  return call;
}
"""
MISTAKES = [  # what, right, wrong
    ("a kernel that there is not", '"softmax"', '"softmux"'),
    ("a define that there is not", '"LANES"', '"LANE"'),
    ("a scalar that there is not", '"BETA"', '"BETTA"'),
    ("a tensor of another kernel", '{"x", in}', '{"bias", in}'),
    ("a tensor too few", '{"x", in}, ', ""),
    ("a tensor too many", '{"x", in}, ', '{"x", in}, {"x", in}, '),
    ("a kernel's type that there is not", "kernels::Softmax", "kernels::Softmux"),
]


def compiles(compiler, build, text):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "call.cc"
        source.write_text(text)
        folders = [ROOT, ROOT / "include", build / "include"]
        command = [compiler, "-std=c++20", "-fsyntax-only", *(f"-I{path}" for path in folders), str(source)]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode == 0, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("compiler", nargs="?", default="c++")
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build" / "release")
    compiler, build = vars(parser.parse_args()).values()
    passed, errors = compiles(compiler, build, RIGHT)
    failures = [] if passed else [f"the call does not compile as it should be:\n{errors}"]
    for what, right, wrong in MISTAKES:
        if RIGHT.count(right) != 1:
            failures.append(f"{right} is not in the call once")
        elif compiles(compiler, build, RIGHT.replace(right, wrong))[0]:
            failures.append(f"{what} compiles")
    print("\n".join(failures) or f"{len(MISTAKES)} mistakes, none compiles")
    return 1 if failures else 0


sys.exit(main())

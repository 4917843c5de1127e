"""check_abi.py CC LIBRARY [--update]: the C interface (hearth/hearth_c.h) is compatible with the baseline beside this file.

Programs that were built against an older header of the same soname must go on running: functions may be added, nothing
else. libabigail's abidiff compares the types of all functions; it reads them from debug information, which a release
build does not have, so a library of empty functions is compiled from the header, in a second. Values of constants are
compared by name. LIBRARY must export every function of the header. --update writes the baseline anew: after a release,
or where the interface changed before it ever was released. Skipped (77) without libabigail, and on processors that have
no baseline.
"""
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXPORT = '__attribute__((visibility("default")))'


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(77)


def functions_and_constants(compiler, include):
    """Declarations of the header as [result and name, parameters], and its constants by name."""
    header = include / "hearth/hearth_c.h"
    text = subprocess.run([compiler, "-E", "-P", f"-I{include}", "-x", "c", header], check=True, capture_output=True, text=True).stdout
    declarations = []
    for piece in text.split(EXPORT)[1:]:
        declaration = " ".join(piece[: piece.index(";")].split())
        declarations.append(re.fullmatch(r"([^(]*\w) ?\((.*)\)", declaration).groups())
    constants = {name: int(value) for name, value in re.findall(r"\b(HEARTH_\w+) = (-?\d+)", text)}
    listed = re.findall(r"\bHEARTH_\w+(?=\s*[,}=])", text)
    assert set(listed) == set(constants), f"without a value of its own: {set(listed) - set(constants)}"
    return declarations, constants


def library_of_empty_functions(compiler, include, declarations, folder):
    lines = ["#include <hearth/hearth_c.h>"]
    for result_and_name, parameters in declarations:
        result = result_and_name.rpartition(" ")[0] if "*" not in result_and_name else "pointer"
        lines.append(f"{result_and_name}({parameters}) {{ {'' if result == 'void' else 'return 0;'} }}")
    source = folder / "hearth_c.c"
    source.write_text("\n".join(lines) + "\n")
    library = folder / "libhearth_c.so"
    subprocess.run([compiler, "-std=c11", "-g", "-gdwarf-4", "-shared", "-fPIC", "-Wno-unused-parameter", f"-I{include}", source.name, "-o", library],
                   check=True, cwd=folder)  # a relative name: the dump holds it
    return library


def exported(library):
    lines = subprocess.run(["nm", "--dynamic", "--defined-only", library], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[2].partition("@")[0] for line in lines}


def compared(baseline, library):
    return subprocess.run(["abidiff", "--no-added-syms", baseline, library], capture_output=True, text=True)


def main():
    compiler, release_library = sys.argv[1:3]
    for tool in ("abidw", "abidiff", "nm"):
        if not shutil.which(tool):
            skip(f"{tool} is not installed (abigail-tools)")
    baseline = HERE / f"hearth_c_{platform.machine()}.abi"
    constants_file = HERE / "hearth_c_constants.json"
    with tempfile.TemporaryDirectory() as scratch:
        include = pathlib.Path(scratch) / "include"
        shutil.copytree(ROOT / "include", include)
        (include / "hearth/version.h").write_text('#define HEARTH_VERSION ""\n')  # no part of the interface's types
        declarations, constants = functions_and_constants(compiler, include)
        names = {result_and_name.split()[-1].lstrip("*") for result_and_name, _ in declarations}
        missing = names - exported(release_library)
        assert not missing, f"{release_library} does not export {sorted(missing)}"
        library = library_of_empty_functions(compiler, include, declarations, pathlib.Path(scratch))
        if "--update" in sys.argv:
            dump = ["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--out-file", baseline, library]
            subprocess.run(dump, check=True)
            constants_file.write_text(json.dumps(constants, indent=1) + "\n")
        if not baseline.exists():
            skip(f"there is no {baseline.name}; --update writes it")
        answer = compared(baseline, library)
        without_one = library_of_empty_functions(compiler, include, declarations[1:], pathlib.Path(scratch))
        assert compared(baseline, without_one).returncode != 0, "abidiff does not mind that a function is gone"
    changed = {name: value for name, value in json.loads(constants_file.read_text()).items() if constants.get(name) != value}
    for name, value in changed.items():
        print(f"{name} was {value} and is {constants.get(name, 'gone')}")
    if answer.returncode != 0:
        print(answer.stdout + answer.stderr)
    if changed or answer.returncode != 0:
        print("Programs built against the baseline would break: keep what was there, and add beside it (tests/abi/README.md).")
        sys.exit(1)
    print(f"{len(names)} functions and {len(constants)} constants: compatible with the baseline")


if __name__ == "__main__":
    main()

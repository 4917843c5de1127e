#!/usr/bin/env python3
"""No two sources of a library or of a test program give one name in their unnamed namespaces.

A unity build compiles many sources as one, and which are joined changes with each new file: two equal names break the
build of whoever adds a third file. Reads declarations as clang-format writes them, at the beginning of a line. Prints
the names that more than one source gives."""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# The folders, each with those below it, of which the build makes one library or program.
LIBRARIES = ("core", "hal", "cache", "redis", "runtime", "conformance", "backends/*", "frontends/*", "tests/unit", "tests/fault",
             "tests/kernels", "tests/models", "tests/golden", "tests/testing")
OPERATOR_CODES = ROOT / "tests/testing/builtin_codes.h"
NAMESPACE = re.compile(r"^(?:inline )?namespace ([\w:]*) ?\{")
NAMESPACE_END = re.compile(r"^\}  // namespace")
TYPE = re.compile(r"^(?:struct|class|enum class|enum|union) (\w+)\b(?![^{]*;$)")
ALIAS = re.compile(r"^using (\w+) = (.*)")
CONSTANT = re.compile(r"^(?:inline |static )?(?:constexpr|constinit|const|thread_local|std::atomic)\b[^(]*?[\w*&>] (k[A-Z]\w*|g_\w+)\b(?!\()")
CONSTANT_BESIDE = re.compile(r"[, ](k[A-Z]\w*)(?:\[\w*\])* = ")  # another one in the same declaration
# They convert into each other: of two functions that differ in nothing else, a call may take the other source's.
NUMBER = re.compile(r"(const )?(u?int\d+_t|size_t|int|bool|float|double|char)$")
FUNCTION = re.compile(r"^(?!TEST|INSTANTIATE|return|using|template|static_assert|extern|PYBIND|ACTION|MATCHER|friend)[A-Za-z][^()=]*[\s*&](\w+)\(([^)]*)")


def declared(line):
    """Yields (name, what tells two declarations of it apart) of each declaration that begins with `line`."""
    if match := TYPE.match(line):
        yield match[1], "type"
    elif match := ALIAS.match(line):
        yield match[1], match[2]
    elif match := CONSTANT.match(line):
        for name in {match[1], *CONSTANT_BESIDE.findall(line)}:
            yield name, "constant"
    elif match := FUNCTION.match(line):
        parameters = [re.sub(r" ?= .*| ?\b[a-z_]\w*$", "", parameter.strip()) for parameter in match[2].split(",")]
        parameters = ["number" if NUMBER.match(parameter) else parameter for parameter in parameters]
        yield match[1], "(" + ", ".join(parameters)


def statements(file):
    """Yields the lines of `file` without those that begin with a blank, which are joined to a list of constants."""
    text = file.read_text(encoding="utf-8")
    yield from re.sub(r",\n +(?=k[A-Z]\w* = )", ", ", text).splitlines()


def names_of(file, only_unnamed):
    """Yields (name, what tells two apart) of each name in a namespace of `file`, or only of those in an unnamed one."""
    around = []
    for line in statements(file):
        if match := NAMESPACE.match(line):
            around.append(match[1])
        elif NAMESPACE_END.match(line) and around:
            around.pop()
        elif around and ("" in around or not only_unnamed):
            yield from declared(line)


def clashes(library):
    """Prints each name that more than one source of `library` gives; returns the number of sources and of such names."""
    sources = sorted(library.rglob("*.cc"))
    givers = collections.defaultdict(lambda: collections.defaultdict(set))
    for source in sources:
        for name, kind in names_of(source, only_unnamed=True):
            givers[name][kind].add(str(source.relative_to(ROOT)))
    # A source that does not include this header is joined with one that does.
    if library.parent.name == "tests":
        for name, kind in names_of(OPERATOR_CODES, only_unnamed=False):
            if name in givers:
                givers[name][kind].add(str(OPERATOR_CODES.relative_to(ROOT)))
    count = 0
    for name, kinds in sorted(givers.items()):
        files = set().union(*kinds.values())
        overloads = all(kind.startswith("(") for kind in kinds) and all(len(files) == 1 for files in kinds.values())
        one_alias = len(kinds) == 1 and not next(iter(kinds)).startswith("(") and next(iter(kinds)) not in ("type", "constant")
        if len(files) > 1 and not overloads and not one_alias:
            print(f"{name} is given by {', '.join(sorted(files))}: give each a name of its own")
            count += 1
    return len(sources), count


def main():
    counts = [clashes(library) for pattern in LIBRARIES for library in sorted(ROOT.glob(pattern)) if library.is_dir()]
    sources, failures = map(sum, zip(*counts))
    print(f"{sources} sources, {failures} names given twice")
    sys.exit(1 if failures or not sources else 0)


main()

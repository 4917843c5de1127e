#!/usr/bin/env python3
"""Checks that the files and folders that comments and pages name exist, with or without their ending, and that a name
said to be in a header (`Name (file.h)`, `Name in file.h`, `file.h's Name`) is there. FAMILY and NAME in a path stand for
any. Prints file:line for each that is not so, and fails when there is one."""

import fnmatch
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = "backends|benchmarks|cache|cmake|conformance|core|docs|examples|frontends|hal|include|redis|runtime|tests|tools"
ENDINGS = "h|cc|c|md|py|kernel|cmake|fbs"
NOT_OURS = {
    "xnnpack.h": "XNNPACK's",
    "sqlite3.h": "SQLite's",
    "stb_image.h": "stb's",
    "kernel_constants.h": "made of the kernels, in the build folder",
    "schema_generated.h": "flatc's, in the build folder",
    "metadata_schema_generated.h": "flatc's, in the build folder",
    "hearthConfig.cmake": "CMake's, in the build folder",
    "MODELS.md": "of the shared models",
}
COMMENT = {
    **dict.fromkeys([".h", ".cc", ".c", ".kernel", ".in"], re.compile(r"(?<!:)//(.*)")),
    **dict.fromkeys([".py", ".sh", ".cmake", ".txt"], re.compile(r"(?:^|\s)# (.*)")),
    ".md": re.compile(r"(.*)"),
}
START = r"(?<![\w./$<>{*~+-])"
PATHS = [
    re.compile(rf"{START}((?:[\w-]+/)*[A-Za-z0-9][\w-]*\.(?:{ENDINGS}))(?![\w/*])"),
    re.compile(rf"{START}((?:{FOLDERS})(?:/[\w-]+)+)(?![\w/*-]|\.\w)"),
]
HEADER = r"`?((?:[\w-]+/)*[\w-]+\.(?:h|cc))\b"
NAME = r"`?\b(?:\w+::)*([A-Z]+[a-z0-9]+[A-Z]\w*|k[A-Z]\w*)\b`?(?:\(\))?"
IN_HEADER = [
    (re.compile(rf"{NAME} ?(?: \(| in ){HEADER}"), 1, 2),
    (re.compile(rf"{HEADER}`?'s {NAME}"), 2, 1),
]


class Tree:
    def __init__(self):
        inside = [path for folder in FOLDERS.split("|") for path in (ROOT / folder).rglob("*")]
        paths = [path.relative_to(ROOT) for path in [*ROOT.glob("*"), *inside] if path.is_file()]
        self.files = sorted(str(path) for path in paths if "__pycache__" not in path.parts)
        self.known = set(self.files) | {name.split(".")[0] for name in self.files}
        self.known |= {str(folder) for name in self.files for folder in pathlib.PurePath(name).parents}

    def find(self, name, reader):
        """Which of ours `name` is, in a comment of the file `reader`; any of several."""
        any_name = re.sub(r"FAMILY|NAME", "*", name)
        for folder in ("", "include/", f"{pathlib.PurePath(reader).parent}/"):
            if found := fnmatch.filter(self.known, folder + any_name):
                return found
        return fnmatch.filter(self.known, "*/" + any_name)


def complaints(tree, reader):
    comment = COMMENT.get(pathlib.Path(reader).suffix)
    if comment is None or reader.startswith("tests/golden/emitted/"):
        return
    for number, line in enumerate((ROOT / reader).read_text().splitlines(), 1):
        for text in comment.findall(line):
            for name in (match for path in PATHS for match in path.findall(text)):
                if pathlib.PurePath(name).name not in NOT_OURS and not tree.find(name, reader):
                    yield number, f"there is no {name}"
            for pattern, name_group, header_group in IN_HEADER:
                for match in pattern.finditer(text):
                    name, header = match[name_group], match[header_group]
                    found = [file for file in tree.find(header, reader) if (ROOT / file).is_file()]
                    if found and not any(re.search(rf"\b{name}\b", (ROOT / file).read_text()) for file in found):
                        yield number, f"{name} is not in {header}"


def main():
    tree = Tree()
    count = 0
    for reader in tree.files:
        for number, complaint in complaints(tree, reader):
            print(f"{reader}:{number}: {complaint}")
            count += 1
    print(f"{len(tree.files)} files, {count} wrong names")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""size.py [BUILD_FOLDER]: bytes of code and constants by component, before the linker leaves out what nobody calls, and
the stripped size of each library and of the program. The folder is build/release unless given."""

import pathlib
import subprocess
import sys
import tempfile


def text_bytes(archive):
    """Code, constants and tables of unwinding, as size(1) counts them."""
    totals = subprocess.run(["size", "--totals", archive], capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    return int(totals.split()[0])


def stripped_bytes(file):
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "--strip-unneeded", "-o", stripped.name, file], check=True)
        return pathlib.Path(stripped.name).stat().st_size


def print_table(title, rows):
    print(f"{'bytes':>10}  {title}")
    for count, name in sorted(rows, reverse=True):
        print(f"{count:>10,}  {name}")
    print()


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build/release")
    parts = [part for part in folder.glob("lib/libhearth_*.a")]
    if not parts:
        sys.exit(f"{folder} holds no build: cmake --preset release && cmake --build --preset release")
    print_table("component", [(text_bytes(part), part.stem.removeprefix("libhearth_")) for part in parts])
    files = [file for file in folder.glob("lib/*.so") if not file.is_symlink()] + [folder / "bin" / "hearth"]
    files += [file.resolve() for file in folder.glob("lib/libhearth.so")]
    print_table("file, stripped", [(stripped_bytes(file), file.name) for file in files if file.is_file()])


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""cmake/WriteFingerprint.cmake: equal sources give equal fingerprints wherever they lie; any change gives another.

check_fingerprints.py [CMAKE]
"""
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "WriteFingerprint.cmake"


def fingerprint(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    paths = ";".join(str(root / name) for name in sorted(files))
    cmake = sys.argv[1] if len(sys.argv) > 1 else "cmake"
    done = subprocess.run([cmake, f"-DROOT={root}", f"-DFILES={paths}", "-DPRINT=1", "-P", SCRIPT],
                          capture_output=True, text=True, check=True)
    return done.stderr.strip()


def main():
    files = {"core/a.cc": "int a;\n", "core/b.kernel": "---\n;[x]\n"}
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        base = fingerprint(pathlib.Path(one), files)
        assert len(base) == 32, base
        assert fingerprint(pathlib.Path(other) / "deeper", files) == base, "the place of the sources counts"
        changes = [{**files, "core/a.cc": "int b;\n"}, {"core/a.cc": "int a;\n"}, {**files, "core/c.cc": ""},
                   {"core/a2.cc": "int a;\n", "core/b.kernel": files["core/b.kernel"]}]
        prints = {fingerprint(pathlib.Path(other) / str(k), change) for k, change in enumerate(changes)} | {base}
        assert len(prints) == len(changes) + 1, "a change gives the same fingerprint"
    print("fingerprints follow content and names")


main()

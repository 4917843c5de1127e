#!/usr/bin/env python3
"""test_program.py DEVICE PROGRAM: a C++ program (litert_program.cc) on this LiteRT's library."""

import pathlib
import subprocess
import sys
import tempfile

import ai_edge_litert
import compiled
import plugin
import test_behaviour


def main():
    device, program = sys.argv[1:]
    plugin.skip_without(device)
    library = pathlib.Path(ai_edge_litert.__file__).parent / "libLiteRt.so"
    with tempfile.TemporaryDirectory() as folder:
        compiled.set_options(device, cache_dir=folder)
        model = pathlib.Path(folder) / "model.tflite"
        model.write_bytes(test_behaviour.chain("NEG", "TANH", "NEG", shape=(1, 32, 32, 8)))
        subprocess.run([program, library, compiled.RUNTIME, model], check=True, timeout=300)


if __name__ == "__main__":
    main()

"""What the tests of the program share: how it is called, and files to give it. HEARTH_BIN names the program."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
import model_archive  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("HEARTH_BIN", str(ROOT / "build/release/bin/hearth"))
DEMO = ROOT / "tools/demo"
MODEL = str(DEMO / "shapes_f32.tflite")
INT8_MODEL = str(DEMO / "shapes_int8.tflite")
PICTURE = str(DEMO / "shapes.png")
MISH = pathlib.Path(PROGRAM).resolve().parents[1] / "lib/libmish.so"  # of examples/c/mish_op.c
TIMEOUT_S = 600
INPUT_SHAPE = (1, 96, 96, 3)
SHARED = pathlib.Path(os.environ.get("HEARTH_SHARED") or ROOT.parent / "shared")


def npy(descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape!r}, }}"
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def read_npy(path):
    """dtype, shape, bytes of a file."""
    file = pathlib.Path(path).read_bytes()
    assert file[:6] == b"\x93NUMPY", file[:6]
    size = struct.unpack("<H", file[8:10])[0]
    header = eval(file[10:10 + size], {"__builtins__": {}})  # the text of a dictionary, as NumPy defines the format
    assert not header["fortran_order"] and (10 + size) % 64 == 0
    return header["descr"], header["shape"], file[10 + size:]


def png(width, height, rgb):
    """A picture of one colour."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\x00" + bytes(rgb) * width) * height
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hearth-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, True)

    def environment(self):
        return dict(os.environ, HEARTH_CACHE_DIR=str(self.folder / "cache"))

    def run_hearth(self, *arguments, expect=0, variables=None):
        environment = dict(self.environment(), **(variables or {}))
        done = subprocess.run([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, env=environment, timeout=TIMEOUT_S, check=False)
        if expect is not None:
            self.assertEqual(done.returncode, expect, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def run_json(self, *arguments):
        return json.loads(self.run_hearth(*arguments, "--json", "-").stdout)

    def assert_one_error(self, done, *parts):
        self.assertTrue(done.stderr.startswith("hearth: error: "), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def file(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        return path

    def oracle_model(self, name):
        """A single-operator model of tests/oracle."""
        return self.file(name, model_archive.Archive()[name])

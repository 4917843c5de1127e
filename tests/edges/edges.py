#!/usr/bin/env python3
"""Every unary and binary function at the edges of its types, on every device, against numpy.

    edges.py check DEVICE...          exit 1 where a result is a surprise without a sentence in SURPRISES, 77 without DEVICE
    edges.py table FILE DEVICE...     the same, and writes the table (docs/edges.md)

DEVICE is a name for `hearth --device`, or swiftshader. numpy calculates in float64, integers in Python's own. HEARTH_BIN
is the program. Needs the packages of tests/oracle/requirements-check.txt.
"""

import dataclasses
import math
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "oracle"), str(HERE.parent / "drivers")]
import flatbuffer_net as fb  # noqa: E402
import other_drivers  # noqa: E402
from functions import BINARY, UNARY  # noqa: E402

HEARTH = os.environ.get("HEARTH_BIN", str(HERE.parents[1] / "build/release/bin/hearth"))
NOT_THERE = 77
TINY = float(np.finfo(np.float32).tiny)
MOST_ULPS = 128  # arguments of exponentials reach 88, which multiplies their own rounding
MAGNITUDES = (
    "0 1e-45 1e-40 1.1754944e-38 1e-37 1e-30 1e-20 1e-10 5.9e-8 1e-7 1e-5 1e-3 0.02 0.1 0.25 0.49999997 0.5 0.75 0.9 "
    "0.99999994 1 1.0000001 1.1 1.5 2 2.5 3 3.1415927 3.5 4.5 5.5 6 8.5 9 10 15 20 30 50 80 87 88 88.72 89 100 103 104 "
    "500 1000.5 1e4 65504 65536 1e5 1e6 4194303.5 8388607.5 16777216 1e7 2147483648 1e10 1e15 1e19 1.8e19 1e20 1e30 3e38 "
    "3.4028235e38 inf"
)
OPERANDS = (
    "0 1e-40 1.1754944e-38 1e-20 1e-5 0.5 0.99999994 1 1.0000001 1.5 2 3 7 10 100.5 65504 8388609 16777217 2147483648 "
    "1e20 3e38 inf"
)
INTEGERS = (-1000003, -65537, -46341, -7, -3, -2, -1, 0, 1, 2, 3, 5, 7, 10, 31, 32, 100, 127, 128, 255, 256, 46341, 65535,
            65536, 1000003)
TYPES = {"float32": fb.FLOAT32, "int32": fb.INT32, "int64": fb.INT64, "int16": fb.INT16, "int8": fb.INT8,
         "uint8": fb.UINT8, "bool": fb.BOOL}
GRIDS = {"int8, quantized": (fb.INT8, 1 / 16, 3), "uint8, quantized": (fb.UINT8, 1 / 32, 100),
         "int16, quantized": (fb.INT16, 1 / 4096, 0)}


@dataclasses.dataclass
class Surprise:
    """Results that are not what numpy gives, and why that stays so."""

    letter: str
    sentence: str
    functions: tuple = ()
    devices: tuple = ()

    def covers(self, function, device):
        return (not self.functions or function in self.functions) and (not self.devices or device in self.devices)


DENORMAL = "d"  # found by what the results are, not listed by function
SURPRISES = [
    Surprise(DENORMAL, "A number below 1.2e-38 (a denormal one) counts as 0, as an operand or as a result."),
]


def floats(text):
    return np.array([sign * float(v) for v in text.split() for sign in (1, -1)] + [math.nan], np.float32)


def flushed(values):
    return np.where(np.abs(values) < TINY, np.copysign(0, values), values)


def integers(dtype):
    limits = np.iinfo(dtype)
    near = (limits.min, limits.min + 1, limits.min // 2, limits.max // 2, limits.max - 1, limits.max)
    return np.array(sorted({v for v in (*near, *INTEGERS) if limits.min <= v <= limits.max}), dtype)


def wrapped(values, dtype):
    bits, low = np.iinfo(dtype).bits, np.iinfo(dtype).min
    return np.array([(int(v) - low) % (1 << bits) + low for v in values], dtype)


class Network:
    """Functions side by side over the same inputs."""

    def __init__(self, dtype, arrays, quant=None):
        self.net, self.dtype, self.arrays, self.quant = fb.Net(), dtype, arrays, quant
        self.inputs = [self.net.input(a.shape, dtype, quant) for a in arrays]
        self.outputs = []

    def add(self, function):
        y = self.net.tensor(self.arrays[0].shape, fb.BOOL if function.compares else self.dtype,
                            None if function.compares else self.quant)
        self.net.op(function.op, self.inputs, [y], 1, function.table, **function.options)
        self.outputs.append(y)

    def run(self, device, environment):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "m.tflite").write_bytes(self.net.finish(self.outputs))
            command = [HEARTH, "run", folder / "m.tflite", "--device", device, "--output-dir", folder / "out", "--quiet",
                       "--no-cache"]
            for k, array in enumerate(self.arrays):
                np.save(folder / f"{k}.npy", array)
                command += ["--input", f"t{self.inputs[k]}={folder / f'{k}.npy'}"]
            done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise SystemExit(f"hearth run on {device} ended with {done.returncode}: {done.stderr}")
            files = sorted((folder / "out").glob("*.npy"), key=lambda path: int(path.name.split("_")[0]))
            return [np.load(path) for path in files]


def ulps(got, exact):
    """How far float results are from exact ones, in steps of float32 at the exact one; infinite where NaN or infinity
    is wrong."""
    with np.errstate(all="ignore"):
        want = exact.astype(np.float32)
        step = np.maximum(np.spacing(np.abs(want)).astype(np.float64), np.spacing(np.float32(TINY)))
        off = np.abs(got.astype(np.float64) - exact) / step
    off = np.where(np.isfinite(got) & np.isfinite(exact), off, np.inf)
    alike = (got == want) | (np.isnan(got) & np.isnan(want))
    return np.where(alike, np.where(np.isfinite(off), np.minimum(off, 0.5), 0.0), off)


def judge_floats(function, got, operands):
    """Distances, and which results are only right with denormal numbers as 0."""
    def exact(*values):
        with np.errstate(all="ignore"):
            return np.asarray(function.real(*[v.astype(np.float64) for v in values]), np.float64)

    plain = ulps(got, exact(*operands))
    best = plain
    for mask in range(1 << len(operands)):
        given = [flushed(v) if mask >> k & 1 else v for k, v in enumerate(operands)]
        best = np.minimum(best, ulps(flushed(got), flushed(exact(*given))))
    both_tiny = (np.abs(got) < TINY) & (np.abs(exact(*operands)) < 2 * TINY)
    best = np.where(both_tiny, 0, best)
    return best, (plain > MOST_ULPS) & (best <= MOST_ULPS)


class Check:
    def __init__(self, device):
        self.name = device
        self.device, self.environment = device, {}
        if device in other_drivers.DRIVERS:
            folder, self.device, environment = other_drivers.DRIVERS[device]
            if not other_drivers.is_there(folder):
                raise SystemExit(NOT_THERE)
            self.environment = environment()
        self.cells, self.letters, self.failures = {}, set(), []

    def note(self, function, kind, operands, got, wrong, denormal, text):
        letters = {DENORMAL} if denormal.any() else set()
        for k in np.flatnonzero(wrong):
            known = [s for s in SURPRISES if s.letter != DENORMAL and s.covers(function.name, self.name)]
            letters |= {s.letter for s in known}
            if not known:
                values = ", ".join(f"{v[k]:g}" for v in operands)
                self.failures.append(f"{self.name}: {function.name}({values}) of {kind} is {got[k]:g}")
        self.letters |= letters
        self.cells[function.name, kind] = " ".join([text, *sorted(letters)])

    def run(self, functions, dtype, kind, operands_of, judge, quant=None):
        """`operands_of` gives a function's operands; functions with the same ones share a network."""
        groups = {}
        for function in functions:
            operands = operands_of(function)
            groups.setdefault(b"".join(v.tobytes() for v in operands), (operands, []))[1].append(function)
        for operands, members in groups.values():
            network = Network(dtype, operands, quant)
            for function in members:
                network.add(function)
            for function, got in zip(members, network.run(self.device, self.environment), strict=True):
                judge(function, kind, operands, got)

    def of_floats(self, function, kind, operands, got):
        if function.compares:
            with np.errstate(all="ignore"):
                want, with_zeros = function.real(*operands), function.real(*map(flushed, operands))
            wrong = got != want
            return self.note(function, kind, operands, got, wrong & (got != with_zeros), wrong, "exact")
        off, denormal = judge_floats(function, got, operands)
        wrong = off > MOST_ULPS
        worst = off[~wrong].max(initial=0)
        return self.note(function, kind, operands, got, wrong, denormal, "exact" if worst <= 0.5 else f"{worst:.1f}")

    def of_integers(self, function, kind, operands, got):
        results = [function.whole(*map(int, values), np.iinfo(operands[0].dtype).bits) for values in zip(*operands)]
        want = np.array(results) if function.compares else wrapped(results, operands[0].dtype)
        none = np.zeros(got.shape, bool)
        self.note(function, kind, operands, got, got != want, none, "exact")

    def of_bools(self, function, kind, operands, got):
        want = np.array([function.logical(*values) for values in zip(*operands)], bool)
        self.note(function, kind, operands, got, got != want, np.zeros(got.shape, bool), "exact")

    def of_steps(self, function, kind, operands, got):
        dtype, scale, zero = GRIDS[kind]
        limits = np.iinfo(operands[0].dtype)
        with np.errstate(all="ignore"):
            real = function.real((operands[0].astype(np.float64) - zero) * scale)
        steps = np.nan_to_num(np.sign(real) * np.floor(np.abs(real) / scale + 0.5), nan=-math.inf) + zero
        off = np.abs(got.astype(np.float64) - np.clip(steps, limits.min, limits.max))
        text = "exact" if off.max() == 0 else f"{np.count_nonzero(off)} of {off.size} a step"
        self.note(function, kind, operands, got, off > 1, np.zeros(got.shape, bool), text)

    def run_all(self):
        one, two = floats(MAGNITUDES), np.meshgrid(floats(OPERANDS), floats(OPERANDS), indexing="ij")
        two = [v.ravel() for v in two]
        self.run([f for f in UNARY if f.real], fb.FLOAT32, "float32", lambda f: [one], self.of_floats)
        self.run([f for f in BINARY if f.real], fb.FLOAT32, "float32", lambda f: two, self.of_floats)
        for kind in ("int32", "int64", "int16", "int8", "uint8"):
            self.run_integers(kind)
        bools = [np.array(v) for v in ([False, False, True, True], [False, True, False, True])]
        for functions, operands in ((UNARY, bools[:1]), (BINARY, bools)):
            self.run([f for f in functions if f.logical], fb.BOOL, "bool", lambda f, v=operands: v, self.of_bools)
        for kind, (dtype, scale, zero) in GRIDS.items():
            limits = np.iinfo(fb.NUMPY_TYPES[dtype])
            stored = np.arange(limits.min, limits.max + 1, 1 if limits.bits == 8 else 61).astype(fb.NUMPY_TYPES[dtype])
            functions = [f for f in UNARY if f.real and kind.split(",")[0] in f.quantized]
            self.run(functions, dtype, kind, lambda f, v=stored: [v], self.of_steps, (scale, zero))

    def run_integers(self, kind):
        values = integers(fb.NUMPY_TYPES[TYPES[kind]])
        pairs = [v.ravel() for v in np.meshgrid(values, values, indexing="ij")]

        def pairs_of(function):
            return [v[pairs[1] != 0] for v in pairs] if function.divides else pairs

        for functions, operands_of in ((UNARY, lambda f: [values]), (BINARY, pairs_of)):
            taken = [f for f in functions if f.whole and kind in f.integers]
            self.run(taken, TYPES[kind], kind, operands_of, self.of_integers)


def table_text(checks):
    lines = ["| function | type | " + " | ".join(c.name for c in checks) + " |", "|---|---|" + "---|" * len(checks)]
    rows = {}  # types of a function whose cells are equal share a row
    for (function, kind), cell in sorted(checks[0].cells.items(), key=lambda item: item[0][0]):
        cells = (cell, *[check.cells[function, kind] for check in checks[1:]])
        rows.setdefault((function, cells), []).append(kind)
    lines += [f"| {function} | {'; '.join(kinds)} | {' | '.join(cells)} |" for (function, cells), kinds in rows.items()]
    lines.append("")
    lines += [f"- {s.letter}: {s.sentence}" for s in SURPRISES if any(s.letter in c.letters for c in checks)]
    return "\n".join(lines) + "\n"


def check_coverage():
    """Every function of the table of operations has a numpy function here."""
    done = subprocess.run([HEARTH, "conformance", "--list"], capture_output=True, text=True, check=True)
    # erf is of ONNX files alone: tests/onnx compares it with onnxruntime.
    with_numpy = {f.name for f in UNARY + BINARY} | {"copy", "erf"}
    # Names of cases that all unary or all binary functions have in the suite.
    listed = {line.split("/")[0] for line in done.stdout.splitlines()
              if line.split("/")[1] in ("1x3x5x7", "2x3x4x5_5_none", "2x3x4x5_5_int32")}
    missing = sorted(listed - with_numpy)
    return [f"no numpy function for {name}" for name in missing]


def main():
    match sys.argv[1:]:
        case ["check", *devices] if devices:
            path = None
        case ["table", path, *devices] if devices:
            path = pathlib.Path(path)
        case _:
            sys.exit(__doc__)
    checks = [Check(device) for device in devices]
    failures = check_coverage()
    for check in checks:
        check.run_all()
        failures += check.failures
    if path is not None:
        before = path.read_text().split("<!-- table -->")[0]
        path.write_text(before + "<!-- table -->\n\n" + table_text(checks))
    else:
        print(table_text(checks))
    print("\n".join(failures[:40]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Compares every layer of 8-bit networks with LiteRT's default kernels, bit by bit.

    layer_bits.py PLACE...    models, folders, archives of them; exit 1 if a layer differs by more than RULES allows

The interpreter without delegates gives the values between the layers. Then the network is cut, so that each operator
reads inputs of its own, and runs as a whole with XNNPACK (LiteRT's default) and on Hearth's CPU. HEARTH_BIN is the
program. Needs the packages of requirements-check.txt. "shared" is the folder of the shared models.
"""

import collections
import copy
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile
import zlib

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

import flatbuffer_net as fb

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("HEARTH_SHARED") or ROOT.parent / "shared") / "models"
HEARTH = os.environ.get("HEARTH_BIN", ROOT / "build/release/bin/hearth")
SKIPPED = 77
BYTES = (np.int8, np.uint8)
# Operators whose 8-bit results may differ, by how many steps at most, and the share of elements. The rest has the
# same bits.
RULES = {
    "CONV_2D of 4 bits": (1, 0.1, "in floats; LiteRT's own kernel"),
    "DEPTHWISE_CONV_2D of 4 bits": (1, 0.1, "in floats; LiteRT's own kernel"),
    "DEPTHWISE_CONV_2D multiplied": (1, 0.01, "LiteRT's own kernel has fixed point"),
    "MEAN": (1, 1e-3, "XNNPACK's order of roundings is another"),
    "SUM": (1, 0.01, "in floats"),
    "TRANSPOSE_CONV": (1, 0.01, "in floats"),
    "BATCH_MATMUL": (1, 0.02, "in floats"),
    "PRELU": (1, 0.02, "in floats; LiteRT's own kernel"),
    "SQUARED_DIFFERENCE": (1, 0.02, "in floats; LiteRT's own kernel"),
    "HARD_SWISH": (1, 0.05, "a table of exact results; LiteRT's own kernel has 16 bits"),
    "SQRT": (1, 1, "a table of exact results; LiteRT's own kernel truncates"),
    "RSQRT": (1, 0.1, "a table of exact results; LiteRT's own kernel"),
    "RELU": (1, 0.1, "a table of exact results; LiteRT's own kernel"),
    "RELU6": (1, 0.1, "a table of exact results; LiteRT's own kernel"),
    "SOFTMAX": (2, 0.1, "in floats; LiteRT's own kernel"),
    "LOG_SOFTMAX": (2, 0.2, "in floats; LiteRT's own kernel"),
    "L2_NORMALIZATION": (1, 0.2, "in floats; LiteRT's own kernel"),
    "DIV": (1, 0.02, "in floats; LiteRT's own kernel"),
}


def interpreter_of(content, resolver, keeps_all=False):
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=resolver, num_threads=1,
                              experimental_preserve_all_tensors=keeps_all)
    interpreter.allocate_tensors()
    return interpreter


def set_inputs(interpreter, values):
    for details, value in zip(interpreter.get_input_details(), values, strict=True):
        interpreter.set_tensor(details["index"], value)
    interpreter.invoke()


def random_inputs(interpreter, seed):
    random = np.random.default_rng(seed)
    for details in interpreter.get_input_details():
        dtype, shape = details["dtype"], details["shape"]
        if np.issubdtype(dtype, np.integer) and np.dtype(dtype).itemsize >= 4:  # places, which every tensor has
            yield random.integers(0, 2, shape).astype(dtype)
        elif np.issubdtype(dtype, np.integer):
            yield random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, endpoint=True).astype(dtype)
        else:
            yield random.uniform(-1, 1, shape).astype(dtype)


def is_quantized(tensor):
    has_scale = tensor.quantization is not None and tensor.quantization.scale is not None
    return has_scale and tensor.type in (fb.INT8, fb.UINT8)


def name_of(model, graph, op):
    name = fb.op_code(model, op)[0]
    if not name.endswith("CONV_2D"):
        return name
    x, w, y = (graph.tensors[tensor] for tensor in (op.inputs[0], op.inputs[1], op.outputs[0]))
    if w.type == fb.INT4:
        return f"{name} of 4 bits"
    return f"{name} multiplied" if name == "DEPTHWISE_CONV_2D" and x.shape[3] != y.shape[3] else name


def cut(content):
    """Each operator with 8-bit results on inputs of its own: the model, which tensor each input was, the operators."""
    model = fb.unpack(content)
    graph = model.subgraphs[0]
    made = {tensor for op in graph.operators for tensor in op.outputs} | set(graph.inputs)
    kept, feeds = [], []
    for op in graph.operators:
        # A shape that is computed cannot become an input.
        integers = any(tensor in made and graph.tensors[tensor].type in (fb.INT32, fb.INT64) for tensor in op.inputs)
        if integers or not any(is_quantized(graph.tensors[tensor]) for tensor in op.outputs):
            continue
        kept.append(op)
        inputs = list(op.inputs)
        for place, tensor in enumerate(inputs):
            if tensor in made:
                inputs[place] = len(graph.tensors)
                feeds.append((inputs[place], tensor))
                graph.tensors.append(copy.copy(graph.tensors[tensor]))
        op.inputs = inputs
    graph.operators, graph.inputs = kept, [tensor for tensor, _ in feeds]
    graph.outputs = [tensor for op in kept for tensor in op.outputs]
    model.signatureDefs = model.metadata = None
    for index, tensor in enumerate(graph.tensors):
        tensor.name = f"t{index}"
    return fb.pack(model), feeds, [name_of(model, graph, op) for op in kept for _ in op.outputs]


def run_hearth(content, names, values):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "m.tflite").write_bytes(content)
        command = [HEARTH, "run", folder / "m.tflite", "--device", "cpu", "--output-dir", folder / "out", "--quiet",
                   "--no-cache"]
        for k, (name, value) in enumerate(zip(names, values, strict=True)):
            np.save(folder / f"{k}.npy", value)
            command += ["--input", f"{name}={folder / f'{k}.npy'}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        files = sorted((folder / "out").glob("*.npy"), key=lambda path: int(path.name.split("_")[0]))
        return [np.load(path) for path in files]


def compare(name, content, table):
    whole = interpreter_of(content, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES, True)
    set_inputs(whole, random_inputs(whole, zlib.crc32(name.encode())))
    layers, feeds, ops = cut(content)
    if not ops:
        return
    values = [whole.get_tensor(tensor).copy() for _, tensor in feeds]
    default = interpreter_of(layers, OpResolverType.AUTO)
    set_inputs(default, values)
    theirs = [default.get_tensor(details["index"]) for details in default.get_output_details()]
    ours = run_hearth(layers, [f"t{tensor}" for tensor, _ in feeds], values)
    for op, our, their in zip(ops, ours, theirs, strict=True):
        if their.dtype in BYTES:
            off = np.abs(our.astype(np.int32) - their.astype(np.int32))
            row = table[op]
            row["elements"] += off.size
            row["off"] += int(np.count_nonzero(off))
            row["most"] = max(row["most"], int(off.max(initial=0)))


def models_of(place):
    if place.suffix == ".zip":
        with zipfile.ZipFile(place) as archive:
            for name in archive.namelist():
                yield name, archive.read(name)
        return
    for file in sorted(place.rglob("*.tflite")) if place.is_dir() else [place]:
        yield file.name, file.read_bytes()


def has_8_bit_layers(model):
    made = [model.subgraphs[0].tensors[tensor] for op in model.subgraphs[0].operators for tensor in op.outputs]
    return len(model.subgraphs) == 1 and any(is_quantized(tensor) for tensor in made)


def main():
    table, compared = collections.defaultdict(collections.Counter), 0
    for place in sys.argv[1:]:
        for name, content in models_of(SHARED if place == "shared" else pathlib.Path(place)):
            if has_8_bit_layers(fb.unpack(content)):
                compare(name, content, table)
                compared += 1
    if not compared:
        print("SKIP: no 8-bit networks in", *sys.argv[1:])
        return SKIPPED
    failed = False
    for op, row in sorted(table.items()):
        steps, share, why = RULES.get(op, (0, 0, ""))
        is_over = row["most"] > steps or row["off"] > share * row["elements"]
        failed |= is_over
        print(f"{op:26} {row['off']:8} of {row['elements']:10} differ, largest {row['most']}  {why}"
              f"{'  OVER' if is_over else ''}")
    print(f"{compared} networks")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

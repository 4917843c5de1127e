#!/usr/bin/env python3
"""Runs every model of models.zip with the LiteRT interpreter on the CPU, without delegates, on seeded inputs.

The answer is that of the reference kernels, where the interpreter has one for the operator and it is right, and that of
the optimized kernels otherwise.

Writes expected.bin (the bytes of all inputs and outputs) and expected.json (where each lies, and what a result may
differ by) into the output folder. Needs the packages of requirements-check.txt.
"""

import argparse
import json
import os
import pathlib
import sys
import zlib

import model_archive
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

# Where the interpreter's reference kernel is wrong and its optimized one right, as TensorFlow itself says.
REFERENCE_IS_WRONG = {
    ("SUM", "int8"): "sums bytes without widening them (ai-edge-litert 2.3.0)",
    ("LOCAL_RESPONSE_NORMALIZATION", "float32"): "leaves out the last channel of each window (ai-edge-litert 2.3.0)",
}
STATE_RUNS = 3  # of models with state: the third result depends on both earlier ones


def make_input(random, details, rule):
    """`rule`: [low, high], with a third number multiples of it; "stored": every stored value of a quantized type."""
    shape, dtype = details["shape"], details["dtype"]
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(np.bool_)
    if rule == "stored":
        limits = np.iinfo(dtype)
        drawn = np.uint64 if dtype == np.uint64 else np.int64
        return random.integers(limits.min, limits.max, shape, drawn, endpoint=True).astype(dtype)
    low, high = rule[:2]
    if np.issubdtype(dtype, np.integer):
        return random.integers(int(low), int(high), shape, endpoint=True).astype(dtype)
    if len(rule) > 2:
        steps = random.integers(round(low / rule[2]), round(high / rule[2]), shape, endpoint=True)
        return (steps * rule[2]).astype(dtype)
    return np.asarray(random.uniform(low, high, shape)).astype(dtype)


def open_interpreter(content, resolver):
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=resolver, num_threads=1)
    interpreter.allocate_tensors()
    return interpreter


def weights_of(model, graph, index):
    """Constant weights as the interpreter reads them under float data, or None: as int8, without zero point."""
    tensor = graph.tensors[index]
    data = model.buffers[tensor.buffer].data
    types = {schema.TensorType.INT8: np.int8, schema.TensorType.UINT8: np.int8, schema.TensorType.FLOAT32: np.float32}
    if data is None or len(data) == 0:
        return None
    if tensor.type == schema.TensorType.INT4:
        low, high = ((np.asarray(data, np.int8) << 4) >> 4), np.asarray(data, np.int8) >> 4
        values = np.stack([low, high], axis=-1).flatten()[: int(np.prod(tensor.shape))].astype(np.float64)
    elif tensor.type in types:
        values = np.frombuffer(np.asarray(data, np.uint8).tobytes(), types[tensor.type]).astype(np.float64)
    else:
        return None
    values = values.reshape(tensor.shape)
    if tensor.quantization is None or tensor.quantization.scale is None:
        return values
    along = [1] * values.ndim
    if len(tensor.quantization.scale) > 1:
        along[tensor.quantization.quantizedDimension] = -1
    return values * np.reshape(tensor.quantization.scale, along)


def hybrid_error(content, inputs):
    """How far results may lie from exact arithmetic when activations are rounded to 8 bits before each product.

    A value rounded with step s is off by at most s / 2, a sum of n products with weights w by at most s / 2 * sum|w|.
    The step is max|x| / 127 where the rounding is symmetric, and at most (2 * max|x|) / 255 where it is not, which is
    less. The sum over all filters of the model is one number here; gates of a recurrent cell have slopes of at most 1
    and follow each other in time, so the caller multiplies it by the number of runs.
    """
    model = schema.ModelT.InitFromPackedBuf(content, 0)
    graph = model.subgraphs[0]
    largest_input = max(1.0, max(float(np.max(np.abs(x))) for x in inputs))
    total = 0.0
    for op in graph.operators:
        for index in op.inputs:
            if index < 0 or graph.tensors[index].type == schema.TensorType.FLOAT32:
                continue
            weights = weights_of(model, graph, index)
            if weights is None or weights.ndim < 2:
                continue
            code = model.operatorCodes[op.opcodeIndex]
            is_depthwise = max(code.builtinCode, code.deprecatedBuiltinCode) == schema.BuiltinOperator.DEPTHWISE_CONV_2D
            sums = (
                np.abs(weights).sum(axis=(0, 1, 2))
                if is_depthwise
                else np.abs(weights).reshape(len(weights), -1).sum(axis=1)
            )
            total += float(sums.max())
    return total * largest_input / 254


def results(interpreter, inputs, runs):
    for _ in range(runs):
        for details, values in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.set_tensor(details["index"], values)
        interpreter.invoke()
    return [interpreter.get_tensor(details["index"]) for details in interpreter.get_output_details()]


def distance(a, b):
    return float(np.max(np.abs(a.astype(np.float64) - b.astype(np.float64)), initial=0))


def run_model(content, entry):
    """Inputs, outputs, number of runs, and per output how far the interpreter's two sets of kernels differ."""
    optimized = open_interpreter(content, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    random = np.random.default_rng(zlib.crc32(entry["file"].encode()))
    inputs = [
        make_input(random, details, rule)
        for details, rule in zip(optimized.get_input_details(), entry["inputs"], strict=True)
    ]
    graphs = schema.ModelT.InitFromPackedBuf(content, 0).subgraphs
    runs = STATE_RUNS if any(tensor.isVariable for graph in graphs for tensor in graph.tensors) else 1
    outputs = results(optimized, inputs, runs)
    peer_distances = [0.0] * len(outputs)
    if (entry["op"], str(inputs[0].dtype)) not in REFERENCE_IS_WRONG:
        try:
            references = results(open_interpreter(content, OpResolverType.BUILTIN_REF), inputs, runs)
        except ValueError as error:
            if "Didn't find op" not in str(error):
                raise
        else:
            peer_distances = [distance(a, b) for a, b in zip(references, outputs, strict=True)]
            outputs = references
    return inputs, outputs, runs, peer_distances


class ByteFile:
    def __init__(self, path):
        self.file, self.size = open(path, "wb"), 0

    def append(self, values):
        data = np.ascontiguousarray(values).tobytes()
        self.file.write(data)
        self.size += len(data)
        return {"offset": self.size - len(data), "size": len(data)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=pathlib.Path)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    data, listed, failed = ByteFile(options.output / "expected.bin"), [], []
    models = model_archive.Archive()
    for entry in model_archive.read_manifest():
        content = models[entry["file"]]
        try:
            inputs, outputs, runs, peer_distances = run_model(content, entry)
        except (RuntimeError, ValueError) as error:
            failed.append(f"{entry['file']}: {str(error).strip()[:300]}")
            continue
        item = {key: entry[key] for key in ("file", "family", "op", "version", "shows", "tolerance")}
        item |= {
            "runs": runs,
            "inputs": [data.append(values) for values in inputs],
            "outputs": [
                data.append(values) | {"dtype": str(values.dtype), "shape": list(values.shape), "peer_distance": peer}
                for values, peer in zip(outputs, peer_distances, strict=True)
            ],
        }
        if "steps" in entry:
            item["steps"] = entry["steps"]
        if entry["tolerance"] == "hybrid":
            item["hybrid_error"] = runs * hybrid_error(content, inputs)
        for values in outputs:
            if values.size > 1 and entry["tolerance"] != "exact" and np.all(values == values.flat[0]):
                print(f"{entry['file']}: all outputs are {values.flat[0]}", file=sys.stderr)
        listed.append(item)
    partial = options.output / "expected.json.part"  # whole or not there: the test starts as soon as it sees it
    partial.write_text(json.dumps({"models": listed}, indent=1))
    data.file.close()
    os.replace(partial, options.output / "expected.json")
    print(f"{len(listed)} models")
    for line in failed:
        print("LiteRT refuses", line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What LiteRT makes of NaN, as the table of docs/results.md.

    nan_table.py write FILE     behind the line "<!-- NaN in LiteRT -->", in place of the table there
    nan_table.py check FILE     exit 1 if the table there is another one

Each operator runs on the numbers 1 to 21 with a NaN first, in the middle or last: kernels handle the last ones of a
row apart. Needs the packages of tests/oracle/requirements-check.txt, whose version of LiteRT the table names.
"""

import importlib.metadata
import pathlib
import sys

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle"))
import flatbuffer_net as fb  # noqa: E402

COUNT, PLACES = 21, {"first": 0, "middle": 10, "last": 20}
MARK = "<!-- NaN in LiteRT -->"
RESOLVERS = (OpResolverType.AUTO, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
UNARY = ("RELU RELU6 RELU_N1_TO_1 RELU_0_TO_1 ABS NEG SQUARE SQRT RSQRT LOG EXP SIN COS FLOOR CEIL ROUND SIGN TANH "
         "LOGISTIC LEAKY_RELU ELU GELU HARD_SWISH SOFTMAX LOG_SOFTMAX L2_NORMALIZATION CUMSUM").split()
BINARY = "ADD SUB MUL DIV POW MAXIMUM MINIMUM SQUARED_DIFFERENCE FLOOR_DIV FLOOR_MOD ATAN2 PRELU".split()
REDUCTIONS = "SUM MEAN REDUCE_PROD REDUCE_MAX REDUCE_MIN".split()
WINDOWS = "CONV_2D DEPTHWISE_CONV_2D FULLY_CONNECTED AVERAGE_POOL_2D MAX_POOL_2D RESIZE_BILINEAR".split()
TABLES = {"ABS": "Abs", "NEG": "Neg", "SQUARE": "Square", "EXP": "Exp", "COS": "Cos", "SIGN": "Sign", "GELU": "Gelu",
          "LEAKY_RELU": "LeakyRelu", "HARD_SWISH": "HardSwish", "SOFTMAX": "Softmax", "LOG_SOFTMAX": "LogSoftmax",
          "L2_NORMALIZATION": "L2Norm", "CUMSUM": "Cumsum", "ADD": "Add", "SUB": "Sub", "MUL": "Mul", "DIV": "Div",
          "POW": "Pow", "MAXIMUM": "MaximumMinimum", "MINIMUM": "MaximumMinimum",
          "SQUARED_DIFFERENCE": "SquaredDifference", "FLOOR_DIV": "FloorDiv", "FLOOR_MOD": "FloorMod"}
# XNNPACK chooses its kernels by the processor. What it gives on one with AVX-512, and on one with AVX2.
BY_PROCESSOR = {"LOG": ("NaN", "88.78")}
FIELDS = {"SOFTMAX": {"beta": 1.0}, "LEAKY_RELU": {"alpha": 0.5}}


def ones(*shape):
    return np.ones(shape, np.float32)


def network(op):
    """A model of one operator, and the shape that its input has."""
    net = fb.Net()
    shape = (1, 1, COUNT, 1) if op in WINDOWS and op != "FULLY_CONNECTED" else (1, COUNT)
    x = net.input(shape)
    y = net.tensor(shape)
    if op in UNARY:
        more = [net.const(np.array(1, np.int32))] if op == "CUMSUM" else []
        net.op(op, [x, *more], [y], 1, TABLES.get(op), **FIELDS.get(op, {}))
    elif op in BINARY:
        net.op(op, [x, net.const(ones(1, COUNT) * 2)], [y], 1, TABLES.get(op))
    elif op in REDUCTIONS:
        net.op(op, [x, net.const(np.array([1], np.int32))], [y := net.tensor((1, 1))], 1, "Reducer", keepDims=True)
    elif op == "FULLY_CONNECTED":
        net.op(op, [x, net.const(ones(1, COUNT)), net.const(ones(1))], [y := net.tensor((1, 1))], 1, "FullyConnected")
    elif op.endswith("POOL_2D"):
        net.op(op, [x], [y := net.tensor((1, 1, 1, 1))], 1, "Pool2D", strideH=1, strideW=1, filterHeight=1,
               filterWidth=COUNT, padding=1)
    elif op == "RESIZE_BILINEAR":
        size = net.const(np.array([1, 2 * COUNT], np.int32))
        net.op(op, [x, size], [y := net.tensor((1, 1, 2 * COUNT, 1))], 1, "ResizeBilinear")
    else:
        more = {"depthMultiplier": 1} if op.startswith("DEPTH") else {}
        table = "DepthwiseConv2D" if more else "Conv2D"
        net.op(op, [x, net.const(ones(1, 1, COUNT, 1)), net.const(ones(1))], [y := net.tensor((1, 1, 1, 1))], 1, table,
               strideH=1, strideW=1, padding=1, **more)
    return net.finish([y]), shape


def answers(op, resolver):
    """The first element that is not NaN where it should be, by the NaN's place; "NaN" where there is none."""
    content, shape = network(op)
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=resolver, num_threads=1)
    interpreter.allocate_tensors()
    texts = []
    for place in PLACES.values():
        x = np.arange(1, COUNT + 1, dtype=np.float32)
        x[place] = np.nan
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x.reshape(shape))
        interpreter.invoke()
        y = interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).ravel()
        whole = op in ("SOFTMAX", "LOG_SOFTMAX", "L2_NORMALIZATION")
        touched = y if whole or y.size == 1 else y[place:] if op == "CUMSUM" else y[2 * place : 2 * place + 1]
        if y.size == COUNT and not whole and op != "CUMSUM":
            touched = y[place : place + 1]
        numbers = touched[~np.isnan(touched)]
        texts.append(f"{numbers[0]:.4g}" if numbers.size else "NaN")
    if set(texts) <= set(BY_PROCESSOR.get(op, ())) and resolver == OpResolverType.AUTO:
        return "{} with AVX-512, {} with AVX2".format(*BY_PROCESSOR[op])
    if len(set(texts)) == 1:
        return texts[0]
    return ", ".join(f"{text} if it is {name}" for name, text in zip(PLACES, texts))


def table():
    version = importlib.metadata.version("ai-edge-litert")
    lines = [f"| operators | Hearth | LiteRT {version} with XNNPACK, its default | LiteRT without delegates |",
             "|---|---|---|---|"]
    rows = {}
    for op in [*WINDOWS, *UNARY, *BINARY, *REDUCTIONS]:
        rows.setdefault(tuple(answers(op, resolver) for resolver in RESOLVERS), []).append(op)
    for (default, plain), ops in rows.items():
        lines.append(f"| {', '.join(ops)} | NaN | {default} | {plain} |")
    lines.append("| comparisons, ARG_MAX, ARG_MIN, TOPK_V2, CAST to integers, QUANTIZE | a number: false, an index, "
                 "the type's highest (CAST) or lowest number (QUANTIZE) | a number | a number |")
    return "\n".join(lines) + "\n"


def main():
    match sys.argv[1:]:
        case ["write" | "check" as verb, path]:
            path = pathlib.Path(path)
        case _:
            sys.exit(__doc__)
    before, after = path.read_text().split(MARK)
    rest = after.lstrip("\n").split("\n\n", 1)[1]
    text = f"{before}{MARK}\n\n{table()}\n{rest}"
    if verb == "write":
        path.write_text(text)
    elif text != path.read_text():
        sys.exit(f"{path} has another table than {sys.argv[0]} makes:\n{table()}")


if __name__ == "__main__":
    main()

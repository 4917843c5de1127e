"""What each elementwise function means, written without Hearth: in numpy for real numbers, in Python for integers."""

import dataclasses
import math
from collections.abc import Callable

import numpy as np

WIDE = ("int32", "int64")
ALL = ("int32", "int64", "int16", "int8", "uint8")
GRIDS = ("int8", "uint8", "int16")


@dataclasses.dataclass
class Function:
    name: str
    op: str  # in the file format
    table: str | None = None  # its options
    real: Callable | None = None  # over float64
    whole: Callable | None = None  # over integers, the last argument is the type's number of bits; wrapped by the caller
    integers: tuple = ALL
    logical: Callable | None = None
    quantized: tuple = ()
    compares: bool = False
    divides: bool = False
    options: dict = dataclasses.field(default_factory=dict)


def clamp(v, low, high):
    return np.where(v < low, low, np.where(high < v, high, v))


def gelu(v):
    return 0.5 * v * np.vectorize(math.erfc)(-v / math.sqrt(2))


def gelu_tanh(v):
    """0.5 v (1 + tanh(u)), in the form that keeps its digits."""
    return v / (1 + np.exp(-2 * math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)))


def truncated_quotient(a, b, _):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def power(a, b, _):
    if b >= 0:
        return pow(a, b, 1 << 64)
    return {1: 1, -1: 1 if b % 2 == 0 else -1}.get(a, 0)


UNARY = [
    Function("abs", "ABS", "Abs", np.abs, lambda v, _: abs(v), WIDE, quantized=("int8", "int16")),
    Function("ceil", "CEIL", None, np.ceil),
    Function("cos", "COS", "Cos", np.cos),
    Function("elu", "ELU", None, lambda v: np.where(v < 0, np.expm1(v), v), quantized=("int8",)),
    Function("exp", "EXP", "Exp", np.exp, quantized=("int8", "int16")),
    Function("floor", "FLOOR", None, np.floor),
    Function("gelu", "GELU", "Gelu", gelu, quantized=("int8", "uint8")),
    Function("gelu_tanh", "GELU", "Gelu", gelu_tanh, options={"approximate": True}),
    Function("hard_swish", "HARD_SWISH", "HardSwish", lambda v: v * clamp(v + 3, 0, 6) / 6, quantized=("int8", "uint8")),
    Function("leaky_relu", "LEAKY_RELU", "LeakyRelu", lambda v: np.where(v < 0, float(np.float32(0.2)) * v, v),
             quantized=GRIDS, options={"alpha": 0.2}),
    Function("log", "LOG", None, np.log, quantized=("int8", "int16")),
    Function("logistic", "LOGISTIC", None, lambda v: 1 / (1 + np.exp(-v)), quantized=GRIDS),
    Function("neg", "NEG", "Neg", np.negative, lambda v, _: -v, WIDE),
    Function("relu", "RELU", None, lambda v: np.where(v < 0, 0, v), quantized=GRIDS),
    Function("relu_0_to_1", "RELU_0_TO_1", None, lambda v: clamp(v, 0, 1), quantized=("int8", "uint8")),
    Function("relu6", "RELU6", None, lambda v: clamp(v, 0, 6), quantized=GRIDS),
    Function("relu_n1_to_1", "RELU_N1_TO_1", None, lambda v: clamp(v, -1, 1), quantized=("int8", "uint8")),
    Function("round", "ROUND", None, np.round),
    Function("rsqrt", "RSQRT", None, lambda v: 1 / np.sqrt(v), quantized=("int8", "int16")),
    Function("sign", "SIGN", "Sign", np.sign, lambda v, _: (v > 0) - (v < 0), WIDE),
    Function("sin", "SIN", None, np.sin),
    Function("sqrt", "SQRT", None, np.sqrt),
    Function("square", "SQUARE", "Square", np.square),
    Function("tanh", "TANH", None, np.tanh, quantized=GRIDS),
    Function("logical_not", "LOGICAL_NOT", "LogicalNot", logical=lambda v: not v),
]


def comparison(name, op, table, compare):
    return Function(name, op, table, compare, lambda a, b, _: compare(a, b), compares=True)


BINARY = [
    Function("add", "ADD", "Add", np.add, lambda a, b, _: a + b),
    Function("sub", "SUB", "Sub", np.subtract, lambda a, b, _: a - b),
    Function("mul", "MUL", "Mul", np.multiply, lambda a, b, _: a * b),
    Function("div", "DIV", "Div", np.divide, truncated_quotient, divides=True),
    Function("maximum", "MAXIMUM", "MaximumMinimum", np.maximum, lambda a, b, _: max(a, b)),
    Function("minimum", "MINIMUM", "MaximumMinimum", np.minimum, lambda a, b, _: min(a, b)),
    Function("pow", "POW", "Pow", np.power, power, WIDE),
    Function("squared_difference", "SQUARED_DIFFERENCE", "SquaredDifference", lambda a, b: np.square(a - b),
             lambda a, b, _: (a - b) ** 2),
    Function("floor_div", "FLOOR_DIV", "FloorDiv", lambda a, b: np.floor(a / b), lambda a, b, _: a // b, divides=True),
    Function("floor_mod", "FLOOR_MOD", "FloorMod", np.mod, lambda a, b, _: a % b, divides=True),
    Function("atan2", "ATAN2", None, np.arctan2),
    comparison("equal", "EQUAL", "Equal", lambda a, b: a == b),
    comparison("not_equal", "NOT_EQUAL", "NotEqual", lambda a, b: a != b),
    comparison("less", "LESS", "Less", lambda a, b: a < b),
    comparison("less_equal", "LESS_EQUAL", "LessEqual", lambda a, b: a <= b),
    comparison("greater", "GREATER", "Greater", lambda a, b: a > b),
    comparison("greater_equal", "GREATER_EQUAL", "GreaterEqual", lambda a, b: a >= b),
    Function("logical_and", "LOGICAL_AND", "LogicalAnd", logical=lambda a, b: a and b),
    Function("logical_or", "LOGICAL_OR", "LogicalOr", logical=lambda a, b: a or b),
    Function("bitwise_xor", "BITWISE_XOR", "BitwiseXor", whole=lambda a, b, _: a ^ b),
    Function("bitwise_and", "STABLEHLO_AND", None, whole=lambda a, b, _: a & b),
    Function("right_shift", "RIGHT_SHIFT", "RightShift", whole=lambda a, b, bits: a >> min(max(b, 0), bits - 1)),
]

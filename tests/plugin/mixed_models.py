"""Networks around operators that Hearth may refuse: what it has kernels for lies before and behind each. All have an input
of ROWS x COLUMNS; the operators' results may have sizes that depend on what is in it."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
import flatbuffer_net as fb  # noqa: E402

ROWS, COLUMNS = 4, 6
MODELS = {}
COMPLEX64 = fb.schema.TensorType.COMPLEX64


def model(build):
    """`build(net, y)` adds the operator behind y, of ROWS x COLUMNS; gives its result and the result's shape and type."""

    def make():
        net = fb.Net()
        x = net.input((ROWS, COLUMNS))
        half = net.const(np.full((1, 1), 0.5, np.float32))
        y = net.op("MUL", [x, half], [net.tensor((ROWS, COLUMNS))], options="Mul")
        made, shape, dtype = build(net, y)
        if dtype != fb.FLOAT32:
            made = cast(net, made, shape, fb.FLOAT32)
        doubled = net.op("ADD", [made, made], [net.tensor(shape)], options="Add")
        last = net.op("TANH", [doubled], [net.tensor(shape)])
        beside = net.op("EXP", [y], [net.tensor((ROWS, COLUMNS))], options="Exp")
        return net.finish([last, beside])

    MODELS[build.__name__] = make
    return build


def cast(net, tensor, shape, dtype):
    return net.op("CAST", [tensor], [net.tensor(shape, dtype)], options="Cast", outDataType=dtype)


def integers(net, *values, dtype=np.int32):
    return net.const(np.array(values, dtype))


def run_time_number(net, y, number):
    """An int32 scalar that the graph computes: `number`, whatever is in y."""
    maximum = net.op("REDUCE_MAX", [y, integers(net, 0, 1)], [net.tensor(())], options="Reducer")
    zero = net.op("MUL", [maximum, net.const(np.float32(0))], [net.tensor(())], options="Mul")
    real = net.op("ADD", [zero, net.const(np.float32(number))], [net.tensor(())], options="Add")
    return cast(net, real, (), fb.INT32)


def run_time_list(net, y, *numbers):
    scalars = [run_time_number(net, y, number) for number in numbers]
    packed = net.tensor((len(numbers),), fb.INT32)
    return net.op("PACK", scalars, [packed], options="Pack", valuesCount=len(numbers), axis=0)


def function(name, operands=2):
    """A subgraph of one operator on tensors of ROWS x COLUMNS."""
    net = fb.Net()
    inputs = [net.input((ROWS, COLUMNS)) for _ in range(operands)]
    return net.finish([net.op(name, inputs, [net.tensor((ROWS, COLUMNS))])])


@model
def matrix_diag(net, y):
    made = net.op("MATRIX_DIAG", [y], [net.tensor((ROWS, COLUMNS, COLUMNS))], options="MatrixDiag")
    return made, (ROWS, COLUMNS, COLUMNS), fb.FLOAT32


@model
def matrix_set_diag(net, y):
    diagonal = net.const(np.arange(ROWS, dtype=np.float32))
    made = net.op("MATRIX_SET_DIAG", [y, diagonal], [net.tensor((ROWS, COLUMNS))], options="MatrixSetDiag")
    return made, (ROWS, COLUMNS), fb.FLOAT32


@model
def reverse_sequence(net, y):
    lengths = integers(net, 1, 2, 3, 6)
    options = {"options": "ReverseSequence", "seqDim": 1, "batchDim": 0}
    return net.op("REVERSE_SEQUENCE", [y, lengths], [net.tensor((ROWS, COLUMNS))], **options), (ROWS, COLUMNS), fb.FLOAT32


@model
def scatter_nd(net, y):
    indices, shape = net.const(np.array([[4], [0], [3], [1]], np.int32)), integers(net, 5, COLUMNS)
    made = net.op("SCATTER_ND", [indices, y, shape], [net.tensor((5, COLUMNS))], options="ScatterNd")
    return made, (5, COLUMNS), fb.FLOAT32


@model
def segment_sum(net, y):
    made = net.op("SEGMENT_SUM", [y, integers(net, 0, 0, 1, 2)], [net.tensor((3, COLUMNS))], options="SegmentSum")
    return made, (3, COLUMNS), fb.FLOAT32


@model
def unsorted_segment_max(net, y):
    operands = [y, integers(net, 2, 0, 2, 1), net.const(np.int32(3))]
    made = net.op("UNSORTED_SEGMENT_MAX", operands, [net.tensor((3, COLUMNS))], options="UnsortedSegmentMax")
    return made, (3, COLUMNS), fb.FLOAT32


@model
def zeros_like(net, y):
    return net.op("ZEROS_LIKE", [y], [net.tensor((ROWS, COLUMNS))], options="ZerosLike"), (ROWS, COLUMNS), fb.FLOAT32


@model
def fake_quant(net, y):
    options = {"options": "FakeQuant", "min": -0.5, "max": 0.5, "numBits": 8}
    return net.op("FAKE_QUANT", [y], [net.tensor((ROWS, COLUMNS))], **options), (ROWS, COLUMNS), fb.FLOAT32


@model
def sparse_to_dense(net, y):
    indices, shape = net.const(np.array([[0, 1], [2, 3]], np.int32)), integers(net, ROWS, COLUMNS)
    operands = [indices, shape, net.const(np.array([3, 4], np.float32)), net.const(np.float32(0))]
    dense = net.op("SPARSE_TO_DENSE", operands, [net.tensor((ROWS, COLUMNS))], options="SparseToDense")
    return net.op("ADD", [dense, y], [net.tensor((ROWS, COLUMNS))], options="Add"), (ROWS, COLUMNS), fb.FLOAT32


@model
def rfft2d(net, y):
    image = net.op("RESHAPE", [y, integers(net, 1, ROWS, COLUMNS)], [net.tensor((1, ROWS, COLUMNS))])
    padded = net.op("PAD", [image, net.const(np.array([[0, 0], [0, 0], [0, 2]], np.int32))], [net.tensor((1, ROWS, 8))])
    spectrum = net.op("RFFT2D", [padded, integers(net, ROWS, 8)], [net.tensor((1, ROWS, 5), COMPLEX64)], options="Rfft2d")
    return net.op("COMPLEX_ABS", [spectrum], [net.tensor((1, ROWS, 5))]), (1, ROWS, 5), fb.FLOAT32


@model
def conv_3d(net, y):
    volume = net.op("RESHAPE", [y, integers(net, 1, 2, 2, COLUMNS, 1)], [net.tensor((1, 2, 2, COLUMNS, 1))])
    weights = net.const(np.arange(16, dtype=np.float32).reshape(2, 2, 2, 1, 2) / 16)
    shape = (1, 1, 1, COLUMNS - 1, 2)
    options = {"padding": fb.schema.Padding.VALID}
    for axis in "DHW":
        options |= {f"stride{axis}": 1, f"dilation{axis}Factor": 1}
    return net.op("CONV_3D", [volume, weights], [net.tensor(shape)], options="Conv3D", **options), shape, fb.FLOAT32


@model
def bucketize(net, y):
    made = net.op(
        "BUCKETIZE", [y], [net.tensor((ROWS, COLUMNS), fb.INT32)], options="Bucketize", boundaries=[-0.2, 0.0, 0.3]
    )
    return made, (ROWS, COLUMNS), fb.INT32


@model
def bidirectional_sequence_rnn(net, y):
    steps = net.op("RESHAPE", [y, integers(net, ROWS, 1, COLUMNS)], [net.tensor((ROWS, 1, COLUMNS))])
    random = np.random.default_rng(5)

    def cell():
        shapes = (3, COLUMNS), (3, 3), (3,)
        constants = [net.const(random.uniform(-0.5, 0.5, shape).astype(np.float32)) for shape in shapes]
        return [*constants, net.tensor((1, 3), variable=True)]

    operands = [steps, *cell(), *cell(), -1, -1, -1]
    options = {"timeMajor": True, "mergeOutputs": True}
    options["fusedActivationFunction"] = fb.schema.ActivationFunctionType.TANH
    shape = (ROWS, 1, 6)
    made = net.op("BIDIRECTIONAL_SEQUENCE_RNN", operands, [net.tensor(shape)], options="BidirectionalSequenceRNN", **options)
    return made, shape, fb.FLOAT32


@model
def integers_of_64_bits(net, y):
    wide = cast(net, y, (ROWS, COLUMNS), fb.INT64)
    seven = net.const(np.full((1, 1), 7, np.int64))
    made = net.op("MUL", [wide, seven], [net.tensor((ROWS, COLUMNS), fb.INT64)], options="Mul", version=3)
    return made, (ROWS, COLUMNS), fb.INT64


@model
def where(net, y):
    zero = net.const(np.zeros((1, 1), np.float32))
    mask = net.op("GREATER", [y, zero], [net.tensor((ROWS, COLUMNS), fb.BOOL)], options="Greater")
    return net.op("WHERE", [mask], [net.tensor((1, 2), fb.INT64)], options="Where"), (1, 2), fb.INT64


@model
def where_behind_which_sizes_are_fixed_again(net, y):
    """What lies behind a sum over all that WHERE found has a fixed shape."""
    zero = net.const(np.zeros((1, 1), np.float32))
    mask = net.op("GREATER", [y, zero], [net.tensor((ROWS, COLUMNS), fb.BOOL)], options="Greater")
    found = net.op("WHERE", [mask], [net.tensor((1, 2), fb.INT64)], options="Where")
    places = cast(net, found, (1, 2), fb.FLOAT32)
    return net.op("SUM", [places, integers(net, 0)], [net.tensor((2,))], options="Reducer"), (2,), fb.FLOAT32


@model
def unique(net, y):
    line = net.op("RESHAPE", [y, integers(net, ROWS * COLUMNS)], [net.tensor((ROWS * COLUMNS,))])
    whole = cast(net, net.op("ROUND", [line], [net.tensor((ROWS * COLUMNS,))]), (ROWS * COLUMNS,), fb.INT32)
    outputs = [net.tensor((1,), fb.INT32), net.tensor((ROWS * COLUMNS,), fb.INT32)]
    return net.op("UNIQUE", [whole], outputs, options="Unique", idxOutType=fb.INT32), (1,), fb.INT32


@model
def non_max_suppression(net, y):
    boxes = net.op("SLICE", [y, integers(net, 0, 0), integers(net, 4, 4)], [net.tensor((4, 4))])
    scores = net.const(np.array([0.9, 0.3, 0.8, 0.5], np.float32))
    limits = [net.const(np.int32(3)), net.const(np.float32(0.5)), net.const(np.float32(0.2))]
    outputs = [net.tensor((3,), fb.INT32), net.tensor((), fb.INT32)]
    kept = net.op("NON_MAX_SUPPRESSION_V4", [boxes, scores, *limits], outputs, options="NonMaxSuppressionV4")
    return net.op("GATHER", [boxes, kept], [net.tensor((3, 4))], options="Gather"), (3, 4), fb.FLOAT32


@model
def range_of_computed_length(net, y):
    numbers = [net.const(np.int32(0)), run_time_number(net, y, 5), net.const(np.int32(1))]
    return net.op("RANGE", numbers, [net.tensor((1,), fb.INT32)], options="Range"), (1,), fb.INT32


@model
def fill_of_computed_shape(net, y):
    made = net.op("FILL", [run_time_list(net, y, 2, 3), net.const(np.float32(0.25))], [net.tensor((1, 1))], options="Fill")
    return made, (1, 1), fb.FLOAT32


@model
def reshape_to_a_computed_shape(net, y):
    return net.op("RESHAPE", [y, run_time_list(net, y, 8, 3)], [net.tensor((1, 1))]), (1, 1), fb.FLOAT32


@model
def broadcast_to_a_computed_shape(net, y):
    made = net.op("BROADCAST_TO", [y, run_time_list(net, y, 2, ROWS, COLUMNS)], [net.tensor((1, 1, 1))], version=2)
    return made, (1, 1, 1), fb.FLOAT32


@model
def tile_a_computed_number_of_times(net, y):
    return net.op("TILE", [y, run_time_list(net, y, 2, 1)], [net.tensor((1, 1))]), (1, 1), fb.FLOAT32


@model
def slice_of_a_computed_size(net, y):
    operands = [y, integers(net, 0, 1), run_time_list(net, y, 2, 3)]
    return net.op("SLICE", operands, [net.tensor((2, 3))], options="Slice"), (2, 3), fb.FLOAT32


@model
def the_largest_of_a_computed_number(net, y):
    outputs = [net.tensor((1, 1)), net.tensor((1, 1), fb.INT32)]
    return net.op("TOPK_V2", [y, run_time_number(net, y, 3)], outputs, options="TopKV2"), (1, 1), fb.FLOAT32


@model
def sum_over_computed_axes(net, y):
    return net.op("SUM", [y, run_time_list(net, y, 1)], [net.tensor((1,))], options="Reducer"), (1,), fb.FLOAT32


@model
def padding_by_a_computed_width(net, y):
    pairs = net.op("RESHAPE", [run_time_list(net, y, 1, 0, 0, 2), integers(net, 2, 2)], [net.tensor((2, 2), fb.INT32)])
    return net.op("PAD", [y, pairs], [net.tensor((1, 1))]), (1, 1), fb.FLOAT32


@model
def either_of_two_subgraphs(net, y):
    total = net.op("SUM", [y, integers(net, 0, 1)], [net.tensor(())], options="Reducer")
    is_positive = net.op("GREATER", [total, net.const(np.float32(0))], [net.tensor((), fb.BOOL)], options="Greater")
    net.further = [function("MUL"), function("SUB")]
    operands = [is_positive, y, y]
    made = net.op("IF", operands, [net.tensor((ROWS, COLUMNS))], options="If", thenSubgraphIndex=1, elseSubgraphIndex=2)
    return made, (ROWS, COLUMNS), fb.FLOAT32


@model
def a_loop(net, y):
    """Doubled until one of its numbers is over 3."""
    condition, body = fb.Net(), fb.Net()
    value = condition.input((ROWS, COLUMNS))
    top = condition.op("REDUCE_MAX", [value, integers(condition, 0, 1)], [condition.tensor(())], options="Reducer")
    is_small = condition.op("LESS", [top, condition.const(np.float32(3))], [condition.tensor((), fb.BOOL)], options="Less")
    value = body.input((ROWS, COLUMNS))
    doubled = body.op("ADD", [value, value], [body.tensor((ROWS, COLUMNS))], options="Add")
    net.further = [condition.finish([is_small]), body.finish([doubled])]
    positive = net.op("EXP", [y], [net.tensor((ROWS, COLUMNS))], options="Exp")
    made = net.op(
        "WHILE", [positive], [net.tensor((ROWS, COLUMNS))], options="While", condSubgraphIndex=1, bodySubgraphIndex=2
    )
    return made, (ROWS, COLUMNS), fb.FLOAT32

"""Matrix products: fully connected layers and batched products."""

import numpy as np
import tensorflow as tf

import flatbuffer_net as fb
from cases_window import random_array

ALL = ("float", "float16", "int8", "int16")


def add_fully_connected(models):
    def layer(name, shape, outputs, modes=("float",), activation=None, bias=True, shows=""):
        weights = tf.constant(random_array((shape[-1], outputs)))
        offsets = tf.constant(random_array((outputs,), 2))

        def function(x):
            y = tf.matmul(x, weights)
            y = y + offsets if bias else y
            return activation(y) if activation else y

        models.converted("FULLY_CONNECTED", f"fully_connected_{name}", function, [shape], [(-1, 1)], modes, shows)

    layer("one_row", (1, 12), 5, ALL + ("int8_tensor",))
    layer("batch", (4, 10), 7, ALL, shows="batch 4")
    layer("no_bias", (2, 9), 3, ("float", "int8"), bias=False)
    layer("relu6", (3, 8), 6, ("float", "int8"), tf.nn.relu6)
    layer("relu", (3, 5), 8, ("float", "int16"), tf.nn.relu)
    layer("relu_n1_to_1", (3, 5), 8, ("float",), lambda x: tf.maximum(tf.minimum(x, 1.0), -1.0))
    layer("hybrid", (2, 64), 24, ("hybrid", "hybrid_tensor"), shows="8-bit weights, float activations")
    add_built_layers(models)
    add_sparse(models)


def built_layer(
    models,
    name,
    shape,
    version,
    dtype=fb.FLOAT32,
    weight_dtype=fb.FLOAT32,
    x_quant=None,
    w_quant=None,
    y_quant=None,
    bias_dtype=fb.FLOAT32,
    outputs=6,
    keep=False,
    shows="",
    **options,
):
    net, random = fb.Net(), np.random.default_rng(8)
    x = net.input(shape, dtype, x_quant)
    low, high = {fb.INT4: (-7, 8), fb.UINT8: (0, 256), fb.FLOAT32: (-2, 3)}.get(weight_dtype, (-127, 128))
    w = net.const(random.integers(low, high, (outputs, shape[-1])).astype(np.float32), weight_dtype, w_quant)
    rows = list(shape[:-1]) if keep else [int(np.prod(shape)) // shape[-1]]
    y = net.tensor(rows + [outputs], dtype, y_quant)
    inputs = [x, w]
    if bias_dtype == fb.FLOAT32:
        inputs.append(net.const(random_array((outputs,), 4)))
    elif bias_dtype is not None:
        scales = np.atleast_1d(x_quant[0]) * np.atleast_1d(w_quant[0])
        inputs.append(net.const(random.integers(-50, 50, (outputs,)), bias_dtype, (scales, [0] * len(scales))))
    if bias_dtype == fb.INT32 and dtype == fb.INT16:
        options["quantizedBiasType"] = bias_dtype
    net.op("FULLY_CONNECTED", inputs, [y], version, "FullyConnected", keepNumDims=keep, **options)
    models.built("FULLY_CONNECTED", f"fully_connected_{name}", net, [y], [(-1, 1)], shows)


def add_built_layers(models):
    built_layer(models, "keep_dims", (2, 3, 4, 5), 5, keep=True, shows="keep_num_dims")
    built_layer(models, "keep_dims_rank3", (2, 3, 8), 5, keep=True, shows="keep_num_dims")
    built_layer(models, "flattens", (2, 2, 3, 5), 1, shows="rows of a rank 4 input")
    built_layer(models, "v6_no_bias", (2, 9), 6, bias_dtype=None, shows="two operands")
    int8 = {
        "dtype": fb.INT8,
        "weight_dtype": fb.INT8,
        "x_quant": (0.02, 5),
        "w_quant": (0.01, 0),
        "y_quant": (0.08, -9),
        "bias_dtype": fb.INT32,
    }
    built_layer(models, "keep_dims_int8", (2, 3, 5), 5, keep=True, **int8)
    built_layer(
        models, "per_channel_int8", (3, 8), 12, **(int8 | {"w_quant": (np.linspace(0.004, 0.02, 6), [0] * 6, 0)})
    )
    built_layer(
        models,
        "uint8",
        (3, 8),
        1,
        **(
            int8
            | {
                "dtype": fb.UINT8,
                "weight_dtype": fb.UINT8,
                "x_quant": (0.02, 130),
                "w_quant": (0.01, 118),
                "y_quant": (0.08, 120),
            }
        ),
    )
    built_layer(
        models,
        "uint8_to_no_bias",
        (3, 8),
        6,
        **(
            int8
            | {
                "dtype": fb.UINT8,
                "weight_dtype": fb.UINT8,
                "x_quant": (0.02, 130),
                "w_quant": (0.01, 118),
                "y_quant": (0.08, 120),
                "bias_dtype": None,
            }
        ),
    )
    built_layer(models, "int4_int8", (3, 8), 10, **(int8 | {"weight_dtype": fb.INT4, "w_quant": (0.1, 0)}))
    built_layer(
        models,
        "int4_odd_int8",
        (2, 5),
        10,
        outputs=3,
        shows="odd number of 4-bit weights",
        **(int8 | {"weight_dtype": fb.INT4, "w_quant": (0.1, 0)}),
    )
    int16 = int8 | {"dtype": fb.INT16, "x_quant": (0.0001, 0), "y_quant": (0.0004, 0)}
    built_layer(models, "v7_int16", (3, 8), 7, **(int16 | {"bias_dtype": fb.INT64}))
    built_layer(models, "v11_bias32_int16", (3, 8), 11, **int16)
    per_channel = (np.linspace(0.004, 0.02, 6), [0] * 6, 0)
    for name, version, quant, options in (
        ("v3_hybrid", 3, (0.01, 0), {}),
        ("v9_hybrid_asymmetric", 9, (0.01, 0), {"asymmetricQuantizeInputs": True}),
        ("v12_hybrid_per_channel", 12, per_channel, {"asymmetricQuantizeInputs": True}),
    ):
        built_layer(models, name, (3, 32), version, weight_dtype=fb.INT8, w_quant=quant, **options)
    built_layer(models, "v10_hybrid_int4", (2, 32), 10, weight_dtype=fb.INT4, w_quant=(0.1, 0))
    net = fb.Net()
    x, w, b, y = net.input((3, 8)), net.input((5, 8)), net.input((5,)), net.tensor((3, 5))
    net.op("FULLY_CONNECTED", [x, w, b], [y], 1, "FullyConnected")
    models.built(
        "FULLY_CONNECTED", "fully_connected_runtime_weights", net, [y], [(-1, 1)], "weights and bias are inputs"
    )


def sparse_weights(net, dense):
    """A constant whose rows are kept in compressed form."""
    tensor = net.const(dense[dense != 0])
    rows, columns = dense.shape
    schema = fb.schema
    net.tensors[tensor].shape = [rows, columns]
    sparsity = net.tensors[tensor].sparsity = schema.SparsityParametersT()
    outer, inner = schema.DimensionMetadataT(), schema.DimensionMetadataT()
    outer.format, outer.denseSize = schema.DimensionType.DENSE, rows
    inner.format = schema.DimensionType.SPARSE_CSR
    inner.arraySegments, inner.arrayIndices = schema.Int32VectorT(), schema.Int32VectorT()
    inner.arraySegmentsType = inner.arrayIndicesType = schema.SparseIndexVector.Int32Vector
    inner.arraySegments.values = np.concatenate([[0], np.cumsum((dense != 0).sum(axis=1))]).astype(np.int32)
    inner.arrayIndices.values = np.nonzero(dense)[1].astype(np.int32)
    sparsity.traversalOrder, sparsity.dimMetadata = [0, 1], [outer, inner]
    return tensor


def add_sparse(models):
    dense = random_array((6, 8), 12)
    dense[np.abs(dense) < 0.5] = 0
    net = fb.Net()
    x, y = net.input((3, 8)), net.tensor((3, 6))
    net.op(
        "FULLY_CONNECTED", [x, sparse_weights(net, dense), net.const(random_array((6,), 2))], [y], 8, "FullyConnected"
    )
    models.built("FULLY_CONNECTED", "fully_connected_v8_sparse", net, [y], [(-1, 1)], "sparse weights")
    net = fb.Net()
    x, wide, y = net.input((6, 8)), net.tensor((6, 8)), net.tensor((6, 8))
    net.op("DENSIFY", [sparse_weights(net, dense)], [wide], 1, "Densify")
    net.op("ADD", [x, wide], [y], 1, "Add")
    models.built("DENSIFY", "densify", net, [y], [(-1, 1)], "sparse constant, then ADD")
    net = fb.Net()
    x, wide, y = net.input((3, 8)), net.tensor((6, 8)), net.tensor((3, 6))
    net.op("DENSIFY", [sparse_weights(net, dense)], [wide], 1, "Densify")
    net.op("FULLY_CONNECTED", [x, wide], [y], 6, "FullyConnected")
    models.built("DENSIFY", "densify_weights", net, [y], [(-1, 1)], "sparse constant as weights")


def add_batch_matmul(models):
    def product(name, a, b, modes=("float",), adj_x=False, adj_y=False, constant=False, shows=""):
        fixed = tf.constant(random_array(b, 6))

        def function(x, y):
            return tf.linalg.matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y)

        models.converted(
            "BATCH_MATMUL",
            f"batch_matmul_{name}",
            (lambda x: function(x, fixed)) if constant else function,
            [a] if constant else [a, b],
            [(-1, 1)],
            modes,
            shows,
        )

    product("rank3", (2, 3, 5), (2, 5, 4), ("float", "int8", "int16"))
    product("adj_x", (2, 5, 3), (2, 5, 4), ("float", "int8"), adj_x=True)
    product("adj_y", (2, 3, 8), (2, 4, 8), ("float", "int8"), adj_y=True)
    product("adj_both", (3, 5, 4), (3, 2, 5), adj_x=True, adj_y=True)
    product("rank4", (1, 2, 3, 8), (1, 2, 8, 5), shows="heads")
    product("rank5", (2, 1, 2, 3, 4), (2, 1, 2, 4, 3))
    product("broadcast", (2, 3, 4, 5), (3, 5, 2), shows="batch of the second repeats")
    product("broadcast_both", (2, 1, 4, 5), (1, 3, 5, 2), shows="both batches repeat")
    product("broadcast_adj_y", (4, 5), (3, 2, 5), adj_y=True, shows="first has no batch")
    product("constant", (2, 3, 5), (2, 5, 4), ("float", "int8"), constant=True, shows="second constant")
    for name, a, b, adj_x, adj_y in (
        ("rank2", (3, 5), (5, 4), False, False),
        ("rank2_adj_y", (3, 5), (4, 5), False, True),
        ("rank2_adj_x", (5, 3), (5, 4), True, False),
    ):
        net = fb.Net()
        x, w, y = net.input(a), net.input(b), net.tensor((3, 4))
        net.op("BATCH_MATMUL", [x, w], [y], 1, "BatchMatMul", adjX=adj_x, adjY=adj_y)
        models.built("BATCH_MATMUL", f"batch_matmul_{name}", net, [y], [(-1, 1)], f"{a} by {b}")
    for name, adj_y, asymmetric in (
        ("hybrid", True, False),
        ("hybrid_asymmetric", True, True),
        ("hybrid_no_adj", False, True),
    ):
        net, random = fb.Net(), np.random.default_rng(4)
        x, y = net.input((2, 3, 16)), net.tensor((2, 3, 5))
        w = net.const(random.integers(-127, 128, (2, 5, 16) if adj_y else (2, 16, 5)), fb.INT8, (0.01, 0))
        net.op(
            "BATCH_MATMUL",
            [x, w],
            [y],
            4 if asymmetric else 1,
            "BatchMatMul",
            adjY=adj_y,
            asymmetricQuantizeInputs=asymmetric,
        )
        models.built("BATCH_MATMUL", f"batch_matmul_{name}", net, [y], [(-1, 1)], "8-bit constant, float activations")

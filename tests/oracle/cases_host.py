"""Operators that no device has a kernel for: the CPU runs them under every device. What they make has a size that is known."""

import numpy as np
import tensorflow as tf

import flatbuffer_net as fb


def add_bits(models):
    for name, dtype, to in (("float_to_int", tf.float32, tf.int32), ("int_to_halves", tf.int32, tf.int16)):
        models.converted(
            "BITCAST",
            f"bitcast_{name}",
            lambda x, t=to: tf.bitcast(x, t),
            [((3, 5), dtype)],
            [(-99, 99)],
            shows=name,
            moves=True,
        )


def add_random(models):
    for op, name, seeds in (
        ("RANDOM_UNIFORM", "random_uniform", (3, 7)),
        ("RANDOM_UNIFORM", "random_uniform_second_seed_alone", (0, -9)),
        ("RANDOM_STANDARD_NORMAL", "random_standard_normal", (1 << 40, 5)),
    ):
        draw = tf.raw_ops.RandomUniform if op == "RANDOM_UNIFORM" else tf.raw_ops.RandomStandardNormal
        models.converted(
            op,
            name,
            lambda x, d=draw, s=seeds: x + d(shape=[5, 3], dtype=tf.float32, seed=s[0], seed2=s[1]),
            [(5, 3)],
            shows=f"seeds {seeds}",
        )
    models.converted(
        "MULTINOMIAL",
        "multinomial",
        lambda x: tf.raw_ops.Multinomial(logits=x, num_samples=7, seed=11, seed2=4, output_dtype=tf.int32),
        [(3, 6)],
        shows="seven samples",
        moves=True,
    )


def add_bit_generators(models):
    """The state's numbers are whole ones of 64 bits: also counters that leave their lower half."""
    algorithms = fb.schema.RngAlgorithm
    for name, algorithm, size, dtype, shape in (
        ("philox", algorithms.PHILOX, 2, fb.UINT32, (3, 5)),
        ("philox_wide_state", algorithms.PHILOX, 3, fb.UINT64, (7,)),
        ("default", algorithms.DEFAULT, 3, fb.INT32, (2, 3, 1)),
        ("threefry", algorithms.THREEFRY, 2, fb.INT64, (2, 3)),
        ("threefry_odd", algorithms.THREEFRY, 2, fb.UINT32, (9,)),
        ("scalar", algorithms.PHILOX, 2, fb.UINT64, ()),
    ):
        net = fb.Net()
        state, bits = net.tensor((size,), fb.UINT64), net.tensor(shape, dtype)
        op = "STABLEHLO_RNG_BIT_GENERATOR"
        options = {"options_2": "StablehloRngBitGenerator", "algorithm": algorithm}
        net.op(op, [net.input((size,), fb.UINT64)], [state, bits], **options)
        models.built(op, f"rng_bit_generator_{name}", net, [state, bits], ["stored"], name, moves=True)
    net = fb.Net()
    state, again, bits = net.tensor((2,), fb.UINT64), net.tensor((2,), fb.UINT64), net.tensor((4,), fb.UINT32)
    first = net.const(np.array([2**64 - 3, 2**63 + 2**32 - 1], np.uint64))
    net.op(op, [first], [state, bits], **options)
    net.op(op, [state], [again, net.tensor((4,), fb.UINT32)], **options)
    reals = net.tensor((4,))
    net.op("CAST", [bits], [reals], options="Cast", inDataType=fb.UINT32, outDataType=fb.FLOAT32)
    y = net.tensor((4,))
    net.op("ADD", [net.input((4,)), reals], [y], options="Add")
    models.built(op, "rng_bit_generator_constant_state", net, [y, again], shows="its state goes through two operators")


def add_unsigned_words(models):
    shape = (3, 4)
    for op in ("STABLEHLO_ADD", "STABLEHLO_MULTIPLY", "STABLEHLO_MAXIMUM", "STABLEHLO_MINIMUM", "STABLEHLO_AND"):
        net = fb.Net()
        y = net.tensor(shape, fb.UINT64)
        net.op(op, [net.input(shape, fb.UINT64), net.input(shape, fb.UINT64)], [y])
        models.built(op, f"{op.lower()}_uint64", net, [y], ["stored"], "uint64", moves=True)
    for name, given, made, from_shape, out in (
        ("words", fb.UINT64, fb.UINT32, shape, shape + (2,)),
        ("of_words", fb.UINT32, fb.UINT64, shape + (2,), shape),
    ):
        net = fb.Net()
        y = net.tensor(out, made)
        net.op("BITCAST", [net.input(from_shape, given)], [y], options="Bitcast")
        models.built("BITCAST", f"bitcast_uint64_{name}", net, [y], ["stored"], name, moves=True)
    for name, op, options, operands, out in (
        ("transpose", "TRANSPOSE", "Transpose", [np.array([1, 0], np.int32)], (4, 3)),
        ("slice", "SLICE", "Slice", [np.array([1, 1], np.int32), np.array([2, 3], np.int32)], (2, 3)),
        ("tile", "TILE", "Tile", [np.array([1, 2], np.int32)], (3, 8)),
    ):
        net = fb.Net()
        y = net.tensor(out, fb.UINT64)
        net.op(op, [net.input(shape, fb.UINT64), *(net.const(value) for value in operands)], [y], options=options)
        models.built(op, f"{name}_uint64", net, [y], ["stored"], "uint64", moves=True)


def add_data_sized(models):
    for name, shape in (("rank1", (17,)), ("rank3", (2, 3, 4))):
        models.converted(
            "WHERE",
            f"where_counted_{name}",
            lambda x: tf.shape(tf.where(x > 0.5)),
            [shape],
            shows="the number of coordinates",
            moves=True,
        )
        models.converted(
            "WHERE",
            f"where_summed_{name}",
            lambda x: tf.reduce_sum(tf.gather_nd(x, tf.where(x > 0.5))),
            [shape],
            shows="the sum of what a mask chooses",
        )
    models.converted(
        "WHERE",
        "where_mean_of_rows",
        lambda x: tf.reduce_mean(tf.boolean_mask(x, x[:, 0] > -1.0), axis=0),
        [(9, 4)],
        shows="the mean of rows that a mask chooses",
    )
    models.converted(
        "UNIQUE",
        "unique_restored",
        lambda x: tf.gather(*tf.unique(x)) * 2,
        [((23,), tf.int32)],
        [(0, 6)],
        shows="numbers put back where they were",
        moves=True,
    )

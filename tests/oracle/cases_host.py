"""Operators that no device has a kernel for: the CPU runs them under every device. What they make has a size that is known."""

import tensorflow as tf


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

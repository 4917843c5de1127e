"""Things that stand around networks: control flow, shapes that the graph computes, post processing, odd layers."""

import tensorflow as tf
from keras import layers as L
from networks import Input, image, network, sequence


def vector(length=8, batch=1, rule=(-2.0, 2.0), name="x"):
    return Input(name, [batch, length], list(rule))


@network(vector(batch=None))
def perceptron_open_batch(x):
    return L.Dense(4, activation="softmax")(L.Dense(16, activation="relu")(x))


@network(vector())
def highway(x):
    gate = L.Dense(8, activation="sigmoid")(x)
    return L.Lambda(lambda t: t[0] * t[1] + (1.0 - t[0]) * t[2])([gate, L.Dense(8, activation="relu")(x), x])


@network(vector())
def activations(x):
    kinds = ("relu", "relu6", "elu", "selu", "softplus", "softsign", "tanh", "sigmoid", "hard_sigmoid", "silu", "gelu",
             "exponential", "leaky_relu", "mish", "hard_silu", "log_softmax")
    return [L.Activation(kind)(L.Dense(5)(x)) for kind in kinds]


@network(Input("x", [None, 2, 3, 3, 4], [0.1, 2.0]), kind="function")
def square_of_rank_5(x):
    return [x ** 2.0, tf.where(x > 1.0, x, -x), tf.math.floordiv(x, 0.7), tf.nn.selu(x)]


@network(vector(), kind="function")
def loop_with_known_turns(x):
    return tf.while_loop(lambda k, v: k < 5, lambda k, v: (k + 1, v * 0.5 + 1.0), (0, x))[1]


@network(vector(rule=(0.5, 2.0)), kind="function")
def loop_with_limit(x):
    return tf.while_loop(lambda v: tf.reduce_sum(v) < 40.0, lambda v: (v * 1.5,), (x,), maximum_iterations=12)[0]


@network(vector(rule=(0.5, 2.0)), kind="function", quantizations=("float",))
def loop_that_only_data_end(x):
    return tf.while_loop(lambda k, v: tf.reduce_sum(v * v) > 1e-3, lambda k, v: (k + 1, v * 0.5 + 0.01 * tf.sin(v)), (0, x))


@network(vector(), kind="function", quantizations=("float",))
def rows_that_a_mask_chooses(x):
    kept = tf.boolean_mask(x, x > 0.1)
    return [tf.where(x > 0.0), kept * 2.0 + 1.0, tf.reduce_sum(kept), tf.reduce_max(kept), tf.shape(kept)]


@network(Input("x", [3, 5], [-2.0, 2.0]), kind="function", quantizations=("float",))
def numbers_each_once(x):
    return list(tf.unique(tf.reshape(tf.cast(x, tf.int32), [-1])))


@network(Input("x", [4, 6], [-2.0, 2.0]), kind="function", quantizations=("float",))
def random_numbers(x):
    drawn = [tf.raw_ops.RandomUniform(shape=[3, 5], dtype=tf.float32, seed=3, seed2=7),
             tf.raw_ops.RandomStandardNormal(shape=[7], dtype=tf.float32, seed=1 << 40, seed2=-5),
             tf.raw_ops.Multinomial(logits=x, num_samples=9, seed=11, seed2=0, output_dtype=tf.int64)]
    return [*drawn, x + 1.0]


@network(Input("x", [2, 3], [-2.0, 2.0]), kind="function", quantizations=("float",))
def bits_of_another_type(x):
    return [tf.bitcast(x, tf.int32), tf.bitcast(x, tf.int16), tf.bitcast(tf.bitcast(x, tf.int8), tf.float32)]


@network(vector(), kind="function")
def branches(x):
    return tf.cond(tf.reduce_mean(x) > 0.0, lambda: x * 2.0, lambda: tf.nn.relu(x) - 1.0)


@network(vector(), Input("which", [], {"int": [0, 2]}, "int32"), kind="function")
def three_branches(x, which):
    return tf.cond(which < 1, lambda: x + 1.0, lambda: tf.cond(which < 2, lambda: x * x, lambda: -x))


@network(Input("x", [None, 6]), kind="function")
def shape_arithmetic(x):
    rows = tf.shape(x)[0]
    y = tf.reshape(x, tf.stack([rows * 2, 3]))
    return tf.concat([tf.zeros(tf.stack([rows * 2, 1])), y, tf.tile(y[:, :1], [1, 2])], 1)


@network(Input("x", [1, 5, 4]), kind="function")
def scatter_and_gather(x):
    y = tf.tensor_scatter_nd_update(x[0], [[1], [3]], tf.ones([2, 4]))
    return [y, tf.gather_nd(x, [[0, 1], [0, 4]]), tf.scatter_nd([[2], [0]], x[0, :2], [4, 4])]


@network(Input("x", [1, 12]), kind="function")
def searches(x):
    values, places = tf.math.top_k(x, 4)
    return [values, places, tf.argmax(x, 1), tf.argmin(x, 1, tf.int32), tf.sort(x), tf.one_hot(places, 12)]


@network(Input("x", [2, 3, 4]), kind="function")
def reductions(x):
    return [tf.reduce_prod(x, 1), tf.reduce_logsumexp(x, -1), tf.math.reduce_std(x, [0, 2]), tf.reduce_any(x > 1.0, 2),
            tf.reduce_min(x), tf.math.l2_normalize(x, -1)]


@network(Input("x", [1, 6, 6, 2]), kind="function")
def strided(x):
    return [x[:, ::2, 1:5:3], x[:, ::-1], x[..., tf.newaxis, 0], x[0, -1], tf.reverse(x, [2]), tf.roll(x, 1, 1)]


@network(Input("x", [2, 6], {"int": [-9, 9]}, "int32"), kind="function")
def integers(x):
    return [x // 4, x % 4, tf.bitwise.bitwise_xor(x, 5), tf.maximum(x, 0) * 3, tf.cast(x, tf.float32) / 7.0,
            tf.cumsum(x, 1), tf.bitwise.right_shift(x, tf.ones_like(x))]


@network(Input("x", [1, 4, 4]), kind="function")
def matrices(x):
    return [tf.linalg.diag(x[0]), tf.linalg.set_diag(x, x[:, 0]), tf.transpose(x, [2, 0, 1]),
            tf.linalg.matmul(x, x, transpose_b=True)]


@network(image(16, 2), kind="function")
def blocks(x):
    return [tf.nn.space_to_depth(x, 4), tf.space_to_batch(x, [2, 2], [[0, 0], [0, 0]]),
            tf.image.resize(x, [7, 21]), tf.image.resize(x, [40, 9], "nearest"), tf.image.flip_left_right(x)]


@network(image(16, 4))
def pooling(x):
    return [L.MaxPooling2D(3, 2, "same")(x), L.AveragePooling2D((2, 5), (3, 1))(x), L.GlobalMaxPooling2D()(x),
            L.AveragePooling2D(3, 1, "same")(x), L.ZeroPadding2D(((1, 0), (2, 3)))(x), L.Cropping2D(3)(x)]


@network(image(16, 4))
def normalizations(x):
    return [L.GroupNormalization(2)(x), L.LayerNormalization(axis=[1, 2, 3])(x), L.BatchNormalization(scale=False)(x),
            L.Lambda(lambda t: tf.nn.local_response_normalization(t, 2, 1.0, 0.1, 0.5))(x)]


@network(sequence(6, 4), sequence(6, 4, name="other"))
def keras_merges(x, y):
    return [L.Maximum()([x, y]), L.Minimum()([x, y]), L.Average()([x, y]), L.Dot(axes=2)([x, y]), L.Attention()([x, y]),
            L.AdditiveAttention()([x, y])]


@network(Input("x", [1, 10]), Input("y", [1, 10]), kind="function")
def comparisons(x, y):
    return [tf.where(x < y, x, y), tf.cast(tf.logical_and(x > 0.0, y <= 0.5), tf.float32), tf.not_equal(x, y),
            tf.math.squared_difference(x, y), tf.math.atan2(x, y), tf.sign(x), tf.math.is_nan(x), tf.math.floor(x),
            tf.round(x), tf.math.ceil(y)]


@network(vector(rule=(0.2, 3.0)), kind="function")
def functions(x):
    return [tf.exp(x), tf.math.log(x), tf.sqrt(x), tf.math.rsqrt(x), tf.sin(x), tf.cos(x), tf.math.log1p(x),
            tf.pow(x, 1.7), tf.math.reciprocal(x), tf.abs(-x)]


@network(Input("x", [3, 5]), kind="function")
def segments(x):
    return [tf.math.unsorted_segment_sum(x, [1, 0, 1], 3), tf.math.segment_sum(x, [0, 0, 1]),
            tf.gather(x, [2, 0], axis=0), tf.reverse_sequence(x, [2, 5, 1], seq_axis=1)]


@network(Input("x", [1, 7], [0.0, 10.0]), kind="function")
def buckets(x):
    return tf.raw_ops.Bucketize(input=x, boundaries=[1.0, 3.5, 8.0])

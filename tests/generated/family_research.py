"""Networks of papers of the last years, and layers of Keras that few networks have."""

import numpy as np
import tensorflow as tf
from keras import layers as L
from networks import Input, image, network, sequence, tokens

RANDOM = np.random.default_rng(11)


def random(*shape):
    return (RANDOM.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)


def noise_level(step, width):
    """The sines and cosines that tell a diffusion network how much noise there is."""
    powers = np.exp(-np.log(1e4) * np.arange(width // 2) / (width // 2)).astype(np.float32)
    angle = L.Lambda(lambda t: t * powers)(step)
    return L.Concatenate()([L.Lambda(tf.sin)(angle), L.Lambda(tf.cos)(angle)])


def residual(x, level, width):
    y = L.Conv2D(width, 3, padding="same")(L.Activation("swish")(L.GroupNormalization(4)(x)))
    y = L.Add()([y, L.Reshape([1, 1, width])(L.Dense(width)(level))])
    y = L.Conv2D(width, 3, padding="same")(L.Activation("swish")(L.GroupNormalization(4)(y)))
    return L.Add()([y, x if x.shape[-1] == width else L.Conv2D(width, 1)(x)])


def image_attention(x):
    height, width, channels = x.shape[1:]
    y = L.Reshape([height * width, channels])(L.GroupNormalization(4)(x))
    return L.Add()([x, L.Reshape([height, width, channels])(L.MultiHeadAttention(2, channels // 2)(y, y))])


@network(image(16), Input("step", [1, 1], [0, 1000]))
def diffusion_unet(x, step):
    level = L.Dense(16, activation="swish")(noise_level(step, 16))
    first = residual(L.Conv2D(8, 3, padding="same")(x), level, 8)
    down = residual(L.Conv2D(16, 3, 2, padding="same")(first), level, 16)
    up = L.UpSampling2D(2)(residual(image_attention(down), level, 16))
    return L.Conv2D(3, 3, padding="same")(residual(L.Concatenate()([up, first]), level, 8))


@network(sequence(10, 8))
def conformer_block(x):
    half = L.Dense(8)(L.Dense(16, activation="swish")(L.LayerNormalization()(x)))
    x = L.Add()([x, L.Rescaling(0.5)(half)])
    y = L.LayerNormalization()(x)
    x = L.Add()([x, L.MultiHeadAttention(2, 4)(y, y)])
    y = L.Lambda(lambda t: t[..., :8] * tf.sigmoid(t[..., 8:]))(L.Conv1D(16, 1)(L.LayerNormalization()(x)))
    y = L.Activation("swish")(L.BatchNormalization()(L.DepthwiseConv1D(5, padding="same")(y)))
    return L.LayerNormalization()(L.Add()([x, L.Conv1D(8, 1)(y)]))


def selective_scan(x, scan):
    """A state space whose step, input and output matrices depend on the input."""
    width, states = x.shape[-1], 4
    decay = tf.constant(-np.exp(random(width, states)))
    step = tf.nn.softplus(tf.tensordot(x, tf.constant(random(width, width)), 1))
    b, c = (tf.tensordot(x, tf.constant(random(width, states)), 1) for _ in range(2))
    keep = tf.exp(step[..., None] * decay)
    new = step[..., None] * b[:, :, None, :] * x[..., None]
    held = scan(keep, new)
    return tf.reduce_sum(held * c[:, :, None, :], -1) + x * tf.constant(random(width))


@network(sequence(8, 6), kind="function")
def mamba_step_by_step(x):
    def scan(keep, new):
        held, turns = tf.zeros_like(new[:, 0]), []
        for t in range(new.shape[1]):
            held = keep[:, t] * held + new[:, t]
            turns.append(held)
        return tf.stack(turns, 1)
    return selective_scan(x, scan)


@network(sequence(8, 6), kind="function")
def mamba_by_sums_of_logarithms(x):
    def scan(keep, new):
        decay = tf.cumsum(tf.math.log(keep), 1)
        return tf.exp(decay) * tf.cumsum(new * tf.exp(-decay), 1)
    return selective_scan(x, scan)


@network(sequence(8, 6), kind="function", quantizations=("float", "float16", "dynamic"))
def mamba_by_a_loop(x):
    def scan(keep, new):
        keep, new = (tf.transpose(t, [1, 0, 2, 3]) for t in (keep, new))
        held = tf.scan(lambda before, now: now[0] * before + now[1], (keep, new), tf.zeros_like(new[0]))
        return tf.transpose(held, [1, 0, 2, 3])
    return selective_scan(x, scan)


@network(sequence(6, 8), kind="function")
def experts_by_gather(x):
    """The two best experts of four, whose weights are gathered for each token."""
    flat = tf.reshape(x, [6, 8])
    scores, chosen = tf.math.top_k(tf.matmul(flat, tf.constant(random(8, 4))), 2)
    inner, outer = tf.gather(tf.constant(random(4, 8, 12)), chosen), tf.gather(tf.constant(random(4, 12, 8)), chosen)
    hidden = tf.nn.gelu(tf.einsum("td,tkdh->tkh", flat, inner))
    made = tf.einsum("tkh,tkhd->tkd", hidden, outer)
    return tf.reduce_sum(made * tf.nn.softmax(scores)[..., None], 1)


def rotated(x, place):
    """Rotary positions, which an input says."""
    angle = tf.cast(place, tf.float32) / tf.constant(1e4 ** (np.arange(4) / 4).astype(np.float32))
    sine, cosine = tf.sin(angle), tf.cos(angle)
    a, b = x[..., :4], x[..., 4:]
    return tf.concat([a * cosine - b * sine, a * sine + b * cosine], -1)


@network(Input("x", [1, 16]), Input("keys", [10, 2, 8]), Input("values", [10, 2, 8]),
         Input("place", [1], {"int": [0, 9]}, "int32"), kind="function", quantizations=("float", "float16", "dynamic"))
def decoder_step_with_cache(x, keys, values, place):
    query, key, value = (tf.reshape(tf.matmul(x, tf.constant(random(16, 16))), [1, 2, 8]) for _ in range(3))
    keys = tf.tensor_scatter_nd_update(keys, place[:, None], rotated(key, place))
    values = tf.tensor_scatter_nd_update(values, place[:, None], value)
    scores = tf.einsum("thd,shd->ths", rotated(query, place), keys) / np.sqrt(8).astype(np.float32)
    weights = tf.nn.softmax(tf.where(tf.range(10) <= place[0], scores, -1e9))
    return [tf.reshape(tf.einsum("ths,shd->thd", weights, values), [1, 16]), keys, values]


@network(Input("x", [1, 1, 16]), Input("keys", [1, 10, 8]), Input("place", [1], {"int": [0, 9]}, "int32"),
         kind="function")
def cache_by_one_hot(x, keys, place):
    key = tf.tensordot(x, tf.constant(random(16, 8)), 1)
    here = tf.one_hot(place, 10)[..., None]
    keys = keys * (1 - here) + key * here
    return [keys, tf.nn.softmax(tf.matmul(key, keys, transpose_b=True))]


@network(image(24))
def detector_without_suppression(x):
    """As DETR: learned queries look at the image, and each says a class and a box."""
    x = L.Conv2D(16, 3, 2, padding="same", activation="relu")(L.Conv2D(8, 3, 2, padding="same", activation="relu")(x))
    memory = L.Reshape([36, 16])(x)
    queries = L.Lambda(lambda t: tf.constant(random(1, 5, 16)) + 0 * t[:, :1, :])(memory)
    y = L.LayerNormalization()(L.Add()([queries, L.MultiHeadAttention(2, 8)(queries, memory)]))
    classes, boxes = L.Dense(7)(y), L.Dense(4, activation="sigmoid")(y)
    best = L.Lambda(lambda t: tf.math.top_k(tf.reduce_max(tf.nn.softmax(t)[..., :-1], -1), 3))(classes)
    chosen = L.Lambda(lambda t: tf.gather(t[0], t[1], batch_dims=1), output_shape=(3, 4))([boxes, best[1]])
    return [best[0], chosen]


@network(Input("nodes", [9, 6]), kind="function")
def graph_convolution(x):
    """Messages along edges, added up, averaged and compared at the nodes where they end."""
    begins, ends = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 2, 4]), np.array([1, 2, 0, 4, 3, 5, 8, 8, 7, 8, 8, 8])
    messages = tf.nn.relu(tf.matmul(tf.gather(x, begins), tf.constant(random(6, 6))))
    sums = tf.math.unsorted_segment_sum(messages, ends, 9)
    most = tf.math.unsorted_segment_max(messages, ends, 9)
    return [tf.nn.relu(tf.matmul(sums, tf.constant(random(6, 6))) + x), tf.maximum(most, -1.0)]


@network(Input("nodes", [7, 6]), Input("ends", [10], {"int": [0, 6]}, "int32"), kind="function",
         quantizations=("float", "float16"))
def graph_attention(x, ends):
    begins = np.arange(10) % 7
    score = tf.exp(tf.nn.leaky_relu(tf.gather(tf.matmul(x, tf.constant(random(6, 1))), begins)))
    whole = tf.math.unsorted_segment_sum(score, ends, 7) + 1e-6
    weight = score / tf.gather(whole, ends)
    return tf.math.unsorted_segment_sum(weight * tf.gather(x, begins), ends, 7)


@network(Input("wave", [1, 512], [-1.0, 1.0]), kind="function")
def sound_there_and_back(x):
    """A spectrogram, a mask, and the wave again: the inverse transform is written out, as TFLite has none."""
    spectrum = tf.signal.stft(x, 64, 32, fft_length=64)
    real, imaginary = tf.math.real(spectrum), tf.math.imag(spectrum)
    mask = tf.sigmoid(tf.tensordot(tf.sqrt(real * real + imaginary * imaginary + 1e-6), tf.constant(random(33, 33)), 1))
    bins = np.arange(33)[:, None] * np.arange(64)[None] * 2 * np.pi / 64
    twice = np.where((np.arange(33) % 32 == 0)[:, None], 1.0, 2.0) / 64
    frames = tf.tensordot(real * mask, tf.constant((twice * np.cos(bins)).astype(np.float32)), 1)
    frames -= tf.tensordot(imaginary * mask, tf.constant((twice * np.sin(bins)).astype(np.float32)), 1)
    return tf.signal.overlap_and_add(frames, 32)


@network(Input("wave", [1, 64, 1], [-1.0, 1.0]))
def gated_wavenet(x):
    x, skips = L.Conv1D(8, 1)(x), []
    for dilation in (1, 2, 4, 8):
        gate = L.Conv1D(8, 2, dilation_rate=dilation, padding="causal", activation="sigmoid")(x)
        y = L.Multiply()([L.Conv1D(8, 2, dilation_rate=dilation, padding="causal", activation="tanh")(x), gate])
        skips.append(L.Conv1D(8, 1)(y))
        x = L.Add()([x, skips[-1]])
    return L.Conv1D(16, 1, activation="softmax")(L.ReLU()(L.Add()(skips)))


@network(sequence(8, 12))
def keras_group_query_attention(x):
    return L.GroupQueryAttention(4, 4, 2)(x, x, use_causal_mask=True)


@network(sequence(6, 8), Input("mask", [1, 6], {"int": [0, 1]}, "int32"))
def keras_attentions_with_masks(x, mask):
    is_there = L.Lambda(lambda t: tf.cast(t, tf.bool))(mask)
    return [L.Attention(use_scale=True)([x, x], mask=[is_there, is_there]),
            L.AdditiveAttention()([x, x], mask=[is_there, is_there]),
            L.Attention(score_mode="concat")([x, x], use_causal_mask=True)]


@network(sequence(9, 4))
def keras_one_dimension(x):
    x = L.Conv1DTranspose(6, 3, 2, padding="same")(L.DepthwiseConv1D(3, padding="same", depth_multiplier=2)(x))
    x = L.SeparableConv1D(5, 3, dilation_rate=2, padding="same")(x)
    return L.Cropping1D(2)(L.ZeroPadding1D(1)(L.UpSampling1D(2)(x)))


@network(Input("x", [1, 6], [-2.0, 2.0]), kind="keras", quantizations=("float", "float16", "dynamic"))
def keras_classes_of_numbers(x):
    place = L.Discretization(bin_boundaries=[-1.0, 0.0, 0.5, 1.5])(x)
    return [L.Embedding(5, 4)(place), L.CategoryEncoding(5, output_mode="one_hot")(L.Lambda(lambda t: t[:, :1])(place)),
            L.Normalization(mean=0.3, variance=2.0)(x)]


@network(image(20))
def keras_image_layers(x):
    x = L.RandomRotation(0.2)(L.RandomFlip()(L.CenterCrop(16, 14)(x)))
    x = L.RandomContrast(0.3)(L.Resizing(12, 10, interpolation="bilinear")(x))
    return [L.Resizing(5, 7, interpolation="nearest")(x), L.Rescaling(2.0, -0.5)(x)]


@network(image(12))
def keras_normalized_weights(x):
    x = L.SpectralNormalization(L.Conv2D(8, 3, padding="same"))(x)
    x = L.UnitNormalization()(L.GroupNormalization(2)(x))
    return [L.GlobalMaxPooling2D(keepdims=True)(x), L.SpectralNormalization(L.Dense(4))(x)]


@network(Input("frames", [1, 3, 4, 4, 4, 2]))
def keras_conv_lstm_3d(x):
    return L.ConvLSTM3D(3, 3, padding="same", return_sequences=True)(x)


@network(Input("frames", [1, 4, 12, 3]))
def keras_conv_lstm_1d(x):
    return L.ConvLSTM1D(4, 3, padding="same")(x)


@network(Input("volume", [1, 6, 6, 6, 2]))
def keras_three_dimensions(x):
    x = L.Conv3DTranspose(4, 2, 2)(L.Conv3D(4, 3, 2, padding="same", activation="relu")(x))
    return L.GlobalAveragePooling3D()(L.Cropping3D(2)(L.ZeroPadding3D(1)(L.UpSampling3D(2)(x))))


@network(sequence(7, 4))
def keras_layer_wrappers(x):
    y = L.Bidirectional(L.LSTM(3, return_sequences=True), merge_mode="mul")(x)
    y = L.GRU(3, return_sequences=True, go_backwards=True)(y)
    y = L.TimeDistributed(L.Dense(4, activation="gelu"))(y)
    return L.Dot(2, normalize=True)([x, y])


@network(Input("x", [1, 8], [-2.0, 2.0]))
def keras_activations_of_late(x):
    names = ("celu", "hard_tanh", "hard_shrink", "log_sigmoid", "mish", "soft_shrink", "squareplus", "tanh_shrink",
             "silu")
    return L.Concatenate()([L.Activation(name)(x) for name in names])


@network(tokens(10, 20), kind="function", quantizations=("float",))
def greedy_decoder(x):
    """Each turn takes the likeliest token, until the network says the end, at most eight times."""
    table, out = tf.constant(random(20, 8)), tf.constant(random(8, 20))
    start = tf.reduce_mean(tf.gather(table, x), 1)

    def turn(k, state, made, ended):
        state = tf.tanh(tf.matmul(state, tf.constant(random(8, 8))) + start)
        token = tf.argmax(tf.matmul(state, out), -1, tf.int32)
        made = tf.tensor_scatter_nd_update(made, [[k]], token)
        return k + 1, state, made, tf.logical_or(ended, token[0] == 3)

    loop = tf.while_loop(lambda k, state, made, ended: tf.logical_and(k < 8, tf.logical_not(ended)), turn,
                         [0, start, tf.zeros([8], tf.int32), False], maximum_iterations=8)
    return [loop[1], loop[2]]


@network(Input("x", [3, 4]), Input("count", [], {"int": [0, 3]}, "int32"), kind="function", quantizations=("float",))
def rows_before_a_count(x, count):
    """A slice of as many rows as an input says, which may be none, and sums over it."""
    mask = tf.cast(tf.range(3) < count, tf.float32)[:, None]
    none = x[0:0]
    return [tf.reduce_sum(x * mask, 0), tf.concat([none, x], 0), tf.reduce_max(x[:, 0:0], 1), tf.reduce_sum(none, 0)]

"""Attention, mixers, and what language models are made of."""

import numpy as np
import tensorflow as tf
from keras import layers as L
from networks import Input, image, network, sequence, tokens


def encoder(x, heads=2, width=16, hidden=32, mask=None, norm_first=False):
    y = L.LayerNormalization()(x) if norm_first else x
    y = L.MultiHeadAttention(heads, width // heads)(y, y, attention_mask=mask)
    x = L.Add()([x, y]) if norm_first else L.LayerNormalization()(L.Add()([x, y]))
    y = L.LayerNormalization()(x) if norm_first else x
    y = L.Dense(width)(L.Dense(hidden, activation="gelu")(y))
    return L.Add()([x, y]) if norm_first else L.LayerNormalization()(L.Add()([x, y]))


def with_places(x, length, width):
    table = np.random.default_rng(1).standard_normal((1, length, width)).astype(np.float32)
    return L.Lambda(lambda t: t + table)(x)


@network(tokens())
def bert_like(x):
    x = with_places(L.Embedding(50, 16)(x), 12, 16)
    for _ in range(2):
        x = encoder(x)
    return [x, L.Dense(2, activation="tanh")(L.Lambda(lambda t: t[:, 0])(x))]


@network(tokens(batch=None))
def bert_open_batch(x):
    x = encoder(with_places(L.Embedding(50, 16)(x), 12, 16))
    return L.Dense(3)(L.GlobalAveragePooling1D()(x))


@network(tokens(), Input("mask", [1, 12], {"int": [0, 1]}, "int32"))
def bert_masked(x, mask):
    attention = L.Lambda(lambda t: tf.cast(t, tf.bool)[:, None, :] & tf.ones([1, 12, 12], tf.bool))(mask)
    return encoder(with_places(L.Embedding(50, 16)(x), 12, 16), mask=attention)


@network(tokens())
def gpt_like(x):
    x = with_places(L.Embedding(50, 16)(x), 12, 16)
    y = L.LayerNormalization()(x)
    x = L.Add()([x, L.MultiHeadAttention(4, 4)(y, y, use_causal_mask=True)])
    x = L.Add()([x, L.Dense(16)(L.Dense(32, activation="gelu")(L.LayerNormalization()(x)))])
    return L.Dense(50)(L.LayerNormalization()(x))


@network(tokens(6, 30, name="source"), tokens(5, 30, name="target"))
def encoder_decoder(source, target):
    memory = encoder(L.Embedding(30, 16)(source))
    y = L.Embedding(30, 16)(target)
    y = L.LayerNormalization()(y + L.MultiHeadAttention(2, 8)(y, y, use_causal_mask=True))
    y = L.LayerNormalization()(y + L.MultiHeadAttention(2, 8)(y, memory))
    return L.Dense(30, activation="softmax")(y)


@network(image())
def vision_transformer(x):
    x = L.Reshape((16, 16))(L.Conv2D(16, 8, 8)(x))
    first = np.random.default_rng(2).standard_normal((1, 1, 16)).astype(np.float32)
    x = L.Lambda(lambda t: tf.concat([tf.constant(first), t], 1))(x)
    x = encoder(with_places(x, 17, 16), norm_first=True)
    return L.Dense(5)(L.Lambda(lambda t: t[:, 0])(L.LayerNormalization()(x)))


@network(image(batch=None))
def vision_transformer_open_batch(x):
    x = L.Reshape((16, 16))(L.Conv2D(16, 8, 8)(x))
    return L.Dense(5)(L.GlobalAveragePooling1D()(encoder(x, norm_first=True)))


@network(image(32))
def swin_like(x):
    x = L.Conv2D(8, 4, 4)(x)

    def attend(t):
        windows = tf.reshape(tf.transpose(tf.reshape(t, [1, 2, 4, 2, 4, 8]), [0, 1, 3, 2, 4, 5]), [4, 16, 8])
        scores = tf.nn.softmax(tf.matmul(windows, windows, transpose_b=True) / 2.8)
        result = tf.reshape(tf.matmul(scores, windows), [1, 2, 2, 4, 4, 8])
        return tf.reshape(tf.transpose(result, [0, 1, 3, 2, 4, 5]), [1, 8, 8, 8])

    y = L.Lambda(attend)(L.LayerNormalization()(x))
    x = L.Add()([x, y])
    y = L.Lambda(lambda t: tf.roll(t, [-2, -2], [1, 2]))(L.LayerNormalization()(x))
    y = L.Lambda(lambda t: tf.roll(t, [2, 2], [1, 2]))(L.Lambda(attend)(y))
    return L.Dense(8, activation="gelu")(L.Add()([x, y]))


@network(image())
def mlp_mixer(x):
    x = L.Reshape((16, 12))(L.Conv2D(12, 8, 8)(x))
    for _ in range(2):
        y = L.Permute((2, 1))(L.LayerNormalization()(x))
        y = L.Permute((2, 1))(L.Dense(16)(L.Dense(20, activation="gelu")(y)))
        x = L.Add()([x, y])
        x = L.Add()([x, L.Dense(12)(L.Dense(24, activation="gelu")(L.LayerNormalization()(x)))])
    return L.Dense(4)(L.GlobalAveragePooling1D()(x))


@network(sequence(10, 12))
def rotary_attention(x):
    angles = np.outer(np.arange(10), 1.0 / 10 ** (np.arange(6) / 6)).astype(np.float32)

    def attend(t):
        q, k = t[0], t[1]

        def turn(v):
            a, b = tf.split(v, 2, -1)
            return tf.concat([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], -1)

        scores = tf.einsum("bid,bjd->bij", turn(q), turn(k)) + np.triu(np.full((10, 10), -1e9, np.float32), 1)
        return tf.einsum("bij,bjd->bid", tf.nn.softmax(scores), t[2])

    return L.Lambda(attend)([L.Dense(12)(x), L.Dense(12)(x), L.Dense(12)(x)])


@network(sequence(6, 8))
def rms_norm_swiglu(x):
    y = L.Lambda(lambda t: t * tf.math.rsqrt(tf.reduce_mean(tf.square(t), -1, keepdims=True) + 1e-6))(x)
    return L.Add()([x, L.Dense(8)(L.Multiply()([L.Dense(16, activation="silu")(y), L.Dense(16)(y)]))])


@network(sequence(6, 8))
def linear_attention(x):
    q, k, v = (L.Dense(8)(x) for _ in range(3))
    return L.Lambda(lambda t: tf.matmul(tf.nn.elu(t[0]) + 1.0, tf.matmul(tf.nn.elu(t[1]) + 1.0, t[2], transpose_a=True)))(
        [q, k, v])


@network(sequence(6, 8))
def grouped_query_attention(x):
    q = L.Reshape((6, 4, 4))(L.Dense(16)(x))
    k, v = (L.Reshape((6, 2, 4))(L.Dense(8)(x)) for _ in range(2))

    def attend(t):
        key, value = (tf.repeat(u, 2, axis=2) for u in t[1:])
        scores = tf.nn.softmax(tf.einsum("bqhd,bkhd->bhqk", t[0], key) * 0.5)
        return tf.reshape(tf.einsum("bhqk,bkhd->bqhd", scores, value), [1, 6, 16])

    return L.Dense(8)(L.Lambda(attend)([q, k, v]))


@network(sequence(8, 6))
def mixture_of_experts(x):
    gate = L.Dense(3, activation="softmax")(x)
    experts = [L.Dense(6, activation="relu")(x) for _ in range(3)]
    return L.Lambda(lambda t: tf.add_n([t[0][..., k:k + 1] * t[1 + k] for k in range(3)]))([gate, *experts])


@network(sequence(9, 6))
def perceiver_like(x):
    latents = np.random.default_rng(5).standard_normal((1, 4, 6)).astype(np.float32)
    query = L.Lambda(lambda t: tf.zeros_like(t[:, :4]) + latents)(x)
    return L.LayerNormalization()(L.MultiHeadAttention(2, 3)(query, x))


@network(tokens(10, 40))
def fasttext_like(x):
    return L.Dense(4, activation="softmax")(L.GlobalAveragePooling1D()(L.Embedding(40, 8)(x)))


@network(tokens(3, 20, name="users"), tokens(3, 20, name="items"))
def recommender(users, items):
    a, b = L.Embedding(20, 6)(users), L.Embedding(20, 6)(items)
    return L.Dense(1, activation="sigmoid")(L.Concatenate()([L.Flatten()(L.Multiply()([a, b])), L.Flatten()(L.Add()([a, b]))]))

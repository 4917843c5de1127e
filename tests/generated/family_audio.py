"""Front ends and networks of sound."""

import numpy as np
import tensorflow as tf
from keras import layers as L
from networks import Input, network

MEL = np.abs(np.random.default_rng(4).standard_normal((65, 20))).astype(np.float32) * 0.05


def wave(length=640):
    return Input("wave", [1, length], [-1.0, 1.0])


def spectrogram(t, length=128, step=64):
    return tf.abs(tf.signal.stft(t, length, step, fft_length=128))


@network(wave(), kind="function")
def stft_magnitude(x):
    return spectrogram(x)


@network(wave(), kind="function")
def log_mel(x):
    return tf.math.log(tf.tensordot(spectrogram(x), tf.constant(MEL), 1) + 1e-3)


@network(wave(), kind="function")
def stft_parts(x):
    transformed = tf.signal.stft(x, 128, 64, fft_length=128)
    return [tf.math.real(transformed), tf.math.imag(transformed)]


@network(wave(), kind="function")
def mfcc(x):
    mel = tf.math.log(tf.tensordot(spectrogram(x), tf.constant(MEL), 1) + 1e-3)
    places = np.arange(20)
    dct = np.cos(np.pi / 20 * (places[:, None] + 0.5) * np.arange(10)[None]).astype(np.float32)
    return tf.tensordot(mel, tf.constant(dct), 1)


@network(wave())
def keyword_spotting(x):
    x = L.Lambda(lambda t: tf.math.log(tf.tensordot(spectrogram(t), tf.constant(MEL), 1) + 1e-3))(x)
    x = L.Reshape((9, 20, 1))(x)
    x = L.Conv2D(8, (3, 5), (1, 2), activation="relu")(x)
    x = L.DepthwiseConv2D(3, padding="same", activation="relu")(x)
    return L.Dense(6, activation="softmax")(L.GlobalAveragePooling2D()(x))


@network(Input("features", [1, 24, 20]))
def ds_cnn(x):
    x = L.Conv2D(8, (10, 4), 2, "same", activation="relu")(L.Reshape((24, 20, 1))(x))
    for _ in range(2):
        x = L.Conv2D(8, 1, activation="relu")(L.DepthwiseConv2D(3, padding="same", activation="relu")(x))
    return L.Dense(12)(L.Flatten()(L.AveragePooling2D((12, 10))(x)))


@network(Input("features", [1, 24, 8]))
def tc_resnet(x):
    x = L.Conv1D(8, 3, padding="same")(x)
    for filters in (8, 12):
        y = L.Conv1D(filters, 9, 2, "same", activation="relu")(x)
        y = L.BatchNormalization()(L.Conv1D(filters, 9, padding="same")(y))
        x = L.ReLU()(L.Add()([y, L.Conv1D(filters, 1, 2)(x)]))
    return L.Dense(5)(L.GlobalAveragePooling1D()(x))


@network(wave(256))
def wavenet_like(x):
    x = L.Reshape((256, 1))(x)
    x = L.Conv1D(6, 2, padding="causal")(x)
    for rate in (1, 2, 4, 8):
        y = L.Multiply()([L.Conv1D(6, 2, padding="causal", dilation_rate=rate, activation="tanh")(x),
                          L.Conv1D(6, 2, padding="causal", dilation_rate=rate, activation="sigmoid")(x)])
        x = L.Add()([x, L.Conv1D(6, 1)(y)])
    return L.Conv1D(1, 1)(x)


@network(wave(512))
def speech_enhancement(x):
    x = L.Reshape((512, 1))(x)
    a = L.Conv1D(4, 15, 2, "same", activation="relu")(x)
    b = L.Conv1D(8, 15, 2, "same", activation="relu")(a)
    y = L.Conv1DTranspose(4, 15, 2, "same", activation="relu")(b)
    return L.Conv1DTranspose(1, 15, 2, "same", activation="tanh")(L.Concatenate()([y, a]))


@network(Input("features", [1, 16, 10]))
def rnnoise_like(x):
    x = L.Dense(8, activation="tanh")(x)
    x = L.GRU(8, return_sequences=True)(x)
    return L.Dense(6, activation="sigmoid")(x)


@network(Input("features", [1, 12, 10]))
def conformer_like(x):
    y = L.Dense(10)(L.Dense(20, activation="silu")(L.LayerNormalization()(x)))
    x = L.Lambda(lambda t: t[0] + 0.5 * t[1])([x, y])
    y = L.LayerNormalization()(x)
    x = L.Add()([x, L.MultiHeadAttention(2, 5)(y, y)])
    y = L.Conv1D(20, 1)(L.LayerNormalization()(x))
    y = L.Lambda(lambda t: t[..., :10] * tf.sigmoid(t[..., 10:]))(y)
    y = L.Reshape((12, 10))(L.DepthwiseConv1D(5, padding="same", activation="silu")(y))
    return L.LayerNormalization()(L.Add()([x, y]))


@network(wave(), kind="function")
def frame_energy(x):
    frames = tf.signal.frame(x, 100, 40, pad_end=True, pad_value=0.0)
    return tf.math.log(tf.reduce_mean(tf.square(frames), -1) + 1e-6)


@network(wave(480), kind="function")
def pre_emphasis(x):
    y = tf.concat([x[:, :1], x[:, 1:] - 0.97 * x[:, :-1]], 1)
    return tf.clip_by_value(tf.cumsum(y, axis=1), -0.9, 0.9)

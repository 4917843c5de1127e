"""Classifiers of pictures."""

import keras
import tensorflow as tf
from keras import layers as L
from networks import image, network


def unit(x, filters, size=3, strides=1, activation="relu"):
    x = L.Conv2D(filters, size, strides, "same", use_bias=False)(x)
    return L.Activation(activation)(L.BatchNormalization()(x))


def separable(x, filters, strides=1):
    x = L.ReLU(6.0)(L.BatchNormalization()(L.DepthwiseConv2D(3, strides, "same", use_bias=False)(x)))
    return L.ReLU(6.0)(L.BatchNormalization()(L.Conv2D(filters, 1, use_bias=False)(x)))


def inverted(x, filters, expansion=4, strides=1, activation="relu6", squeeze=False):
    before = x
    x = unit(x, expansion * x.shape[-1], 1, activation=activation)
    x = L.Activation(activation)(L.BatchNormalization()(L.DepthwiseConv2D(3, strides, "same", use_bias=False)(x)))
    if squeeze:
        x = squeezed(x)
    x = L.BatchNormalization()(L.Conv2D(filters, 1, use_bias=False)(x))
    return L.Add()([before, x]) if before.shape == x.shape else x


def squeezed(x):
    s = L.GlobalAveragePooling2D(keepdims=True)(x)
    s = L.Conv2D(max(4, x.shape[-1] // 4), 1, activation="relu")(s)
    return L.Multiply()([x, L.Conv2D(x.shape[-1], 1, activation="hard_sigmoid")(s)])


def scores(x, classes=10, activation="softmax"):
    return L.Dense(classes, activation=activation)(L.GlobalAveragePooling2D()(x))


@network(image())
def small_cnn(x):
    x = L.MaxPooling2D()(L.Conv2D(8, 3, activation="relu")(x))
    x = L.MaxPooling2D()(L.Conv2D(16, 3, activation="relu")(x))
    return L.Dense(10, activation="softmax")(L.Dense(32, activation="relu")(L.Flatten()(x)))


@network(image(batch=None))
def small_cnn_open_batch(x):
    x = L.AveragePooling2D(2)(L.Conv2D(8, 5, activation="elu")(x))
    return L.Dense(7)(L.Flatten()(x))


@network(image())
def mobilenet_v1_like(x):
    x = unit(x, 8, strides=2)
    for filters, strides in ((16, 1), (24, 2), (24, 1), (40, 2)):
        x = separable(x, filters, strides)
    return scores(x)


@network(image(40))
def mobilenet_v2_like(x):
    x = unit(x, 8, strides=2, activation="relu6")
    for filters, strides in ((8, 1), (16, 2), (16, 1), (24, 2)):
        x = inverted(x, filters, strides=strides)
    return scores(x)


@network(image())
def mobilenet_v3_like(x):
    x = unit(x, 8, strides=2, activation="hard_silu")
    for filters, strides in ((16, 2), (16, 1), (24, 2)):
        x = inverted(x, filters, strides=strides, activation="hard_silu", squeeze=True)
    return scores(x)


@network(image())
def efficientnet_like(x):
    x = unit(x, 8, strides=2, activation="silu")
    for filters, strides in ((12, 1), (20, 2), (20, 1)):
        x = inverted(x, filters, 6, strides, "silu", True)
    return scores(x)


@network(image(33))
def resnet_like(x):
    x = unit(x, 8, 7, 2)
    x = L.MaxPooling2D(3, 2, "same")(x)
    for filters, strides in ((8, 1), (16, 2), (16, 1)):
        y = L.BatchNormalization()(L.Conv2D(filters, 3, padding="same")(unit(x, filters, strides=strides)))
        if x.shape != y.shape:
            x = L.BatchNormalization()(L.Conv2D(filters, 1, strides)(x))
        x = L.ReLU()(L.Add()([x, y]))
    return scores(x)


@network(image())
def densenet_like(x):
    x = unit(x, 8)
    for _ in range(2):
        for _ in range(3):
            y = L.ReLU()(L.BatchNormalization()(x))
            x = L.Concatenate()([x, L.Conv2D(6, 3, padding="same")(y)])
        x = L.AveragePooling2D(2)(L.Conv2D(x.shape[-1] // 2, 1)(x))
    return scores(x)


@network(image())
def inception_like(x):
    x = unit(x, 8, strides=2)
    for _ in range(2):
        branches = [unit(x, 6, 1), unit(unit(x, 4, 1), 6, 3), unit(unit(x, 4, 1), 4, 5),
                    unit(L.MaxPooling2D(3, 1, "same")(x), 4, 1), unit(L.AveragePooling2D(3, 1, "same")(x), 4, (1, 3))]
        x = L.Concatenate()(branches)
    return scores(x)


@network(image())
def shufflenet_like(x):
    x = unit(x, 16, strides=2)
    for _ in range(2):
        left, right = L.Lambda(lambda t: tf.split(t, 2, axis=-1))(x)
        right = unit(separable(right, right.shape[-1]), right.shape[-1], 1)
        x = L.Concatenate()([left, right])
        h, w, c = x.shape[1:]
        x = L.Reshape((h, w, c))(L.Permute((1, 2, 4, 3))(L.Reshape((h, w, 2, c // 2))(x)))
    return scores(x)


@network(image())
def grouped_resnext_like(x):
    x = unit(x, 16, strides=2)
    y = L.Conv2D(16, 3, padding="same", groups=4)(unit(x, 16, 1))
    x = L.ReLU()(L.Add()([x, L.Conv2D(16, 1)(y)]))
    return scores(x)


@network(image(40))
def convnext_like(x):
    x = L.LayerNormalization(epsilon=1e-6)(L.Conv2D(12, 4, 4)(x))
    for _ in range(2):
        y = L.LayerNormalization(epsilon=1e-6)(L.DepthwiseConv2D(7, padding="same")(x))
        y = L.Dense(12)(L.Dense(48, activation="gelu")(y))
        x = L.Add()([x, y])
    return scores(x, activation=None)


@network(image(), image(24, 1, name="second"))
def two_pictures(x, y):
    x, y = unit(x, 8, strides=4), unit(y, 8, strides=3)
    return [scores(L.Concatenate()([x, y])), L.Subtract()([x, y])]


@network(image(channels=1))
def capsule_norms(x):
    x = L.Reshape((-1, 4))(L.Conv2D(16, 9, 4)(x))
    length = L.Lambda(lambda t: tf.norm(t, axis=-1, keepdims=True))(x)
    return L.Lambda(lambda t: t[0] * t[1] / (1.0 + tf.square(t[1])))([x, length])


@network(image(rule=(0, 255)))
def preprocessing_inside(x):
    x = L.Resizing(24, 24)(L.Rescaling(1 / 127.5, -1.0)(x))
    x = L.Normalization(mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 0.5])(x)
    return scores(unit(x, 8, strides=2))


@network(image())
def prelu_and_leaky(x):
    x = L.PReLU(shared_axes=[1, 2], alpha_initializer="glorot_uniform")(L.Conv2D(8, 3, 2)(x))
    x = L.LeakyReLU(0.1)(L.Conv2D(8, (1, 5))(x))
    return scores(L.Conv2D(8, 3, dilation_rate=2, activation="selu")(x), activation="sigmoid")


@network(image())
def spatial_attention(x):
    x = unit(x, 12, strides=2)
    mean, peak = L.Lambda(lambda t: tf.reduce_mean(t, -1, True))(x), L.Lambda(lambda t: tf.reduce_max(t, -1, True))(x)
    gate = L.Conv2D(1, 7, padding="same", activation="sigmoid")(L.Concatenate()([mean, peak]))
    return scores(squeezed(L.Multiply()([x, gate])))


@network(image())
def global_context(x):
    x = unit(x, 8, strides=2)
    weights = L.Softmax(axis=1)(L.Reshape((-1, 1))(L.Conv2D(1, 1)(x)))
    context = L.Dot(axes=1)([L.Reshape((-1, 8))(x), weights])
    return scores(L.Add()([x, L.Conv2D(8, 1)(L.Reshape((1, 1, 8))(context))]))


@network(image())
def siamese_cosine(x):
    a = L.UnitNormalization()(L.Dense(12)(L.GlobalMaxPooling2D()(unit(x, 8))))
    b = L.UnitNormalization()(L.Dense(12)(L.GlobalAveragePooling2D()(unit(x, 8, strides=2))))
    return L.Dot(axes=1, normalize=True)([a, b])


@network(image())
def involution_like(x):
    x = unit(x, 4, strides=4)
    kernel = L.Reshape((8, 8, 9, 1))(L.Conv2D(9, 1)(x))

    def patches(t):
        padded = tf.pad(t, [[0, 0], [1, 1], [1, 1], [0, 0]])
        return tf.stack([padded[:, row:row + 8, column:column + 8] for row in range(3) for column in range(3)], 3)

    return L.Lambda(lambda t: tf.reduce_sum(t[0] * t[1], axis=3))([kernel, L.Lambda(patches)(x)])


assert keras.backend.backend() == "tensorflow"

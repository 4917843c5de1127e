"""Segmentation, detection, super resolution, style: networks whose results are pictures or boxes."""

import numpy as np
import tensorflow as tf
from family_vision import inverted, separable, squeezed, unit
from keras import layers as L
from networks import image, network


@network(image())
def unet(x):
    kept = []
    for filters in (6, 10):
        x = unit(unit(x, filters), filters)
        kept.append(x)
        x = L.MaxPooling2D()(x)
    x = unit(x, 16)
    for filters in (10, 6):
        x = L.Concatenate()([L.Conv2DTranspose(filters, 2, 2)(x), kept.pop()])
        x = unit(x, filters)
    return L.Conv2D(3, 1, activation="softmax")(x)


@network(image(batch=None))
def unet_open_batch(x):
    a = unit(x, 6)
    b = unit(L.MaxPooling2D()(a), 8)
    x = L.Concatenate()([L.UpSampling2D(interpolation="bilinear")(b), a])
    return L.Conv2D(2, 3, padding="same", activation="sigmoid")(x)


@network(image(rule=(0, 1)))
def unet_transpose_3x3(x):
    a = unit(x, 6, strides=2)
    b = unit(a, 8, strides=2)
    x = L.Conv2DTranspose(6, 3, 2, "same", activation="relu")(b)
    x = L.Conv2DTranspose(4, 4, 2, "same")(L.Add()([x, a]))
    return L.Conv2DTranspose(1, 3, 1, "same", activation="tanh")(x)


@network(image(33))
def deeplab_like(x):
    x = inverted(unit(x, 8, strides=2), 12, strides=2)
    branches = [unit(x, 6, 1)]
    branches += [L.ReLU()(L.Conv2D(6, 3, padding="same", dilation_rate=rate)(x)) for rate in (2, 4)]
    pooled = L.Conv2D(6, 1, activation="relu")(L.GlobalAveragePooling2D(keepdims=True)(x))
    branches.append(L.Lambda(lambda t: tf.image.resize(t, [9, 9]))(pooled))
    x = L.Conv2D(4, 1)(L.Concatenate()(branches))
    x = L.Lambda(lambda t: tf.compat.v1.image.resize_bilinear(t, [33, 33], align_corners=True))(x)
    return L.Lambda(lambda t: tf.cast(tf.argmax(t, -1), tf.int32))(x)


@network(image(32))
def bisenet_like(x):
    detail = unit(unit(x, 8, strides=2), 12, strides=2)
    context = separable(separable(unit(x, 8, strides=2), 12, 2), 16, 2)
    context = squeezed(context)
    up = L.UpSampling2D(2, interpolation="nearest")(L.Conv2D(12, 1)(context))
    x = L.Add()([detail, L.Multiply()([up, L.Activation("sigmoid")(up)])])
    return L.UpSampling2D(4, interpolation="bilinear")(L.Conv2D(5, 1)(x))


@network(image())
def feature_pyramid(x):
    c2 = unit(x, 8, strides=4)
    c3 = unit(c2, 12, strides=2)
    c4 = unit(c3, 16, strides=2)
    p4 = L.Conv2D(8, 1)(c4)
    p3 = L.Add()([L.Conv2D(8, 1)(c3), L.UpSampling2D()(p4)])
    p2 = L.Add()([L.Conv2D(8, 1)(c2), L.UpSampling2D()(p3)])
    return [L.Conv2D(8, 3, padding="same")(p) for p in (p2, p3, p4)]


@network(image(48))
def ssd_like(x):
    x = unit(x, 8, strides=4)
    boxes, classes = [], []
    for filters in (8, 12):
        x = separable(x, filters, 2)
        boxes.append(L.Reshape((-1, 4))(L.Conv2D(3 * 4, 3, padding="same")(x)))
        classes.append(L.Reshape((-1, 5))(L.Conv2D(3 * 5, 3, padding="same")(x)))
    return [L.Concatenate(axis=1)(boxes), L.Activation("sigmoid")(L.Concatenate(axis=1)(classes))]


@network(image(48))
def ssd_decoded(x):
    x = unit(unit(x, 8, strides=4), 8, strides=2)
    anchors = np.random.default_rng(3).uniform(0.1, 0.9, (36, 4)).astype(np.float32)
    box = L.Reshape((36, 4))(L.Conv2D(4, 3, padding="same")(x))

    def decode(t):
        centre = t[..., :2] * 0.1 * anchors[:, 2:] + anchors[:, :2]
        half = tf.exp(tf.clip_by_value(t[..., 2:] * 0.2, -4.0, 4.0)) * anchors[:, 2:] / 2
        return tf.concat([centre - half, centre + half], -1)

    return [L.Lambda(decode)(box), L.Activation("sigmoid")(L.Reshape((36, 3))(L.Conv2D(3, 1)(x)))]


def yolo_grid(t, size, anchors):
    rows, columns = tf.meshgrid(tf.range(size), tf.range(size), indexing="ij")
    grid = tf.cast(tf.stack([columns, rows], -1)[None, :, :, None, :], tf.float32)
    xy = (tf.sigmoid(t[..., :2]) * 2.0 - 0.5 + grid) / size
    wh = (tf.sigmoid(t[..., 2:4]) * 2.0) ** 2.0 * tf.constant(anchors, tf.float32)
    return tf.concat([xy, wh, tf.sigmoid(t[..., 4:])], -1)


def yolo(x, batch):
    x = unit(x, 8, strides=4, activation="silu")
    outputs = []
    for size, anchors in ((4, [[0.1, 0.2], [0.3, 0.1]]), (2, [[0.5, 0.5], [0.7, 0.9]])):
        x = unit(x, 12, strides=2, activation="silu")
        head = L.Reshape((size, size, 2, 7))(L.Conv2D(14, 1)(x))
        outputs.append(L.Reshape((-1, 7))(L.Lambda(yolo_grid, arguments={"size": size, "anchors": anchors})(head)))
    return L.Concatenate(axis=1)(outputs)


@network(image())
def yolo_v5_like(x):
    return yolo(x, 1)


@network(image(batch=None))
def yolo_open_batch(x):
    return yolo(x, None)


@network(image())
def yolo_v8_like(x):
    x = unit(x, 12, strides=4, activation="silu")
    left, right = L.Lambda(lambda t: tf.split(t, 2, -1))(x)
    x = L.Concatenate()([left, right, unit(right, 6, activation="silu")])
    pools = [x]
    for _ in range(2):
        pools.append(L.MaxPooling2D(5, 1, "same")(pools[-1]))
    x = L.Concatenate()(pools)
    distances = L.Softmax()(L.Reshape((64, 4, 8))(L.Conv2D(32, 1)(x)))
    bins = L.Lambda(lambda t: tf.reduce_sum(t * tf.range(8, dtype=tf.float32), -1))(distances)
    classes = L.Activation("sigmoid")(L.Reshape((64, 6))(L.Conv2D(6, 1)(x)))
    return L.Permute((2, 1))(L.Concatenate()([bins, classes]))


@network(image())
def detector_with_nms(x):
    x = unit(x, 8, strides=4)
    corner = L.Activation("sigmoid")(L.Reshape((64, 4))(L.Conv2D(4, 1)(x)))
    score = L.Activation("sigmoid")(L.Reshape((64,))(L.Conv2D(1, 1)(x)))

    def choose(t):
        boxes = tf.concat([t[0][0, :, :2] * 0.5, t[0][0, :, :2] * 0.5 + t[0][0, :, 2:] * 0.5], -1)
        chosen, valid = tf.image.non_max_suppression_padded(boxes, t[1][0], 8, 0.5, 0.3, pad_to_max_output_size=True)
        return tf.gather(boxes, chosen), valid

    return list(L.Lambda(choose)([corner, score]))


@network(image())
def centernet_peaks(x):
    heat = L.Conv2D(3, 1, activation="sigmoid")(unit(x, 8, strides=4))

    def peaks(t):
        kept = tf.where(tf.nn.max_pool2d(t, 3, 1, "SAME") == t, t, tf.zeros_like(t))
        values, places = tf.math.top_k(tf.reshape(kept, [1, -1]), 10)
        return values, places

    return list(L.Lambda(peaks)(heat))


@network(image(24, rule=(0, 1)))
def espcn(x):
    x = L.Conv2D(12, 5, padding="same", activation="tanh")(x)
    return L.Lambda(lambda t: tf.nn.depth_to_space(t, 2))(L.Conv2D(12, 3, padding="same")(x))


@network(image(20, rule=(0, 1)))
def edsr_like(x):
    first = x = L.Conv2D(8, 3, padding="same")(x)
    for _ in range(2):
        y = L.Conv2D(8, 3, padding="same")(L.Conv2D(8, 3, padding="same", activation="relu")(x))
        x = L.Add()([x, L.Rescaling(0.1)(y)])
    x = L.Conv2D(27, 3, padding="same")(L.Add()([first, x]))
    return L.Lambda(lambda t: tf.clip_by_value(tf.nn.depth_to_space(t, 3), 0.0, 1.0))(x)


@network(image(24, rule=(0, 1)))
def residual_bicubic_free(x):
    up = L.Lambda(lambda t: tf.image.resize(t, [72, 72], "nearest"))(x)
    y = L.Conv2DTranspose(3, 9, 3, "same")(L.Conv2D(8, 5, padding="same", activation="relu")(x))
    return L.Lambda(lambda t: tf.minimum(tf.maximum(t[0] + t[1], 0.0), 1.0))([up, y])


def instance_norm(t):
    mean, variance = tf.nn.moments(t, [1, 2], keepdims=True)
    return (t - mean) * tf.math.rsqrt(variance + 1e-5)


@network(image(rule=(0, 1)))
def style_transfer(x):
    x = L.Lambda(lambda t: tf.pad(t, [[0, 0], [2, 2], [2, 2], [0, 0]], "REFLECT"))(x)
    x = L.ReLU()(L.Lambda(instance_norm)(L.Conv2D(8, 5, 2)(x)))
    y = L.Lambda(instance_norm)(L.Conv2D(8, 3, padding="same")(x))
    x = L.Add()([x, y])
    x = L.UpSampling2D(2)(x)
    return L.Lambda(lambda t: (tf.tanh(t) + 1.0) * 127.5)(L.Conv2D(3, 3, padding="same")(x))


@network(image())
def adaptive_instance(x):
    a, b = unit(x, 8, strides=2), L.Conv2D(8, 3, 2, "same")(x)

    def transfer(t):
        mean_a, var_a = tf.nn.moments(t[0], [1, 2], keepdims=True)
        mean_b, var_b = tf.nn.moments(t[1], [1, 2], keepdims=True)
        return (t[0] - mean_a) / tf.sqrt(var_a + 1e-3) * tf.sqrt(var_b + 1e-3) + mean_b

    return L.Lambda(transfer)([a, b])


@network(image(rule=(0, 1)))
def depth_estimation(x):
    x = unit(unit(x, 8, strides=2), 12, strides=2)
    for filters in (8, 6):
        x = L.Lambda(lambda t: tf.image.resize(t, [2 * t.shape[1], 2 * t.shape[2]]))(x)
        x = unit(x, filters)
    return L.Lambda(lambda t: 1.0 / (0.01 + 9.99 * t))(L.Conv2D(1, 3, padding="same", activation="sigmoid")(x))


@network(image(28, 1))
def autoencoder(x):
    x = L.Conv2D(8, 3, 2, "same", activation="relu")(x)
    code = L.Dense(6)(L.Flatten()(x))
    x = L.Reshape((7, 7, 8))(L.Dense(7 * 7 * 8, activation="relu")(code))
    x = L.Conv2DTranspose(8, 5, 2, "same", activation="relu")(x)
    return [code, L.Conv2DTranspose(1, 5, 2, "same", activation="sigmoid")(x)]


@network(image(32))
def keypoint_soft_argmax(x):
    heat = L.Conv2D(5, 1)(unit(x, 8, strides=2))

    def place(t):
        weights = tf.nn.softmax(tf.reshape(t, [-1, 256, 5]), axis=1)
        axis = tf.cast(tf.range(256), tf.float32)[None, :, None]
        return tf.stack([tf.reduce_sum(weights * tf.math.floormod(axis, 16.0), 1),
                         tf.reduce_sum(weights * tf.math.floordiv(axis, 16.0), 1)], -1)

    return L.Lambda(place)(heat)


@network(image(16, 4))
def volume_segmentation(x):
    x = L.Reshape((16, 16, 4, 1))(x)
    x = L.Conv3D(4, 3, padding="same", activation="relu")(x)
    x = L.Conv3D(4, (2, 2, 1), (2, 2, 1), activation="relu")(x)
    return L.Conv3DTranspose(2, (2, 2, 1), (2, 2, 1))(x)


@network(image(32))
def homography_like_affine(x):
    theta = L.Dense(6)(L.Flatten()(unit(x, 4, strides=8)))

    def warp(t):
        matrix = tf.reshape(t, [-1, 2, 3])
        ys, xs = tf.meshgrid(tf.linspace(-1.0, 1.0, 8), tf.linspace(-1.0, 1.0, 8), indexing="ij")
        points = tf.stack([tf.reshape(xs, [-1]), tf.reshape(ys, [-1]), tf.ones([64])])
        return tf.linalg.matmul(matrix, points[None])

    return L.Lambda(warp)(theta)

#!/usr/bin/env python3
"""Makes the demo model: draws pictures, trains a small segmentation network, converts it and stores goldens.

Writes shapes_f32.tflite, shapes_int8.tflite, shapes.png, labels.txt, golden.json and golden_*.bin into this folder, or
into --output-dir. Needs the packages in requirements.txt; takes about six minutes of processor time.
"""

import argparse
import hashlib
import json
import os
import pathlib
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from keras import layers

import scenes

SIZE_PX = 96
PHOTO_SIZE_PX = 384
PHOTO_SEED = 11
TRAINING_SEED, VALIDATION_SEED, CALIBRATION_SEED = 1, 2, 3
TRAINING_COUNT, VALIDATION_COUNT, CALIBRATION_COUNT = 8000, 400, 200
BATCH_SIZE = 32
EPOCHS = 6
PEAK_LEARNING_RATE = 4e-3
FLOAT_TOLERANCE = 1e-3  # between the trained and the converted network, of the largest logit


def normalized(pictures):
    """RGB bytes to the network's float input, as `hearth run` does it without options."""
    return (np.float32(pictures) - np.float32(127.5)) / np.float32(127.5)


# The network.


def conv_bn(x, channels, kernel_px=1, stride=1, activation=True):
    x = layers.Conv2D(channels, kernel_px, strides=stride, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.95)(x)
    return layers.ReLU(6.0)(x) if activation else x


def depthwise_bn(x, stride=1, dilation=1):
    x = layers.DepthwiseConv2D(3, strides=stride, dilation_rate=dilation, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.95)(x)
    return layers.ReLU(6.0)(x)


def separable(x, channels):
    return conv_bn(depthwise_bn(x), channels)


def inverted_residual(x, channels, stride=1, dilation=1):
    """Expand, filter, project; added to its input where the shapes allow that."""
    y = conv_bn(x, 2 * x.shape[-1])
    y = depthwise_bn(y, stride, dilation)
    y = conv_bn(y, channels, activation=False)
    return layers.Add()([x, y]) if y.shape == x.shape else y


def upsample(x, factor):
    return layers.UpSampling2D(factor, interpolation="bilinear")(x)


def build_network(batch_size=None):
    """Encoder down to 12x12 with dilation and a global context branch, decoder with two skips, logits at full size."""
    image = keras.Input((SIZE_PX, SIZE_PX, 3), batch_size=batch_size, name="image")
    half = separable(conv_bn(image, 16, kernel_px=3, stride=2), 16)
    quarter = inverted_residual(half, 32, stride=2)
    quarter = inverted_residual(quarter, 32)
    x = inverted_residual(quarter, 64, stride=2)
    for dilation in (1, 2, 2):
        x = inverted_residual(x, 64, dilation=dilation)
    context = conv_bn(layers.AveragePooling2D(x.shape[1])(x), 16)
    x = layers.Concatenate()([x, upsample(context, x.shape[1])])
    x = layers.Concatenate()([upsample(conv_bn(x, 48), 2), quarter])
    x = layers.Concatenate()([upsample(separable(x, 32), 2), half])
    x = separable(x, 32)
    logits = layers.Conv2D(len(scenes.CLASS_NAMES), 1)(x)
    return keras.Model(image, upsample(logits, SIZE_PX // logits.shape[1]), name="shapes")


def train(network):
    pictures, classes = scenes.render_many(TRAINING_SEED, TRAINING_COUNT, SIZE_PX)
    data = tf.data.Dataset.from_tensor_slices((pictures, classes)).shuffle(TRAINING_COUNT, seed=TRAINING_SEED)
    data = data.batch(BATCH_SIZE, drop_remainder=True).map(lambda p, c: ((tf.cast(p, tf.float32) - 127.5) / 127.5, c))
    epoch_steps = TRAINING_COUNT // BATCH_SIZE
    rate = keras.optimizers.schedules.CosineDecay(
        1e-4, (EPOCHS - 1) * epoch_steps, warmup_target=PEAK_LEARNING_RATE, warmup_steps=epoch_steps)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    network.compile(keras.optimizers.AdamW(rate, weight_decay=1e-4), loss, metrics=["accuracy"],
                    jit_compile=False)
    network.fit(data, epochs=EPOCHS, shuffle=False, verbose=2)


# Conversion.


def single_picture_copy(network):
    """The trained network with a fixed batch size of one; layers are named as in a fresh process."""
    keras.utils.clear_session()
    single = build_network(batch_size=1)
    single.set_weights(network.get_weights())
    return single


def float_converter(single):
    """A converter from a bare function: a saved model would put `serving_default_` before the input's name."""
    call = tf.function(lambda image: single(image, training=False))
    signature = tf.TensorSpec((1, SIZE_PX, SIZE_PX, 3), tf.float32, name="image")
    return tf.lite.TFLiteConverter.from_concrete_functions([call.get_concrete_function(signature)])


def convert_f32(single):
    return float_converter(single).convert()


def convert_int8(single):
    """Weights per channel, activations, input and output in int8; ranges come from drawn pictures."""
    pictures, _ = scenes.render_many(CALIBRATION_SEED, CALIBRATION_COUNT, SIZE_PX)
    converter = float_converter(single)
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([picture] for picture in normalized(pictures)[:, None])
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = converter.inference_output_type = tf.int8
    return converter.convert()


def model_input(picture, dtype):
    """The picture as the model's input: normalised floats, or bytes shifted to int8."""
    if dtype == np.float32:
        return normalized(picture)[None]
    return (picture.astype(np.int16) - 128).astype(np.int8)[None]


def make_interpreter(model, resolver):
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=resolver, num_threads=1)
    interpreter.allocate_tensors()
    return interpreter


def infer(interpreter, picture):
    (source,), (result,) = interpreter.get_input_details(), interpreter.get_output_details()
    interpreter.set_tensor(source["index"], model_input(picture, source["dtype"]))
    interpreter.invoke()
    return interpreter.get_tensor(result["index"])


# Checks and goldens.


def print_scores(name, predicted, classes):
    """Pixel accuracy, and intersection over union of each class over all pictures."""
    accuracy = np.mean(predicted == classes)
    overlaps = [np.sum((predicted == c) & (classes == c)) / np.sum((predicted == c) | (classes == c))
                for c in range(len(scenes.CLASS_NAMES))]
    per_class = ", ".join(f"{c} {v:.3f}" for c, v in zip(scenes.CLASS_NAMES, overlaps))
    print(f"{name}: pixel accuracy {accuracy:.4f}, mean IoU {np.mean(overlaps):.4f} ({per_class})")


def print_operators(name, model):
    interpreter = make_interpreter(model, OpResolverType.BUILTIN_REF)
    operators = [details["op_name"] for details in interpreter._get_ops_details()]
    counts = ", ".join(f"{op} {operators.count(op)}" for op in sorted(set(operators)))
    print(f"{name}: {len(model):,} bytes, {len(operators)} operators: {counts}")


def tensor_entry(details, file, **rest):
    entry = {"index": 0, "name": details["name"], "dtype": details["dtype"].__name__,
             "shape": details["shape"].tolist(), "file": file.name, "file_dtype": details["dtype"].__name__, **rest}
    scale, zero_point = details["quantization"]
    return entry | ({"scale": scale, "zero_point": zero_point} if scale else {})


def write_golden(output_dir, model_name, model, picture):
    """Stores one input and its output by the reference kernels; returns the manifest entry."""
    oracle = make_interpreter(model, OpResolverType.BUILTIN_REF)
    peer = make_interpreter(model, OpResolverType.BUILTIN)
    golden = infer(oracle, picture)
    peer_distance = np.abs(golden.astype(np.float64) - infer(peer, picture)).max()
    (source,), (result,) = oracle.get_input_details(), oracle.get_output_details()
    suffix = model_name.removeprefix("shapes_").removesuffix(".tflite")
    input_file, output_file = (output_dir / f"golden_{suffix}_{part}.bin" for part in ("input", "output"))
    input_file.write_bytes(model_input(picture, source["dtype"]).tobytes())
    output_file.write_bytes(golden.tobytes())
    values = "RGB, (x-127.5)/127.5" if source["dtype"] == np.float32 else "RGB bytes - 128"
    origin = f"shapes.png resized (bilinear, half-pixel centres) to {SIZE_PX}x{SIZE_PX}, {values}"
    return {
        "model": model_name,
        "sha256": hashlib.sha256(model).hexdigest(),
        "oracle": "LiteRT CPU interpreter, built-in reference kernels, no delegate",
        "byte_order": "little-endian, C order",
        "inputs": [tensor_entry(source, input_file, source=origin)],
        "outputs": [tensor_entry(result, output_file, min=float(golden.min()), max=float(golden.max()),
                                 peer_max_abs_diff=float(peer_distance))],
        "peer": "LiteRT with XNNPACK (peer_max_abs_diff is its distance from the oracle: a floor for any tolerance)",
    }


def write_photo(output_dir):
    """Draws the demo picture, one shape of each kind; returns it at the model's size, with its classes."""
    scene = scenes.random_scene(np.random.default_rng(PHOTO_SEED), list(scenes.SHAPES))
    photo, _ = scenes.render(scene, PHOTO_SIZE_PX)
    (output_dir / "shapes.png").write_bytes(tf.io.encode_png(photo, compression=9).numpy())
    resized = tf.image.resize(photo, (SIZE_PX, SIZE_PX), method="bilinear")
    return np.rint(resized.numpy()).astype(np.uint8), scenes.render(scene, SIZE_PX)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output-dir", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    output_dir = parser.parse_args().output_dir
    output_dir.mkdir(parents=True, exist_ok=True)

    start_s = time.monotonic()
    tf.config.experimental.enable_op_determinism()
    tf.config.threading.set_intra_op_parallelism_threads(2)
    keras.utils.set_random_seed(TRAINING_SEED)
    network = build_network()
    print(f"{network.count_params():,} parameters")
    train(network)
    print(f"trained after {time.monotonic() - start_s:.0f} s")

    single = single_picture_copy(network)
    models = {"shapes_f32.tflite": convert_f32(single), "shapes_int8.tflite": convert_int8(single)}
    photo, photo_classes = write_photo(output_dir)
    (output_dir / "labels.txt").write_text("\n".join(scenes.CLASS_NAMES) + "\n")

    pictures, classes = scenes.render_many(VALIDATION_SEED, VALIDATION_COUNT, SIZE_PX)
    logits = network.predict(normalized(pictures), verbose=0)
    print_scores("keras, validation", logits.argmax(-1), classes)
    for name, model in models.items():
        (output_dir / name).write_bytes(model)
        print_operators(name, model)
        interpreter = make_interpreter(model, OpResolverType.BUILTIN)
        results = np.concatenate([infer(interpreter, picture) for picture in pictures])
        if results.dtype == np.float32:
            difference = np.abs(results - logits).max() / np.abs(logits).max()
            assert difference < FLOAT_TOLERANCE, f"the conversion changed the logits by {difference:.2g}"
        print_scores(f"{name}, validation", results.argmax(-1), classes)
        print_scores(f"{name}, shapes.png", infer(interpreter, photo).argmax(-1), photo_classes[None])

    goldens = [write_golden(output_dir, name, model, photo) for name, model in models.items()]
    (output_dir / "golden.json").write_text(json.dumps({"goldens": goldens}, indent=1) + "\n")
    print(f"done after {time.monotonic() - start_s:.0f} s")


if __name__ == "__main__":
    main()

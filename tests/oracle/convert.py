"""TensorFlow functions to .tflite bytes, in the forms of quantization that the converter has."""

import logging
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf

logging.getLogger("absl").setLevel(logging.ERROR)

MODES = ("float", "float16", "hybrid", "hybrid_tensor", "int8", "int8_tensor", "int16")


def _calibration(specs, ranges):
    """Samples that reach both ends of the range, so that the quantization covers it."""
    random = np.random.default_rng(7)

    def samples():
        for _ in range(4):
            sample = []
            for spec, (low, high) in zip(specs, ranges):
                values = random.uniform(low, high, spec.shape).astype(np.float32)
                if values.size > 1:
                    values.flat[0], values.flat[-1] = low, high
                sample.append(tf.cast(values, spec.dtype))
            yield sample

    return samples


def convert(function, specs, ranges, mode="float"):
    """`mode` one of MODES; the integer modes have integer inputs and outputs."""
    concrete = tf.function(function, input_signature=specs, autograph=False).get_concrete_function()
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete])
    if mode != "float":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if mode == "float16":
        converter.target_spec.supported_types = [tf.float16]
    if mode in ("int8", "int8_tensor", "int16"):
        converter.representative_dataset = _calibration(specs, ranges)
        activations = tf.int16 if mode == "int16" else tf.int8
        converter.inference_input_type = converter.inference_output_type = activations
        converter.target_spec.supported_ops = [
            (
                tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
                if mode == "int16"
                else tf.lite.OpsSet.TFLITE_BUILTINS_INT8
            )
        ]
    if mode.endswith("_tensor"):
        converter._experimental_disable_per_channel = True
        converter._experimental_disable_per_channel_quantization_for_dense_layers = True
    return _silently(converter.convert)


def _silently(call):
    """The converter's C++ parts write notes to the error stream."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        return call()
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)

#!/usr/bin/env python3
"""Worker: builds a network or an operator model with TensorFlow and converts it.

Request: name, quantization (one of QUANTIZATIONS), model (the file to write). Answer: rules of its inputs, runs.
Run with `--list` it prints all names.
"""

import json
import logging
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import keras
import numpy as np
import tensorflow as tf
from ai_edge_quantizer import quantizer, recipe

import networks
import numbers_of_models
import operators
import worker

logging.getLogger("absl").setLevel(logging.ERROR)
CALIBRATION_RUNS = 6
INTEGERS = {"int8": tf.int8, "int16x8": tf.int16}
# What ai-edge-quantizer makes of the float model.
RECIPES = {"weights8": recipe.weight_only_wi8_afp32, "weights4": recipe.dynamic_wi4_afp32,
           "weights2": recipe.dynamic_wi2c_afp32, "blocks4": recipe.dynamic_wi4b32_afp32,
           "rotated8": recipe.dynamic_wi8c_hr_afp32}


def shaken(model, name):
    """Biases and statistics that training would have given: zeros and ones hide mistakes."""
    random = np.random.default_rng(networks.seed_of(name))
    for variable in model.weights:
        if variable.path.endswith(("bias", "beta", "moving_mean")) and "float" in variable.dtype:
            variable.assign(variable.numpy() + 0.2 * random.standard_normal(variable.shape).astype(np.float32))
        elif variable.path.endswith(("gamma", "moving_variance")):
            variable.assign(variable.numpy() * random.uniform(0.6, 1.6, variable.shape).astype(np.float32))


def keras_model(network):
    keras.backend.clear_session()
    symbols = [keras.Input(entry.shape[1:], entry.shape[0], entry.dtype, name=entry.name) for entry in network.inputs]
    model = keras.Model(symbols, network.build(*symbols))
    shaken(model, network.name)
    return model


def converter_of(network, as_model):
    """Of a Keras model or of a function that is traced."""
    keras.utils.set_random_seed(networks.seed_of(network.name))
    owner, function = None, network.build
    if network.kind == "keras":
        model = keras_model(network)
        if as_model:
            return tf.lite.TFLiteConverter.from_keras_model(model)
        function = lambda *x: model(x[0] if len(x) == 1 else list(x), training=False)
    elif network.kind == "module":
        # With its owner a function keeps its variables; without one they are frozen, as those of a trained network.
        owner = network.build()
        function = owner.__call__
    specs = [tf.TensorSpec(entry.shape, entry.dtype, name=entry.name) for entry in network.inputs]
    concrete = tf.function(function, input_signature=specs, autograph=False).get_concrete_function()
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], owner)
    converter.experimental_enable_resource_variables = owner is not None
    return converter


def calibration(network, is_named):
    """Samples by input; runs that no comparison uses."""

    def samples():
        ordered = sorted(network.inputs, key=lambda entry: entry.name)
        for run in range(100, 100 + CALIBRATION_RUNS):
            sample = {}
            for position, entry in enumerate(ordered):
                shape = [size or 1 for size in entry.shape]
                values = numbers_of_models.real_values(network.name, run, position, shape, entry.rule)
                sample[entry.name] = values.astype(entry.dtype)
            # A function's inputs have no names in its model, which has no signature.
            yield sample if is_named else [sample[entry.name] for entry in network.inputs]

    return samples


def converted(network, quantization, as_model):
    converter = converter_of(network, as_model)
    # Else loops of recurrent layers with an open batch cannot be converted to TFLite's own operators.
    converter._experimental_default_to_single_batch_in_tensor_list_ops = True
    if quantization != "float":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if quantization == "float16":
        converter.target_spec.supported_types = [tf.float16]
    if quantization in INTEGERS:
        converter.representative_dataset = calibration(network, as_model or network.kind == "module")
        converter.target_spec.supported_ops = [
            tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
            if quantization == "int16x8" else tf.lite.OpsSet.TFLITE_BUILTINS_INT8, tf.lite.OpsSet.TFLITE_BUILTINS]
        # Half of the networks have integers at their ends, the others quantize and dequantize inside.
        if networks.seed_of(network.name) % 2 and all(entry.dtype == "float32" for entry in network.inputs):
            converter.inference_input_type = INTEGERS[quantization]
    return converter.convert()


def answer(request):
    table = networks.REGISTERED if request["name"] in networks.REGISTERED else operators.REGISTERED
    network = table[request["name"]]
    # As models, the loops of Keras's recurrent layers keep what the converter knows of them; not with an open batch.
    is_recurrent = network.family == "recurrent" and all(entry.shape[0] for entry in network.inputs)
    quantization = request["quantization"]
    content = converted(network, "float" if quantization in RECIPES else quantization, is_recurrent)
    if quantization in RECIPES:
        content = bytes(quantizer.Quantizer(content, RECIPES[quantization]()).quantize().quantized_model)
    with open(request["model"], "wb") as file:
        file.write(content)
    return {"rules": {entry.name: entry.rule for entry in network.inputs}, "runs": network.runs}


def listed():
    networks_listed = [{"name": name, "kind": "network", "family": entry.family,
                        **({"quantizations": entry.quantizations} if entry.quantizations else {})}
                       for name, entry in networks.REGISTERED.items()]
    return networks_listed + [{"name": name, "kind": "operator", "family": entry.family,
                               "quantizations": entry.quantizations} for name, entry in operators.REGISTERED.items()]


if __name__ == "__main__":
    networks.load_all()
    operators.register_all()
    if "--list" in sys.argv:
        print(json.dumps(listed()))
    else:
        worker.serve(answer)

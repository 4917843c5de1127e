#!/usr/bin/env bash
# tf.reverse behind tf.sigmoid, converted to int8 by TensorFlow's own converter and run by LiteRT.
#
# Guess: operators that only move numbers get one scale for both sides, as RESHAPE and GATHER do, so an int8 network is
# within a step or two of the float one.
# Seen: GATHER, TRANSPOSE and a slice with step -1 do. REVERSE_V2's result gets the range that was seen (here a scale of
# 0.001), its input has the sigmoid's fixed 1/256, and LiteRT's kernel copies the bytes: every number is 0.27 of what it
# should be. Nothing warns.
. "$(dirname "$0")/lib/finding.sh"
packages tensorflow==2.21.0 ai-edge-litert==2.3.0 numpy==2.4.6
export TF_CPP_MIN_LOG_LEVEL=3
python - 2>/dev/null <<'PY'
import numpy as np
import tensorflow as tf
from ai_edge_litert.interpreter import Interpreter
from finding import expect

samples = [np.random.default_rng(seed).uniform(-2, -1, (1, 8)).astype(np.float32) for seed in range(50)]


def share(last):
    """How large the int8 network's numbers are, in shares of the float network's."""
    network = tf.function(lambda x: last(tf.sigmoid(x))).get_concrete_function(tf.TensorSpec((1, 8), tf.float32))
    converter = tf.lite.TFLiteConverter.from_concrete_functions([network])
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([x] for x in samples)
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
    interpreter = Interpreter(model_content=converter.convert())
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], samples[0])
    interpreter.invoke()
    answer = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    return round(float(np.mean(answer / network(samples[0]).numpy())), 2)


for what, last, was in [("GATHER", lambda x: tf.gather(x, list(range(8))[::-1], axis=1), 1.0),
                        ("a slice with step -1", lambda x: x[:, ::-1], 1.0),
                        ("REVERSE_V2", lambda x: tf.reverse(x, [1]), .27)]:
    expect(f"{what}: share of the float network", share(last), was)
PY

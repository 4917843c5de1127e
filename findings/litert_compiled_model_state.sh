#!/usr/bin/env bash
# LiteRT's CompiledModel loads no file with a variable tensor (an RNN's or LSTM's state), which its interpreter runs.
#
# Guess: CompiledModel runs on its CPU accelerator whatever the interpreter of the same package runs.
# Seen: "Variable tensors not yet supported" in 2.1.0 as in 2.3.0; a file without state gives the interpreter's bits.
. "$(dirname "$0")/lib/finding.sh"
for version in 2.1.0 2.3.0; do
  packages ai-edge-litert==$version ml-dtypes==0.6.0 numpy==2.4.6
  python - 2>/dev/null <<'PY'
import numpy as np
from ai_edge_litert.compiled_model import CompiledModel
from finding import expect, refused
from tflite_model import Net, fully_connected, litert


def rnn():
    net, weights = Net(), np.eye(2, dtype=np.float32)
    x, w, recurrent, bias = net.input((1, 2)), net.constant(weights), net.constant(weights), net.constant(np.zeros(2, np.float32))
    state, y = net.tensor((1, 2), variable=True), net.tensor((1, 2))
    net.operator("RNN", [x, w, recurrent, bias, state], [y], "RNN")
    return net.file(y)


def compiled(file):
    with open("model.tflite", "wb") as out:
        out.write(file)
    model = CompiledModel.from_file("model.tflite")
    inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
    inputs[0].write(x)
    model.run_by_index(0, inputs, outputs)
    return outputs[0].read(2, np.float32)


x = np.array([[1, 2]], np.float32)
dense = fully_connected(np.array([[1, 2], [3, 4]], np.float32))
expect("FULLY_CONNECTED, CompiledModel less interpreter", compiled(dense) - litert(dense, x)[0][0], [0, 0])
expect("RNN, interpreter", litert(rnn(), x)[0], x)
refused("RNN, CompiledModel", lambda: compiled(rnn()))
PY
done

#!/usr/bin/env bash
# LiteRT's GPU accelerator on SwiftShader, beside its CPU kernels: EXP(NaN) has three answers, and LOG(-1) is 0.
#
# Guess: NaN stays NaN on the GPU, TANH(100) is NaN there since SwiftShader's tanh is, and numbers are rounded to 16 bits
# unless 32 are asked for.
# Seen: EXP(NaN) is infinity on the GPU, 0 by default and NaN with plain kernels; TANH(NaN) is -1, LOGISTIC(NaN) is 0.
# TANH(100) is 1, since the accelerator clamps first, and all 32 bits are kept.
. "$(dirname "$0")/lib/finding.sh"
installed chromium-common=156.0.8078.108-1~deb12u1
packages ai-edge-litert==2.3.0 numpy==2.4.6
vulkan /usr/lib/chromium/vk_swiftshader_icd.json
python - 2>/dev/null <<'PY'
import numpy as np
from ai_edge_litert.compiled_model import CompiledModel, HardwareAccelerator
from finding import expect
from tflite_model import Net, litert

nan = np.nan
for kind, options, x, gpu, default, plain in [
        ("EXP", "Exp", [nan, 1], [np.inf, np.e], [0, np.e], [nan, np.e]),
        ("TANH", None, [nan, 100], [-1, 1], [nan, 1], [nan, 1]),
        ("LOGISTIC", None, [nan, 0], [0, .5], [nan, .5], [nan, .5]),
        ("LOG", None, [-1, nan], [0, 89.1283], [nan, nan], [nan, nan]),
        ("ABS", "Abs", [-2049, 70000], [2049, 70000], [2049, 70000], [2049, 70000])]:
    x = np.array(x, np.float32).reshape(1, 1, 1, 2)
    net = Net()
    i, y = net.input(x.shape), net.tensor(x.shape)
    net.operator(kind, [i], [y], options)
    model = CompiledModel.from_buffer(net.file(y), hardware_accel=HardwareAccelerator.GPU)
    inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
    inputs[0].write(x)
    model.run_by_index(0, inputs, outputs)
    for what, result, was in [("GPU", outputs[0].read(2, np.float32), gpu), ("default", litert(net.file(y), x)[0], default),
                              ("plain", litert(net.file(y), x, kernels="plain")[0], plain)]:
        expect(f"{kind}{x.reshape(-1).tolist()}, {what}", result, was)
PY

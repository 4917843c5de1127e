#!/usr/bin/env bash
# LRN: onnx's reference evaluator normalizes as many channels as the batch is large, and an even size has three answers.
#
# Guess: all runtimes give the standard's sum over c-floor((size-1)/2) to c+ceil((size-1)/2), for even sizes too.
# Seen: the reference leaves channels 1 to 5 of batch 1 as they were (the standard's own test has 5 channels in a batch
# of 5). onnxruntime refuses an even size, and OpenVINO's window reaches one channel further to the front, not to the end.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnx_reference, onnxruntime, openvino, refused

x = np.arange(1, 7, dtype=np.float32).reshape(1, 6, 1, 1)


def by_hand(size):
    windows = [x[:, max(0, c - (size - 1) // 2):c + size // 2 + 1] for c in range(6)]
    return np.array([x[0, c] / (1 + (4 / size) * np.sum(window ** 2)) for c, window in enumerate(windows)])


for size in (3, 4):
    model = onnx_model(("LRN", "x", "y", {"size": size, "alpha": 4.0, "beta": 1.0, "bias": 1.0}), {"x": x})
    print(f"size {size}, the standard's formula:", by_hand(size).reshape(-1).round(4))
    expect(f"size {size}, reference", onnx_reference(model, {"x": x})[0], np.append(by_hand(size)[0], x[0, 1:]))
    if size == 3:
        expect("size 3, onnxruntime", onnxruntime(model, {"x": x})[0], by_hand(size))
        expect("size 3, OpenVINO", openvino(model, {"x": x})[0], by_hand(size))
    else:
        refused("size 4, onnxruntime", lambda: onnxruntime(model, {"x": x}))
        expect("size 4, OpenVINO", openvino(model, {"x": x})[0], [.166667, .133333, .1, .0784314, .0641026, .0967742])
PY

#!/usr/bin/env bash
# Non-maximum suppression of equal scores: LiteRT takes boxes in the order of a heap, onnxruntime and OpenVINO by index.
#
# Guess: equal scores are taken in the order of the boxes.
# Seen: of twelve boxes apart with a score of 0.5 each, LiteRT takes 0 2 6 11 10 9. 8-bit detectors have many equal scores.
. "$(dirname "$0")/lib/finding.sh"
packages ai-edge-litert==2.3.0 onnx==1.23.2 onnxruntime==1.32.0 openvino==2026.4.1 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, onnx_model, onnxruntime, openvino
from tflite_model import Net, litert

boxes = np.array([[0, 2 * i, 1, 2 * i + 1] for i in range(12)], np.float32)
scores = np.full(12, .5, np.float32)
net = Net()
inputs = [net.input(boxes.shape), net.input(scores.shape), net.constant(np.array(6, np.int32)),
          net.constant(np.array(.5, np.float32)), net.constant(np.array(.1, np.float32))]
chosen, count = net.tensor((6,), np.int32), net.tensor((), np.int32)
net.operator("NON_MAX_SUPPRESSION_V4", inputs, [chosen, count])
expect("LiteRT", litert(net.file(chosen, count), boxes, scores)[0], [0, 2, 6, 11, 10, 9])

inputs = {"boxes": boxes[None], "scores": scores[None, None]}
constants = {"most": np.array([6], np.int64), "iou": np.array([.5], np.float32), "least": np.array([.1], np.float32)}
model = onnx_model(("NonMaxSuppression", "boxes,scores,most,iou,least", "y", {}), inputs, constants)
for runtime in (onnxruntime, openvino):
    expect(runtime.__name__, runtime(model, inputs)[0].reshape(-1, 3)[:6, 2], range(6))
PY

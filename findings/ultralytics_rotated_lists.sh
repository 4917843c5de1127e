#!/usr/bin/env bash
# A list of rotated boxes from YOLO26's own exporter holds centres and sizes where its other lists hold corners.
#
# Guess: rows of the rotated head are those of the others (left, top, right, bottom, score, class) and an angle behind
# them, as the comment of the function that makes them all says.
# Seen: the first four numbers are centre x, centre y, width and height; nothing in the file says so. The same box is
# -48, -48, 80, 80 in the other lists and 16, 16, 128, 128 in this one.
. "$(dirname "$0")/lib/finding.sh"
export YOLO_CONFIG_DIR=$work YOLO_VERBOSE=false YOLO_OFFLINE=true YOLO_AUTOINSTALL=false
packages ultralytics==8.4.190 torch==2.15.0 torchvision==0.29.2 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
python - <<'PY'
import numpy as np
import onnxruntime
import torch
from finding import expect
from ultralytics import YOLO

torch.manual_seed(0)
for task, numbers, first in [("", 6, [-48, -48, 80, 80]), ("-pose", 57, [-48, -48, 80, 80]),
                             ("-obb", 7, [16, 16, 128, 128])]:
    model = YOLO(f"yolo26n{task}.yaml")  # weights are random: what the numbers are depends on the head alone
    path = model.export(format="onnx", imgsz=160, opset=17, nms=False, simplify=False, verbose=False)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    picture = np.random.default_rng(0).random((1, 3, 160, 160), np.float32)
    rows = session.run(None, {"images": picture})[0][0]
    expect(f"yolo26n{task}, numbers", rows.shape, [300, numbers])
    expect(f"yolo26n{task}, box of the first row", rows[0, :4], first)  # of the first cell, whose centre is at 16, 16
PY

"""TFLite_Detection_PostProcess, the one custom operator that the interpreter brings along."""

import numpy as np
from flatbuffers import flexbuffers

import flatbuffer_net as fb

BOXES, CLASSES = 24, 3


def anchors():
    """Overlapping boxes on a grid: center y, center x, height, width."""
    rows = [(0.1 + 0.2 * (i // 6), 0.1 + 0.16 * (i % 6), 0.25 + 0.05 * (i % 3), 0.3) for i in range(BOXES)]
    return np.array(rows, np.float32)


def add_detection(models):
    forms = {
        "fast": {},
        "regular": {"use_regular_nms": True},
        "two_classes_each": {"max_classes_per_detection": 2},
        "few": {"nms_score_threshold": 0.8},
        "uint8": {},
    }
    for name, changes in forms.items():
        options = {
            "max_detections": 6,
            "max_classes_per_detection": 1,
            "detections_per_class": 4,
            "use_regular_nms": False,
            "nms_score_threshold": 0.3,
            "nms_iou_threshold": 0.4,
            "num_classes": CLASSES,
            "y_scale": 10.0,
            "x_scale": 10.0,
            "h_scale": 5.0,
            "w_scale": 5.0,
        } | changes
        net = fb.Net()
        dtype = fb.UINT8 if name == "uint8" else fb.FLOAT32
        quants = [(0.02, 128), (1 / 256, 0), (1 / 128, 0)] if name == "uint8" else [None] * 3
        boxes = net.input((1, BOXES, 4), dtype, quants[0])
        scores = net.input((1, BOXES, CLASSES + 1), dtype, quants[1])
        places = anchors() if name != "uint8" else np.round(anchors() * 128)
        count = options["max_detections"] * options["max_classes_per_detection"]
        outputs = [net.tensor(shape) for shape in ((1, count, 4), (1, count), (1, count), (1,))]
        net.op(
            "CUSTOM",
            [boxes, scores, net.const(places, dtype, quants[2])],
            outputs,
            custom="TFLite_Detection_PostProcess",
        )
        net.operators[-1].customOptions = list(flexbuffers.Dumps(options))
        models.built(
            "TFLite_Detection_PostProcess",
            f"detection_postprocess_{name}",
            net,
            outputs,
            [(-1, 1), (0, 1)],
            str(changes),
        )

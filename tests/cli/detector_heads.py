"""Heads of detectors with one known object, for tests of the program and of Python.

A picture of 96 x 64 pixels; the object's box is 45, 12, 75, 28, its class 1 of 4, its score 0.8.
"""

import math
import random

HEIGHT, WIDTH = 64, 96
CELLS = [(x, y, stride) for stride in (8, 16, 32) for y in range(HEIGHT // stride) for x in range(WIDTH // stride)]
BOX, SCORE, CLASSES = (60, 20, 30, 16), 0.8, 4


def yolo(word, per_cell=1, transposed=False):
    """Shape and numbers; `word` is that of --show."""
    uniform = random.Random(5).uniform
    rows, objectness = [], word != "yolov8"
    for x, y, stride in [cell for cell in CELLS for _ in range(per_cell)]:
        row = [uniform(0, 1), uniform(0, 1), uniform(-1, 0), uniform(-1, 0)]
        if word != "yolox":
            row = [(x + row[0]) * stride, (y + row[1]) * stride, stride * math.exp(row[2]), stride * math.exp(row[3])]
        rows.append(row + [uniform(0, 0.2) for _ in range(CLASSES + objectness)])
    at = 40
    x, y, stride = CELLS[at // per_cell]
    rows[at][:4] = BOX if word != "yolox" else (BOX[0] / stride - x, BOX[1] / stride - y, math.log(BOX[2] / stride),
                                                math.log(BOX[3] / stride))
    rows[at][4:5 + objectness] = [1] * objectness + [0.1]
    rows[at][5 + objectness] = SCORE
    if transposed:
        rows = list(map(list, zip(*rows)))
    return [1, len(rows), len(rows[0])], [number for row in rows for number in row]


# Name, shape and numbers, the word of --show, whether it is found without that.
HEADS = [(name, *yolo(word, *layout), word, is_sure) for name, word, layout, is_sure in (
    ("v5", "yolov5", (3,), True),
    ("v5 transposed", "yolov5", (3, True), True),
    ("v8", "yolov8", (1, True), True),
    ("v8 with rows last", "yolov8", (1,), False),
    ("YOLOX", "yolox", (1,), True),
)]

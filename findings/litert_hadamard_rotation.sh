#!/usr/bin/env bash
# LiteRT's kernel of ai-edge-quantizer's aeq.hadamard_rotation: blocks go across rows, signs are ignored, a rest is copied.
#
# Guess: random_binary_vector's signs are applied, then each row is cut into blocks of hadamard_size, which are multiplied by
# H / sqrt(size); a size that is no power of two or does not divide the row is refused.
# Seen: only the last holds so: H / sqrt(size), without signs. Blocks are cut from all numbers, so one of 4 spans two rows
# of 6; what is left at the end is copied. A size of 3, or one larger than the tensor, copies everything.
. "$(dirname "$0")/lib/finding.sh"
packages ai-edge-litert==2.3.0 ai-edge-quantizer==0.10.0 numpy==2.4.6
python - <<'PY'
import ai_edge_quantizer as aeq
import numpy as np
from ai_edge_quantizer import recipe
from finding import expect, refused
from flatbuffers import flexbuffers
from tflite_model import Net, fully_connected, litert


def rotate(x, size, signs):
    builder = flexbuffers.Builder()
    with builder.Map():
        builder.Int("hadamard_size", size)
        builder.VectorFromElements("random_binary_vector", signs)
    net = Net()
    i, y = net.input(x.shape), net.tensor(x.shape)
    net.operator("aeq.hadamard_rotation", [i], [y], custom=bytes(builder.Finish()))
    return litert(net.file(y), x)[0]


row, two_rows = np.array([[1, 2, 3, 4]], np.float32), np.arange(12, dtype=np.float32).reshape(2, 6)
expect("1 2 3 4, size 4", rotate(row, 4, [1] * 4), [5, -1, -2, 0])
expect("the same, signs + - + -", rotate(row, 4, [1, -1, 1, -1]), [5, -1, -2, 0])
half = [x / 2 ** .5 for x in (3, -1, 7, -1)]
expect("size 2", rotate(row, 2, [1, 1]), half)
expect("two rows of 6, size 4", rotate(two_rows, 4, [1] * 4), [3, -1, -2, 0, 11, -1, -2, 0, 8, 9, 10, 11])
expect("size 8", rotate(row, 8, [1] * 8), row)
expect("size 3", rotate(two_rows, 3, [1] * 3), two_rows)
for inputs in (6, 5):
    quantizer = aeq.quantizer.Quantizer(bytearray(fully_connected(np.ones((2, inputs), np.float32))), recipe.dynamic_wi8c_hr_afp32())
    if inputs == 6:
        quantizer.quantize()
    else:
        refused("the recipe for 5 inputs", quantizer.quantize)
PY

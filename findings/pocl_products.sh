#!/usr/bin/env bash
# PoCL: x * y - x * y is not 0 (the compiler fuses it), but mad(x, y, z), which is there to be fused, rounds twice.
#
# Guess: mad is one rounding where the processor has FMA; a written product and sum may be fused too.
# Seen: the other way round: x * y - x * y is the product's rounding error, mad(x, y, -(x * y)) is 0. FP_CONTRACT OFF makes
# the first 0; fma is fused.
. "$(dirname "$0")/lib/finding.sh"
processor fma
installed libpocl2=3.1-3+deb12u1
packages pyopencl==2026.1.4 numpy==2.4.6
export PYOPENCL_NO_CACHE=1 POCL_CACHE_DIR=$work
python - <<'PY'
import numpy as np
import pyopencl as cl
import pyopencl.array
from finding import expect

device = next(d for p in cl.get_platforms() if "Portable" in p.name for d in p.get_devices())
queue = cl.CommandQueue(cl.Context([device]))
x, y = np.float32(3.3333333), np.float32(3.1)
error = np.float64(x) * np.float64(y) - np.float64(x * y)
print("rounding error of the product:", error)


def evaluate(expression, pragma=""):
    data = cl.array.to_device(queue, np.array([x, y], np.float32))
    text = f"{pragma}\nkernel void f(global float* d) {{ float x = d[0], y = d[1]; d[0] = {expression}; }}"
    cl.Program(queue.context, text).build().f(queue, (1,), None, data.data)
    return data.get()[0]


expect("x * y - x * y", evaluate("x * y - x * y"), error)
expect("the same with FP_CONTRACT OFF", evaluate("x * y - x * y", "#pragma OPENCL FP_CONTRACT OFF"), 0)
expect("mad(x, y, -(x * y))", evaluate("mad(x, y, -(x * y))"), 0)
expect("fma(x, y, -(x * y))", evaluate("fma(x, y, -(x * y))"), error)
PY

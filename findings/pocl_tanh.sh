#!/usr/bin/env bash
# PoCL's tanh ends at 0.99999994, for infinity too: a GELU of -1e6 is -0.03, not 0.
#
# Guess: tanh of 20 and of infinity is 1; the formula of GELU gives 0 for large negative numbers.
# Seen: 1 - 2^-24 from 9 on, with -cl-opt-disable as well; so x * (1 + tanh(...)) grows with x.
. "$(dirname "$0")/lib/finding.sh"
installed libpocl2=3.1-3+deb12u1
packages pyopencl==2026.1.4 numpy==2.4.6
export PYOPENCL_NO_CACHE=1 POCL_CACHE_DIR=$work
python - <<'PY'
import numpy as np
import pyopencl as cl
import pyopencl.array
from finding import expect

device = next(d for p in cl.get_platforms() if "Portable" in p.name for d in p.get_devices())
print(device.name, "|", device.version)
queue = cl.CommandQueue(cl.Context([device]))


def evaluate(expression, *x, options=()):
    data = cl.array.to_device(queue, np.array(x, np.float32))
    text = f"kernel void f(global float* data) {{ float x = data[get_global_id(0)]; data[get_global_id(0)] = {expression}; }}"
    cl.Program(queue.context, text).build(list(options)).f(queue, data.shape, None, data.data)
    return data.get().astype(np.float64)


for options in ([], ["-cl-opt-disable"]):
    expect(f"1 - tanh of 9, 20, inf {options}", 1 - evaluate("tanh(x)", 9, 20, np.inf, options=options), [2 ** -24] * 3)
gelu = "0.5f * x * (1.0f + tanh(0.7978846f * (x + 0.044715f * x * x * x)))"
expect("GELU of -10, -30, -1e6", evaluate(gelu, -10, -30, -1e6), [-2.98023e-7, -8.9407e-7, -.0298023])
expect("exp and its inverse: 1 - 2 / (exp(2 x) + 1) of 20, inf", evaluate("1.0f - 2.0f / (exp(2.0f * x) + 1.0f)", 20, np.inf), [1, 1])
PY

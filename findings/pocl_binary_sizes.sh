#!/usr/bin/env bash
# Asking PoCL for the size of a program's binary compiles each kernel once more, after a run as well.
#
# Guess: CL_PROGRAM_BINARY_SIZES is a number that is at hand once the program is built; reading the binary costs a copy.
# Seen: sizes take hundredths to tenths of a second per kernel, the binaries after them next to nothing.
. "$(dirname "$0")/lib/finding.sh"
installed libpocl2=3.1-3+deb12u1
packages pyopencl==2026.1.4 numpy==2.4.6
export PYOPENCL_NO_CACHE=1 POCL_CACHE_DIR=$work POCL_KERNEL_CACHE=0
python - <<'PY'
import time

import numpy as np
import pyopencl as cl
import pyopencl.array
from finding import expect

device = next(d for p in cl.get_platforms() if "Portable" in p.name for d in p.get_devices())
queue = cl.CommandQueue(cl.Context([device]))
data = cl.array.to_device(queue, np.zeros(8, np.float32))
program = cl.Program(queue.context, "".join(
    f"kernel void f{i}(global float* d) {{ d[get_global_id(0)] += exp(d[get_global_id(0)]) * {i}.0f; }}\n"
    for i in range(8))).build()


def seconds(call):
    start = time.process_time()
    call()
    return time.process_time() - start


for i in range(8):
    getattr(program, f"f{i}")(queue, data.shape, (8,), data.data)
queue.finish()
again = seconds(lambda: (program.f0(queue, data.shape, (8,), data.data), queue.finish()))
sizes = seconds(lambda: program.get_info(cl.program_info.BINARY_SIZES))
binaries = seconds(lambda: program.get_info(cl.program_info.BINARIES))
print(f"a kernel that ran before {again:.4f} s, sizes of 8 kernels {sizes:.3f} s, then sizes and binaries {binaries:.3f} s")
expect("the sizes take longer than 100 runs of a kernel", sizes > 100 * again, True)
PY

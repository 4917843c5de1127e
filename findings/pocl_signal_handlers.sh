#!/usr/bin/env bash
# Listing OpenCL's devices changes a process's handler of SIGFPE: PoCL puts its own in place of the program's.
#
# Guess: a library asks the kernel for no signal of the process; handlers that a program has set stay.
# Seen: the handler of SIGFPE lies in libpocl after clGetDeviceIDs, and is not given back.
. "$(dirname "$0")/lib/finding.sh"
installed libpocl2=3.1-3+deb12u1 ocl-icd-libopencl1=2.3.1-1
packages numpy==2.4.6
python - <<'PY'
import ctypes
import signal

from finding import expect

libc, opencl = ctypes.CDLL("libc.so.6"), ctypes.CDLL("libOpenCL.so.1")


def owner(number):
    """The library in which the handler lies."""
    action = (ctypes.c_void_p * 20)()
    libc.sigaction(number, None, action)
    for line in open("/proc/self/maps"):
        low, high = (int(end, 16) for end in line.split()[0].split("-"))
        if action[0] and low <= action[0] < high:
            return line.split()[-1].rsplit("/", 1)[-1].split(".so")[0].split("3.")[0]
    return "default"


signal.signal(signal.SIGFPE, lambda number, frame: None)
before = owner(signal.SIGFPE)
platforms, count, device = (ctypes.c_void_p * 8)(), ctypes.c_uint(), ctypes.c_void_p()
opencl.clGetPlatformIDs(8, platforms, ctypes.byref(count))
for i in range(count.value):
    opencl.clGetDeviceIDs(ctypes.c_void_p(platforms[i]), ctypes.c_ulong(0xFFFFFFFF), 1, ctypes.byref(device), None)
print("handler of SIGFPE before:", before)
expect("handler of SIGFPE after clGetDeviceIDs", owner(signal.SIGFPE), "libpocl")
PY

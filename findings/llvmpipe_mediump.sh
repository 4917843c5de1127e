#!/usr/bin/env bash
# Mesa's llvmpipe calculates `mediump` of OpenGL ES shaders in 16 bits, with infinity above 65504.
#
# Guess: as on desktops, mediump is a hint that a software driver ignores: 2049 + 1 is 2050, 70000 * 1.5 is 105000.
# Seen: 2048, infinity: float16 throughout, and numbers below 3e-8 are 0. With highp the same text gives float32.
. "$(dirname "$0")/lib/finding.sh"
installed libgl1-mesa-dri=22.3.6-1+deb12u2
packages moderngl==5.13.0 numpy==2.4.6
python - <<'PY'
import moderngl
import numpy as np
from finding import expect

context = moderngl.create_standalone_context(backend="egl", require=430)
print(context.info["GL_RENDERER"], context.info["GL_VERSION"])
TEXT = """#version 310 es
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer B { float data[]; };
PRECISION float add_one(PRECISION float v) { PRECISION float sum = v + 1.0; return sum; }
PRECISION float scale(PRECISION float v) { PRECISION float product = v * 1.5; return product; }
void main() {
  data[0] = add_one(data[0]);
  data[1] = scale(data[1]);
  data[2] = scale(data[2]);
}"""
for precision, was in [("highp", [2050, 105000, 1.5e-9]), ("mediump", [2048, np.inf, 0])]:
    buffer = context.buffer(np.array([2049, 70000, 1e-9], np.float32).tobytes())
    buffer.bind_to_storage_buffer(0)
    context.compute_shader(TEXT.replace("PRECISION", precision)).run(1)
    expect(f"{precision}: 2049 + 1, 70000 * 1.5, 1e-9 * 1.5", np.frombuffer(buffer.read(), np.float32), was)
PY

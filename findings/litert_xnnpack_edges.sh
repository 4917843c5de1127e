#!/usr/bin/env bash
# LiteRT's default kernels (XNNPACK): the root of 3e38 is 1.5 times too large, RSQRT(0) is NaN, EXP(NaN) is 0.
#
# Guess: what IEEE says at the edges, with denormals flushed at most; errors of a few units in the last place elsewhere.
# Seen: the roots come from an approximation whose last step overflows (2.598e19, 8.66e-20) or gives 0 * infinity; EXP's
# clamp drops the NaN. LiteRT's plain kernels give the right numbers: the same file has other results by default.
. "$(dirname "$0")/lib/finding.sh"
processor avx2
packages ai-edge-litert==2.3.0 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect
from tflite_model import Net, litert

for kind, options, x, right, default in [
        ("SQRT", None, [3e38, 4], [1.7320508e19, 2], [2.5981372e19, 2]),
        ("RSQRT", None, [3e38, 0, 4], [5.7735e-20, np.inf, .5], [8.66046e-20, np.nan, .5]),
        ("EXP", "Exp", [np.nan, 1], [np.nan, np.e], [0, np.e])]:
    x = np.array(x, np.float32)
    net = Net()
    i, y = net.input(x.shape), net.tensor(x.shape)
    net.operator(kind, [i], [y], options)
    expect(f"{kind}{x.tolist()}, plain", litert(net.file(y), x, kernels="plain")[0], right)
    expect(f"{kind}{x.tolist()}, default", litert(net.file(y), x)[0], default)
PY

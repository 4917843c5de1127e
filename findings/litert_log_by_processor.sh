#!/usr/bin/env bash
# LiteRT's default kernels (XNNPACK): the logarithm of NaN is NaN on a processor with AVX-512 and 88.78 on one with AVX2.
#
# Guess: what a kernel makes of NaN differs between kernel sets, not between processors that run the same one.
# Seen: XNNPACK chooses another loop for each instruction set, and the AVX2 one takes the bits of NaN for those of a huge
# number. So a network with a NaN shows it on a developer's machine and gives plausible numbers on another.
. "$(dirname "$0")/lib/finding.sh"
processor avx2
packages ai-edge-litert==2.3.0 numpy==2.4.6
python - <<'PY'
import pathlib
import re

import numpy as np
from finding import expect
from tflite_model import Net, litert

x = np.array([np.nan, np.e], np.float32)
net = Net()
i, y = net.input(x.shape), net.tensor(x.shape)
net.operator("LOG", [i], [y])
has_512 = bool(re.search(r"\bavx512f\b", pathlib.Path("/proc/cpuinfo").read_text()))
expect("LOG of NaN and e, plain", litert(net.file(y), x, kernels="plain")[0], [np.nan, 1])
expect(f"the same, default, {'AVX-512' if has_512 else 'AVX2'}", litert(net.file(y), x)[0],
       [np.nan if has_512 else 88.78173, 1])
PY

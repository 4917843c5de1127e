#!/usr/bin/env bash
# ncnn: 1/0, 1/infinity and log(0) are NaN in UnaryOp, Softplus(100) is infinity, and Mish depends on an element's place.
#
# Guess: what float32 gives: infinity for 1/0 and exp(100), -infinity for log(0), 100 for Softplus(100); all elements alike.
# Seen: reciprocals are refined from an estimate, which makes 0 * infinity. The layers Exp and Log are right where UnaryOp's
# exp and log, which pnnx writes, are not. Of five elements -20, Mish of the first four is +1.2e-6, of the last one -0.
. "$(dirname "$0")/lib/finding.sh"
processor avx512f
packages ncnn==1.0.20261020 numpy==2.4.6
python - <<'PY'
import ncnn
import numpy as np
from finding import expect

inf, nan = np.inf, np.nan


def run(layer, *x):
    kind, _, parameters = layer.partition(" ")
    with open("one.param", "w") as file:
        file.write(f"7767517\n2 2\nInput in 0 1 in\n{kind} layer 1 1 in out {parameters}\n")
    open("one.bin", "w").close()
    net = ncnn.Net()
    net.load_param("one.param")
    net.load_model("one.bin")
    extractor = net.create_extractor()
    extractor.input("in", ncnn.Mat(np.array(x, np.float32)).clone())
    return np.array(extractor.extract("out")[1])


EXP, LOG, RECIPROCAL, RSQRT = (f"UnaryOp 0={number}" for number in (7, 8, 15, 6))
expect("1 / (0, inf, 4)", run(RECIPROCAL, 0, inf, 4), [nan, nan, .25])
expect("1 / sqrt(0, inf, 4)", run(RSQRT, 0, inf, 4), [nan, nan, .5])
expect("UnaryOp log(0, NaN, 1)", run(LOG, 0, nan, 1), [nan, -87.33655, 0])
expect("Log(0, NaN, 1)", run("Log", 0, nan, 1), [-inf, nan, 0])
expect("UnaryOp exp(100, 1)", run(EXP, 100, 1), [2.40614e38, np.e])
expect("Exp(100, 1)", run("Exp", 100, 1), [inf, np.e])
expect("Softplus(10, 88, 100)", run("Softplus", 10, 88, 100), [10.0000454, 88, inf])
expect("Mish(-20) five times, right is -4.1e-8", run("Mish", *[-20] * 5), [1.1920929e-6] * 4 + [0])
PY

#!/usr/bin/env bash
# MNN makes the approximation with tanh of an exact Gelu, and Softplus and Exp stop at 87: Softplus(100) is 87.
#
# Guess: within 1e-4 of onnxruntime on ordinary numbers; Exp ends at a finite number.
# Seen: Gelu(1) is 0.84119, which is the other formula's value. Exp(88) is Exp(87), 2.7 times too small and not infinity for
# 100 either; Softplus, which is x from 20 on, is 87 from 87 on.
. "$(dirname "$0")/lib/finding.sh"
packages onnx==1.23.2 onnxruntime==1.32.0 MNN==3.6.1 numpy==2.4.6
python - <<'PY'
import numpy as np
from finding import expect, mnn, onnx_model, onnxruntime

for kind, attributes, x, right, in_mnn in [
        ("Gelu", {}, [1, -1, .5, 3], [.8413447, -.1586553, .3457312, 2.9959502], [.841192, -.158808, .345714, 2.9963627]),
        ("Gelu", {"approximate": "tanh"}, [1, -1, .5, 3], [.841192, -.158808, .345714, 2.9963627], [.841192, -.158808, .345714, 2.9963627]),
        ("Softplus", {}, [1, 50, 88, 100], [1.3132616, 50, 88, 100], [1.3132616, 50, 87, 87]),
        ("Exp", {}, [1, 50, 88, 100], [np.e, 5.1847e21, 1.65164e38, np.inf], [np.e, 5.1847e21, 6.07605e37, 6.07605e37])]:
    inputs = {"x": np.array(x, np.float32)}
    model = onnx_model((kind, "x", "y", attributes), inputs, opset=20)
    expect(f"{kind} {attributes or ''} of {x}, onnxruntime", onnxruntime(model, inputs)[0], right)
    expect("MNN", mnn(model, inputs)[0], in_mnn)
PY

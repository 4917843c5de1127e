"""What findings share: small ONNX models, the runtimes that run them, and the comparison with what was seen."""

import atexit
import os
import sys

import numpy as np

_changed = []


def expect(what, seen, was):
    """Prints `what` and what was seen now; the script fails at its end if that is not `was`, to a relative 1e-4."""
    seen = np.asarray(seen)
    print(f"{what}: {np.array2string(seen.reshape(-1), precision=5, max_line_width=90)}"
          + (f" {seen.dtype}{list(seen.shape)}" if seen.size > 1 else ""))
    was = np.asarray(was)
    same = seen.size == was.size and (
        np.array_equal(seen.reshape(-1), was.reshape(-1)) if was.dtype.kind in "US" or seen.dtype.kind in "US" else
        np.allclose(seen.reshape(-1).astype(np.float64), was.reshape(-1).astype(np.float64), 1e-4, 0, equal_nan=True))
    if not same:
        print(f"  CHANGED: it was {was.reshape(-1).tolist()}")
        _changed.append(what)


def refused(what, call):
    """As expect, for a call that raised an error."""
    try:
        call()
    except Exception as error:
        print(f"{what}: refused, {' '.join(str(error).split())[:100]}")
    else:
        print(f"{what}: runs\n  CHANGED: it was refused")
        _changed.append(what)


@atexit.register
def _end():
    if _changed:
        print(f"CHANGED: {', '.join(_changed)}", flush=True)
        os._exit(1)
    if not hasattr(sys, "last_value"):  # no exception ended the script
        print("as seen before", flush=True)


def onnx_model(nodes, inputs, constants=None, opset=21, outputs=("y",)):
    """`nodes`: (operator, inputs, outputs, attributes) each, or one of them; `inputs` and `constants`: arrays by name."""
    import onnx
    from onnx import helper
    nodes = [nodes] if isinstance(nodes[0], str) else nodes
    graph = helper.make_graph(
        [helper.make_node(kind, takes.split(",") if takes else [], gives.split(","), **attributes)
         for kind, takes, gives, attributes in nodes], "graph",
        [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
         for name, value in inputs.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    model = onnx.shape_inference.infer_shapes(model)
    if all(output.type.tensor_type.HasField("shape") for output in model.graph.output):
        onnx.checker.check_model(model, full_check=True)
    return model


def onnx_reference(model, inputs):
    from onnx.reference import ReferenceEvaluator
    return ReferenceEvaluator(model).run(None, inputs)


def onnxruntime(model, inputs, optimized=True):
    import onnxruntime as runtime
    runtime.set_default_logger_severity(4)
    options = runtime.SessionOptions()
    if not optimized:
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"]).run(None, inputs)


def openvino(model, inputs):
    import onnx
    import openvino
    onnx.save(model, "openvino.onnx")
    compiled = openvino.Core().compile_model("openvino.onnx", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled(inputs)
    return [results[output] for output in compiled.outputs]


def tract(model, inputs):
    import onnx
    import tract as package
    onnx.save(model, "tract.onnx")
    runnable = package.onnx().load("tract.onnx").into_model().into_runnable()
    return [result.to_numpy() for result in runnable.run(list(inputs.values()))]


def mnn(model, inputs):
    """By the program mnnconvert of the package, then its CPU backend; float32 only."""
    import subprocess

    import MNN.expr as expression
    import MNN.nn
    import onnx
    onnx.save(model, "mnn.onnx")
    subprocess.run([os.path.dirname(sys.executable) + "/mnnconvert", "-f", "ONNX", "--modelFile", "mnn.onnx", "--MNNModel",
                    "mnn.mnn", "--bizCode", "x"], check=True, capture_output=True)
    values = []
    for value in inputs.values():
        values.append(expression.placeholder(list(value.shape), expression.NCHW, expression.float))
        values[-1].write(value.reshape(-1).tolist())
    net = MNN.nn.load_module_from_file("mnn.mnn", list(inputs), [output.name for output in model.graph.output])
    return [expression.convert(result, expression.NCHW).read().copy() for result in net.forward(values)]

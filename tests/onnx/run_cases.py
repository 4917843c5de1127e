"""Compares the program `hearth` with onnxruntime on models of one operator each.

    run_cases.py HEARTH --device cpu            the models of cases.py
    run_cases.py HEARTH --device cpu --nodes    onnx's own node tests, whose answers come with them
    run_cases.py HEARTH --device vulkan --every 7 [--only NAME]

A model that is refused fails, but for those of REFUSED and for node tests, whose reasons are counted.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

REFUSED = {"half_pixel_symmetric": "a rounding of its offset may move the nearest element"}
# The specification divides by the size before it is rounded down, onnxruntime by the size itself.
CONTRADICTED = {f"test_resize_downsample_scales_{kind}_align_corners" for kind in ("linear", "cubic")}
# The test takes numbers of elements as those without the output's shape, onnxruntime as those in it.
CONTRADICTED |= {"test_maxunpool_export_with_output_shape"}
# Node tests that are not about running a network: their results are random, they train, or they read text or files.
OUT_OF_SCOPE = re.compile("bernoulli|randomuniform|training_|momentum|adagrad|adam|image_decoder|tfidf")
KNOWN_TYPES = {"float", "double", "float16", "uint8", "int8", "int16", "uint16", "int32", "int64", "uint32", "bool"}
LAST_OPSET = 25


def answer_of_onnxruntime(model, inputs, is_optimized=True):
    """`model`: the message, or the file's path."""
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    if not is_optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    given = model.SerializeToString() if isinstance(model, onnx.ModelProto) else str(model)
    return onnxruntime.InferenceSession(given, options, providers=["CPUExecutionProvider"]).run(None, inputs)


def cut_to_rows(outputs):
    """Of an output whose size depends on data the rows, or columns, that count; outputs after the others tell these."""
    kept = dict(outputs)
    for name in outputs:
        rows, columns = kept.pop(f"{name}_rows", None), kept.pop(f"{name}_columns", None)
        if rows is not None:
            kept[name] = kept[name][: int(rows[0])]
        if columns is not None:
            kept[name] = kept[name][:, : int(columns[0])]
    return list(kept.values())


def answer_of_hearth(program, device, model, inputs, folder):
    """The outputs, or why there are none. `model`: the message, or the file's path."""
    folder = pathlib.Path(folder)
    path = model
    if isinstance(model, onnx.ModelProto):
        path = folder / "model.onnx"
        onnx.save(model, path)
    command = [program, "run", "--device", device, "--no-cache", "--output-dir", folder / "out"]
    for k, (name, array) in enumerate(inputs.items()):
        np.save(folder / f"{k}.npy", array)
        command += ["--input", f"{name}={folder / str(k)}.npy"]
        if array.ndim:
            command += ["--shape", f"{name}={'x'.join(map(str, array.shape))}"]
    done = subprocess.run([*command, path], capture_output=True, text=True, timeout=300)
    if done.returncode < 0 or done.returncode > 100:
        raise RuntimeError(f"ended with {done.returncode}: {done.stderr[-500:]}")
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    files = sorted((folder / "out").iterdir(), key=lambda file: int(file.name.split("_")[0]))
    return cut_to_rows({file.stem.split("_", 1)[1]: np.load(file) for file in files})


def difference(got, wanted):
    """Empty if the outputs agree: integers are equal, real numbers within 1e-3 (2e-3 for float16)."""
    if len(got) != len(wanted):
        return f"{len(got)} outputs instead of {len(wanted)}"
    for k, (ours, right) in enumerate(zip(got, map(np.asarray, wanted))):
        if ours.shape != right.shape or ours.dtype != right.dtype:
            return f"output {k} is {ours.dtype}{ours.shape} instead of {right.dtype}{right.shape}"
        if right.dtype.kind in "iub":
            agrees = np.array_equal(ours, right)
        else:
            relative, absolute = (2e-3, 2e-3) if right.dtype == np.float16 else (1e-3, 1e-5)
            agrees = np.allclose(ours.astype(float), right.astype(float), relative, absolute, equal_nan=True)
        if not agrees:
            return f"output {k} is {ours.ravel()[:6]} instead of {right.ravel()[:6]}"
    return ""


def own_cases():
    import cases
    for case in cases.all_cases():
        yield case.name, case.model, case.inputs, lambda case=case: answer_of_onnxruntime(case.model, case.inputs)


def with_constants(model, inputs, first):
    """Numbers that choose shapes become constants of the file, as exporters write them: inputs from the `first` on."""
    made, kept = onnx.ModelProto.FromString(model.SerializeToString()), dict(inputs)
    for name in list(kept)[first:]:
        if kept[name].ndim < 2:
            made.graph.initializer.append(numpy_helper.from_array(kept.pop(name), name))
    left = [value for value in made.graph.input if value.name in kept]
    del made.graph.input[:]
    made.graph.input.extend(left)
    return made, kept


def node_cases():
    from onnx.backend.test.loader import load_model_tests
    for test in load_model_tests(kind="node"):
        values = [*test.model.graph.input, *test.model.graph.output]
        types = {onnx.TensorProto.DataType.Name(value.type.tensor_type.elem_type).lower()
                 for value in values if value.type.HasField("tensor_type")}
        in_scope = all(value.type.HasField("tensor_type") for value in values) and types <= KNOWN_TYPES
        opset = max((one.version for one in test.model.opset_import if one.domain == ""), default=1)
        if not in_scope or opset > LAST_OPSET or test.name in CONTRADICTED or OUT_OF_SCOPE.search(test.name):
            continue
        arrays = [[numpy_helper.to_array(one) if isinstance(one, onnx.TensorProto) else np.asarray(one) for one in side]
                  for side in test.data_sets[0]]
        inputs = dict(zip((value.name for value in test.model.graph.input), arrays[0]))
        yield test.name, test.model, inputs, lambda right=arrays[1]: right


def judge(arguments, case):
    name, model, inputs, answer = case
    with tempfile.TemporaryDirectory() as folder:
        got = answer_of_hearth(arguments.hearth, arguments.device, model, inputs, folder)
    for first in (1, 0):
        if not isinstance(got, str) or not arguments.nodes or not re.search("at run time|decides shapes", got):
            break
        with tempfile.TemporaryDirectory() as folder:
            got = answer_of_hearth(arguments.hearth, arguments.device, *with_constants(model, inputs, first), folder)
    if isinstance(got, str):
        return name, "refused", re.sub(r"^.*model\.onnx: ", "", got)
    return name, "wrong" if (text := difference(got, answer())) else "right", text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hearth")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--nodes", action="store_true")
    parser.add_argument("--every", type=int, default=1, help="only each N-th model")
    parser.add_argument("--only", default="", help="part of a name")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    chosen = [case for case in (node_cases if arguments.nodes else own_cases)() if arguments.only in case[0]]
    counts, reasons, failed = collections.Counter(), collections.Counter(), False
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, verdict, text in pool.map(lambda case: judge(arguments, case), chosen[::arguments.every]):
            counts[verdict] += 1
            is_known = arguments.nodes or any(part in name for part in REFUSED)
            if verdict == "wrong" or (verdict == "refused" and not is_known):
                print(f"{name}: {verdict}: {text}")
                failed = True
            elif verdict == "refused":
                reasons[re.sub(r"^node '[^']*' |, opset \d+|; operators of this model.*", "", text)[:110]] += 1
    for reason, count in reasons.most_common():
        print(f"{count:4} refused: {reason}")
    print(f"{arguments.device}: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 1 if failed or not counts["right"] else 0


if __name__ == "__main__":
    sys.exit(main())

"""What the tests of the plugin share: opening it, the shared models with their recorded answers, and judging results."""

import json
import os
import pathlib
import sys

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType, load_delegate

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLUGIN = os.environ["HEARTH_PLUGIN"]
SKIPPED = 77


def shared_folder():
    """The folder of models and goldens, next to the repository, as tests/testing/shared_data.cc finds it; or None."""
    folder = pathlib.Path(os.environ.get("HEARTH_SHARED", ROOT.parent / "shared"))
    return folder if folder.is_dir() else None


def open_interpreter(model, device, delegate=None, resolver=OpResolverType.AUTO, **options):
    """An interpreter with the plugin, ready for inputs. `model`: a path or the bytes. Without device: no plugin."""
    if delegate is None and device is not None:
        delegate = load_delegate(PLUGIN, {"device": device, **options})
    source = {"model_content": model} if isinstance(model, bytes) else {"model_path": str(model)}
    interpreter = Interpreter(
        **source,
        experimental_delegates=[delegate] if delegate else None,
        experimental_op_resolver_type=resolver,
        num_threads=1,
    )
    interpreter.allocate_tensors()
    return interpreter


def run(interpreter, inputs):
    for details, values in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(details["index"], values)
    interpreter.invoke()
    return [interpreter.get_tensor(details["index"]) for details in interpreter.get_output_details()]


def read_report(path):
    return json.loads(path.read_text())


def skip_without(device):
    """Ends the process with 77 where the device cannot be used."""
    try:
        open_interpreter(ROOT / "tools" / "demo" / "shapes_f32.tflite", device)
    except RuntimeError as error:
        if "not usable" not in str(error):
            raise
        print("SKIP:", str(error).strip().splitlines()[0])
        sys.exit(SKIPPED)


class Golden:
    """A shared model with inputs and the answers to them."""

    def __init__(self, folder):
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest = manifest.get("goldens", [manifest])[0]
        self.model = folder.parents[1] / manifest["model"]
        self.name = folder.name
        self.inputs = [
            np.fromfile(folder / tensor["file"], tensor["file_dtype"]).astype(tensor["dtype"]).reshape(tensor["shape"])
            for tensor in manifest["inputs"]
        ]
        self.outputs = [
            (np.fromfile(folder / tensor["file"], tensor["dtype"]), tensor.get("peer_max_abs_diff", 0))
            for tensor in manifest["outputs"]
        ]

    def disagreements(self, results, relative=1e-4):
        """Sentences; none when the results agree within the tolerances of tests/models/golden.h."""
        found = []
        for index, ((golden, peer), result) in enumerate(zip(self.outputs, results, strict=True)):
            expected, actual = golden.astype(np.float64), result.flatten().astype(np.float64)
            if expected.size != actual.size:
                found.append(f"output {index} has {actual.size} elements instead of {expected.size}")
                continue
            distance = np.abs(expected - actual)
            if np.issubdtype(golden.dtype, np.floating):
                allowed = max(relative * max(1, np.abs(expected).max()), 3 * peer)
                agrees = bool(distance.max() <= allowed)
            else:
                within_two = np.mean(distance <= 2) >= 0.99 or distance.max() <= 2 * peer
                agrees = bool(within_two and expected[actual.argmax()] >= expected.max() - max(2, peer))
            if not agrees:
                found.append(f"output {index} is off by {distance.max()}")
        return found


def goldens(one_in=1):
    """One of so many shared models with recorded answers; all with HEARTH_WHOLE=1, as in the tests in C++."""
    folder = shared_folder()
    if folder is None:
        return []
    manifests = sorted(folder.glob("goldens/*/manifest.json"))
    return [Golden(path.parent) for path in manifests[:: 1 if os.environ.get("HEARTH_WHOLE") == "1" else one_in]]

#!/usr/bin/env python3
"""check_models.py DEVICE HEARTH JAVA...: shared models in Java, cold and warm, give the bits that the program gives.

JAVA...: the command that starts RunModels. Skipped (77) without the shared models or the device.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ONE_MODEL_IN = {"opencl": 4}  # PoCL compiles for minutes what the other devices show as well


def skip(why):
    print("SKIP:", why)
    sys.exit(77)


def models_of(device):
    folder = pathlib.Path(os.environ.get("HEARTH_SHARED", ROOT.parent / "shared"))
    models = sorted(folder.glob("models/*.tflite"))
    if not models:
        skip("the folder of shared models is not there")
    return models[:: 1 if os.environ.get("HEARTH_WHOLE") == "1" else ONE_MODEL_IN.get(device, 1)]


def results_in_java(java, device, folder, models):
    lines = subprocess.run([*java, device, folder, *models], check=True, stdout=subprocess.PIPE, text=True).stdout
    compiled = {name: (int(programs), int(spirv)) for name, programs, spirv in map(str.split, lines.splitlines())}
    outputs = {model.name: [file.read_bytes() for file in sorted((folder / model.name).glob("output*.bin"))] for model in models}
    return compiled, outputs


def results_of_the_program(hearth, device, folder, model):
    inputs = sorted((folder / model.name).glob("input*.bin"))
    with tempfile.TemporaryDirectory() as outputs:
        command = [hearth, "run", model, "--device", device, "--cache", folder / "cache", "--output-dir", outputs, "--quiet"]
        for file in inputs:
            command += ["--input", file]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        files = sorted(pathlib.Path(outputs).glob("*.npy"), key=lambda file: int(file.name.partition("_")[0]))
        return [file.read_bytes() for file in files]


def main():
    device, hearth, *java = sys.argv[1:]
    models = models_of(device)
    opened = subprocess.run([hearth, "run", ROOT / "tools/demo/shapes_f32.tflite", "--device", device, "--random-inputs", "1", "--no-cache"],
                            capture_output=True, text=True)
    if opened.returncode == 4:
        skip(opened.stderr.strip())
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        _, cold = results_in_java(java, device, folder, models)
        compiled, warm = results_in_java(java, device, folder, models)
        for model in models:
            expected = results_of_the_program(hearth, device, folder, model)
            wrong = [
                f"{start} start: output {k} differs from the program's"
                for start, outputs in (("cold", cold), ("warm", warm))
                for k, (npy, output) in enumerate(zip(expected, outputs[model.name], strict=True))
                if not npy.endswith(output) or len(npy) - len(output) > 1024
            ]
            if compiled[model.name] != (0, 0):
                wrong.append(f"the warm start compiled {compiled[model.name]}")
            print(f"{model.name}: {'; '.join(wrong) or 'the same bits'}")
            failures += len(wrong)
    sys.exit(1 if failures else 0)


main()

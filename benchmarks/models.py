#!/usr/bin/env python3
"""Whole networks, Hearth on each device beside other runtimes, interleaved: cold, warm, steady, memory.

    benchmarks/models.py --rounds 5                       # everything, about a quarter of an hour
    benchmarks/models.py --models mobilenet_v1 --subjects hearth-opencl,litert-1 --rounds 9

Every start is a process of its own. A cold start has empty folders for Hearth's cache and the drivers' caches, the warm
start after it has what the cold one left; PoCL's own kernel cache is off in both. One round goes over all models and
subjects, the order of subjects turns from round to round, and ratios are taken within a round. Peers are installed from
requirements.txt into a virtual environment below the output folder, once; without a network, or with --no-peers, only
Hearth is timed. Writes results.json, results.md and plots there.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

import summary

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "tests/scripts"))
import pypi  # noqa: E402

REQUIREMENTS = HERE / "requirements.txt"
MODELS = {
    "mobilenet_v1": "mobilenet_v1_1.0_224_f32_dequant.tflite",
    "deeplab": "deeplabv3_257_mv_gpu.tflite",
    "posenet": "posenet_mobilenet_v1_100_257x257_f32_dequant.tflite",
    "mobilenet_v2": "mobilenet_v2_1.0_224_quant.tflite",
    "face_landmark": "face_landmark.tflite",
    "demo": "shapes_f32.tflite",
}
SUBJECTS = [
    "hearth-opencl", "hearth-vulkan", "hearth-gles", "hearth-cpu",
    "litert-1", "litert-2", "ncnn-vulkan", "onnxruntime-1", "onnxruntime-2",
]  # fmt: skip
# Peers read these from networks.py, in float32 even if Hearth's file is quantized.
GENERATED = {"mobilenet_v1", "mobilenet_v2"}
DEADLINE_S = 300  # of one process


def install(folder):
    """The Python of an environment with requirements.txt, or None with the reason printed."""
    try:
        return pypi.installed(folder / "venv", REQUIREMENTS, "what is measured beside Hearth")
    except pypi.Unavailable as error:
        print("peers are left out:", error, file=sys.stderr)
        return None


def ask(command, environment):
    """The JSON object that a process prints last, or {"error": ...}."""
    try:
        done = subprocess.run([str(part) for part in command], env={**os.environ, **environment}, capture_output=True,
                              text=True, timeout=DEADLINE_S, check=False)  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"error": f"did not end within {DEADLINE_S} s"}
    begin = done.stdout.rfind("\n{\n") + 1 if done.stdout.rfind("\n{\n") >= 0 else done.stdout.find("{")
    try:
        return json.loads(done.stdout[begin:])
    except ValueError:
        return {"error": f"exit code {done.returncode}: {done.stderr.strip()[-300:]}"}


def driver_folders(folder):
    """The drivers' cache folders. PoCL's cache is off, so that a warm start depends on Hearth alone."""
    for name in ("mesa", "pocl"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return {"MESA_SHADER_CACHE_DIR": str(folder / "mesa"), "POCL_CACHE_DIR": str(folder / "pocl"),
            "POCL_KERNEL_CACHE": "0"}  # fmt: skip


class Bench:
    def __init__(self, arguments, python):
        self.arguments, self.python = arguments, python
        self.networks = arguments.output / "networks"
        if python is not None:
            code = "import sys, networks; networks.write_all(sys.argv[1])"
            subprocess.run([python, "-c", code, self.networks], check=True, cwd=HERE)

    def model_path(self, model):
        folder = ROOT / "tools" / "demo" if model == "demo" else self.arguments.models_folder
        return folder / MODELS[model]

    def command(self, model, subject, start, folder):
        """The command line of one start, or None if the subject has no such model."""
        kind, _, detail = subject.partition("-")
        if kind == "hearth":
            runs = self.arguments.runs if start == "warm" else 1
            return [self.arguments.hearth, "bench", self.model_path(model), "--device", detail, "--cache",
                    folder / "hearth", "--runs", runs, "--warmup", 5 if start == "warm" else 0, "--json", "-"]  # fmt: skip
        if self.python is None:
            return None
        runs = ["--runs", self.arguments.runs if start == "warm" else 1, "--warmup", 5 if start == "warm" else 0]
        if kind == "litert":
            return [self.python, HERE / "peers.py", "litert", self.model_path(model), "--threads", detail, *runs]
        if model not in GENERATED:
            return None
        if kind == "ncnn":
            runs[1], runs[3] = max(1, runs[1] // 3), 1
            return [self.python, HERE / "peers.py", subject, self.networks / f"{model}.param", *runs]
        return [self.python, HERE / "peers.py", kind, self.networks / f"{model}.onnx", "--threads", detail, *runs]

    def starts(self, model, subject):
        """The figures of a cold and a warm start: [(name, figures)]."""
        found = []
        with tempfile.TemporaryDirectory(prefix="hearth-bench-") as folder:
            folder = pathlib.Path(folder)
            environment = driver_folders(folder)
            for start in ("cold", "warm"):
                command = self.command(model, subject, start, folder)
                if command is not None:
                    found.append((start, ask(command, environment)))
        return found


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def machine(arguments):
    listed = ask([arguments.hearth, "devices", "--json", "-"], {})
    devices = {d["id"]: f"{d['name']}; {d['driver']}" for d in listed.get("devices", []) if d.get("usable")}
    return {"processor": processor(), "cores": os.cpu_count(), "load_at_begin": os.getloadavg()[0], "devices": devices}


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hearth", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "hearth")
    parser.add_argument("--models-folder", type=pathlib.Path, default=ROOT.parent / "shared" / "models")
    parser.add_argument("--models", default=",".join(MODELS),
                        help="of: " + ", ".join(MODELS) + "; or all: every .tflite file of the folder and the demo")  # fmt: skip
    parser.add_argument("--subjects", default=",".join(SUBJECTS), help="of: " + ", ".join(SUBJECTS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=30, help="timed inferences of a warm start")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "build" / "benchmarks")
    arguments = parser.parse_args(argv)
    if arguments.models == "all":
        known = set(MODELS.values())
        others = sorted(f for f in arguments.models_folder.glob("*.tflite") if f.name not in known)
        MODELS.update({file.stem: file.name for file in others})
        arguments.models = ",".join(MODELS)
    arguments.models, arguments.subjects = arguments.models.split(","), arguments.subjects.split(",")
    for name in arguments.models:
        if name not in MODELS:
            parser.error(f"no model is called {name}")
    for name in arguments.subjects:
        if name not in SUBJECTS:
            parser.error(f"no subject is called {name}")
    arguments.output = arguments.output.resolve()
    return arguments


def main(argv=None):
    arguments = parse(argv)
    arguments.output.mkdir(parents=True, exist_ok=True)
    bench = Bench(arguments, None if arguments.no_peers else install(arguments.output))
    result = {
        "when": time.strftime("%Y-%m-%d"),
        "machine": machine(arguments),
        "settings": {
            "cold": "Hearth's cache, MESA_SHADER_CACHE_DIR and POCL_CACHE_DIR are empty folders, POCL_KERNEL_CACHE=0",
            "warm": "the same folders as the cold start left them, POCL_KERNEL_CACHE=0",
            "runs": arguments.runs, "rounds": arguments.rounds, "precision": "fp32",
            "peers": REQUIREMENTS.read_text().split("\n")[1:-1],
        },
        "samples": [],
    }  # fmt: skip
    for turn in range(arguments.rounds):
        for model in arguments.models:
            shift = turn % len(arguments.subjects)
            for subject in arguments.subjects[shift:] + arguments.subjects[:shift]:
                for start, figures in bench.starts(model, subject):
                    result["samples"].append(
                        {"round": turn, "model": model, "subject": subject, "start": start, "figures": figures})
                    if "error" in figures:
                        print(f"{model} {subject} {start}: {figures['error']}", file=sys.stderr)
            print(f"round {turn + 1} of {arguments.rounds}: {model}", file=sys.stderr, flush=True)
        result["machine"]["load_at_end"] = os.getloadavg()[0]
        result["summary"] = summary.summarize(result["samples"])
        result["goals"] = summary.goals(result["samples"], bench.model_path("mobilenet_v1"))
        (arguments.output / "results.json").write_text(json.dumps(result, indent=1) + "\n")
    text = summary.text(result)
    (arguments.output / "results.md").write_text(text)
    print(text)
    if bench.python is not None:
        plot = [bench.python, HERE / "plots.py", arguments.output / "results.json", arguments.output]
        subprocess.run(plot, check=True)


if __name__ == "__main__":
    main()

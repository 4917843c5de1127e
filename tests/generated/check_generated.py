#!/usr/bin/env python3
"""Makes networks with TensorFlow, runs each on Hearth's devices, and compares with the LiteRT interpreter.

    check_generated.py [--sample N] [--seed S] [--only PATTERN]... [--quantizations LIST] [--devices LIST] [--keep DIR]

TensorFlow, LiteRT and Hearth run in a process each. Without --tensorflow a virtual environment is made below --keep, once;
where that fails the reason is printed and the exit code is 77. Exit code 1: a result differs, a crash, or a refusal that
expected.txt does not hold; or fewer than half of the models could be made and run by LiteRT.
"""

import argparse
import collections
import fnmatch
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import judge
import worker

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "scripts"))
import pypi  # noqa: E402

QUANTIZATIONS = ("float", "float16", "dynamic", "int8", "int16x8")
RECIPES = ("weights8", "weights4", "weights2", "blocks4", "rotated8")  # of networks that name them
DEVICES = ("cpu", "opencl", "vulkan", "gles")
SECONDS = 300  # for each request
SKIPPED = 77


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--tensorflow", default=os.environ.get("HEARTH_TENSORFLOW_PYTHON"),
                        help="a Python with the packages of requirements.txt (also $HEARTH_TENSORFLOW_PYTHON)")
    parser.add_argument("--litert", default=os.environ.get("HEARTH_LITERT_PYTHON"),
                        help="a Python with ai-edge-litert; by default that of --tensorflow")
    parser.add_argument("--package", help="folder of Hearth's Python package; by default what Python finds")
    parser.add_argument("--keep", help="folder for models, results and the environment; by default a temporary one")
    parser.add_argument("--sample", type=int, help="so many models (a network and a quantization), chosen by --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", help="pattern of names or families; may be repeated")
    parser.add_argument("--kind", choices=("network", "operator"), help="only networks, or only operator models")
    parser.add_argument("--quantizations", default=",".join(QUANTIZATIONS + RECIPES))
    parser.add_argument("--devices", default=",".join(DEVICES))
    parser.add_argument("--table", help="a file for the table of results (Markdown)")
    parser.add_argument("--list", action="store_true", help="print what would be made")
    return parser.parse_args()


def expected_lines():
    """Lines of expected.txt: name, quantization, device (each may be a pattern), reason."""
    rows = []
    for line in (HERE / "expected.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            rows.append(line.split(None, 3))
    return rows


class Check:
    """Makes, asks and compares; keeps the results."""

    def __init__(self, arguments, python, folder):
        self.folder, self.expected = folder, expected_lines()
        litert = arguments.litert or python
        package = {"PYTHONPATH": arguments.package} if arguments.package else {}
        caches = {name: str(folder / name.lower()) for name in ("HEARTH_CACHE_DIR", "POCL_CACHE_DIR")}
        for path in caches.values():
            os.makedirs(path, mode=0o700, exist_ok=True)
        self.maker = worker.Worker([python, HERE / "make_models.py"], folder / "make.log")
        self.litert = worker.Worker([litert, HERE / "run_litert.py"], folder / "litert.log")
        # A process for each device: drivers in one process have fallen over each other.
        self.hearth = {device: worker.Worker([sys.executable, HERE / "run_hearth.py"], folder / f"{device}.log",
                                             package | caches) for device in arguments.devices.split(",")}
        self.results = []

    def close(self):
        for process in (self.maker, self.litert, *self.hearth.values()):
            process.stop()

    def note(self, name, quantization, device, outcome, words=""):
        for name_pattern, quantization_pattern, device_pattern, reason in self.expected:
            if (outcome in ("refused", "differs") and fnmatch.fnmatch(name, name_pattern)
                    and fnmatch.fnmatch(quantization, quantization_pattern) and fnmatch.fnmatch(device, device_pattern)):
                outcome, words = "expected", reason
        self.results.append((name, quantization, device, outcome, words))
        if outcome not in ("ok", "not made"):
            print(f"{outcome:9} {name} {quantization} {device}: {words}", flush=True)

    def made(self, name, quantization):
        """The model and LiteRT's results on it; None where there is none."""
        base = self.folder / f"{name}.{quantization}"
        model, described = base.with_name(base.name + ".tflite"), base.with_name(base.name + ".json")
        if described.exists():
            return json.loads(described.read_text())
        description, failed = {}, "not made"
        try:
            description = self.maker.ask({"name": name, "quantization": quantization, "model": str(model)}, SECONDS)
            failed = "no answer"
            request = {"name": name, "model": str(model), "rules": description["rules"], "runs": description["runs"],
                       "file": f"{base}.litert.npz"}
            description |= self.litert.ask(request, SECONDS)
        except worker.Failed as failure:
            description["failed"], description["words"] = failed, str(failure)
        description |= {"name": name, "quantization": quantization, "model": str(model), "file": f"{base}.litert.npz"}
        described.write_text(json.dumps(description))
        return description

    def check(self, name, quantization):
        description = self.made(name, quantization)
        if "failed" in description:
            self.note(name, quantization, "-", description["failed"], description["words"])
            return
        exact = None if quantization in ("float", "float16") else self.made(name, "float")
        for device in self.hearth:
            file = self.folder / f"{name}.{quantization}.{device}.npz"
            request = {"model": description["model"], "device": device, "runs": description["runs"],
                       "inputs": description["file"], "file": str(file)}
            try:
                report = self.hearth[device].ask(request, SECONDS)
            except worker.Failed as failure:
                self.note(name, quantization, device, "refused" if failure.kind == "error" else failure.kind, str(failure))
                continue
            words = judge.difference(description, str(file), exact)
            self.note(name, quantization, device, "differs" if words else "ok", words or f"{report['on_cpu']} on the CPU")
            file.unlink()


def write_table(results, path):
    by_model = collections.defaultdict(dict)
    devices = sorted({result[2] for result in results} - {"-"})
    for name, quantization, device, outcome, words in results:
        by_model[name, quantization][device] = (outcome, words)
    with open(path, "w") as file:
        print("| network | quantization |", " | ".join(devices), "|", file=file)
        print("|---|---|" + "---|" * len(devices), file=file)
        for (name, quantization), found in by_model.items():
            cells = [found.get(device, found.get("-", ("", ""))) for device in devices]
            texts = [outcome if outcome == "ok" else f"{outcome}: {words[:120]}".replace("|", "/") for outcome, words in cells]
            print(f"| {name} | {quantization} |", " | ".join(texts), "|", file=file)


def summary(results):
    for device in sorted({result[2] for result in results}):
        counts = collections.Counter(result[3] for result in results if result[2] == device)
        print(f"{device:8}", ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common()))


def chosen_models(arguments, python):
    """Names and quantizations, in an order that keeps the quantizations of a network together."""
    listed = subprocess.run([python, HERE / "make_models.py", "--list"], capture_output=True, text=True, check=True)
    entries = json.loads(listed.stdout.strip().splitlines()[-1])
    patterns = arguments.only or ["*"]
    entries = [entry for entry in entries if arguments.kind in (None, entry["kind"])
               and any(fnmatch.fnmatch(entry["name"], pattern) or entry["family"] == pattern for pattern in patterns)]
    models = [(entry["name"], quantization) for entry in entries for quantization in arguments.quantizations.split(",")
              if quantization in entry.get("quantizations", QUANTIZATIONS)]
    if arguments.sample is not None and arguments.sample < len(models):
        kept = set(random.Random(arguments.seed).sample(range(len(models)), arguments.sample))
        models = [model for position, model in enumerate(models) if position in kept]
    return models


def main():
    arguments = parse_arguments()
    temporary = None if arguments.keep else tempfile.TemporaryDirectory(prefix="hearth-generated-")
    folder = pathlib.Path(arguments.keep or temporary.name)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        python = arguments.tensorflow or pypi.installed(folder / "venv", HERE / "requirements.txt", "TensorFlow")
    except pypi.Unavailable as reason:
        print("SKIP:", reason)
        return SKIPPED
    models = chosen_models(arguments, python)
    if arguments.list:
        print("\n".join(f"{name} {quantization}" for name, quantization in models))
        return 0
    check = Check(arguments, python, folder)
    try:
        for name, quantization in models:
            check.check(name, quantization)
    finally:
        check.close()
    if arguments.table:
        write_table(check.results, arguments.table)
    summary(check.results)
    compared = {result[:2] for result in check.results if result[3] in ("ok", "expected")}
    if 2 * len(compared) < len(models):
        print(f"only {len(compared)} of {len(models)} models could be compared")
        return 1
    return 1 if any(result[3] in ("differs", "refused", "crash", "hang") for result in check.results) else 0


if __name__ == "__main__":
    sys.exit(main())

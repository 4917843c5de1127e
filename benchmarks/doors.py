#!/usr/bin/env python3
"""Times of a run through each door: the program, Java, LiteRT's CompiledModel.

    benchmarks/doors.py MODEL... --device opencl

Rounds are interleaved, and every figure is the least of its rounds: what a door adds is small beside what a busy machine
does. LiteRT is that of the tests' virtual environment (tests/oracle); without it, or without Java, a door is left out.
`second start` is the time from the first call to the first result with a warm cache.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]


def compiled_model(build, model, runs, with_cpu):
    """In LiteRT's Python."""
    import numpy as np
    from ai_edge_litert.compiled_model import CompiledModel
    from ai_edge_litert.environment import Environment
    from ai_edge_litert.hardware_accelerator import HardwareAccelerator

    begin = time.perf_counter()
    environment = Environment.create(runtime_path=str(build / "lib"))
    accelerators = HardwareAccelerator.GPU | HardwareAccelerator.CPU if with_cpu else HardwareAccelerator.GPU
    opened = CompiledModel.from_file(str(model), hardware_accel=accelerators, environment=environment)
    signature = opened.get_signature_by_index(0)["key"]
    opened.get_output_tensor_details(signature)  # before buffers are made: tests/accelerator/compiled.py says why
    inputs, outputs = opened.create_input_buffers(0), opened.create_output_buffers(0)
    for buffer, details in zip(inputs, opened.get_input_tensor_details(signature).values()):
        buffer.write(np.zeros(details["shape"], details["dtype"]))
    opened.run_by_index(0, inputs, outputs)
    start = time.perf_counter() - begin
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        opened.run_by_index(0, inputs, outputs)
        times.append(time.perf_counter() - begin)
    print(json.dumps({"min": 1e3 * min(times), "median": 1e3 * sorted(times)[runs // 2], "start": 1e3 * start}))


def figures(name, command, environment):
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    if name != "program":
        return found
    found = found[0] if isinstance(found, list) else found
    times = found["run_ms"]
    return {"min": times["min"], "median": times["median"], "start": found["ready_ms"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--python", type=pathlib.Path, help="one with ai-edge-litert")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--with-cpu", action="store_true", help="GPU | CPU in LiteRT, instead of the GPU alone")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        return compiled_model(arguments.build, arguments.models[0], arguments.runs, arguments.with_cpu)
    build = arguments.build.resolve()
    python = arguments.python or build / "tests/oracle/answers/venv/bin/python"
    with tempfile.TemporaryDirectory(prefix="hearth-doors-") as cache:
        environment = dict(os.environ, HEARTH_CACHE_DIR=cache, HEARTH_DEVICE=arguments.device)
        print("| model | door | least, ms | median, ms | beside the program | second start, ms |\n|---|---|---|---|---|---|")
        for model in arguments.models:
            runs = str(arguments.runs)
            doors = {"program": [build / "bin/hearth", "bench", model, "--device", arguments.device, "--runs", runs, "--json", "-"]}
            if shutil.which("java") and (build / "lib/hearth.jar").exists():
                doors["java"] = ["java", "-cp", build / "lib/hearth.jar", pathlib.Path(__file__).with_name("DoorRuns.java"), model, arguments.device, runs]
            if python.exists():
                doors["litert"] = [python, __file__, model, "--inside", "--build", build, "--runs", runs, *(["--with-cpu"] if arguments.with_cpu else [])]
            for command in doors.values():
                subprocess.run(command, env=environment, capture_output=True, check=True)
            rounds = [{name: figures(name, command, environment) for name, command in doors.items()} for _ in range(arguments.rounds)]
            best = {name: {key: min(found[name][key] for found in rounds) for key in rounds[0][name]} for name in doors}
            for name, found in best.items():
                ratio, more = found["min"] / best["program"]["min"], 1e3 * (found["min"] - best["program"]["min"])
                start = f"{found['start']:.1f}" if "start" in found else ""
                print(f"| {model.stem} | {name} | {found['min']:.3f} | {found['median']:.3f} | {ratio:.3f}, {more:+.1f} us | {start} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Hot starts beside ready ones: the first answer, when the session moves, and the CPU's runs until then.

    benchmarks/hot_starts.py --rounds 3                              # every shared model
    benchmarks/hot_starts.py --models mobilenet_v1 --devices vulkan --rounds 5

Every start is a process of its own with empty cache folders, Hearth's and the drivers'. One round starts a model on the
CPU and then ready and hot on each device; ratios are taken within a round, and the table has their medians. In hot
starts the session moves as soon as the device is ready (HEARTH_HOT_MOVE). "answer" is the hot start's ready_ms
divided by the CPU's, "move" is settled_ms divided by the ready start's ready_ms, "p99" is that of the CPU's runs before
the move divided by their median. Exit code 1 where a median is above its limit.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile

import models

DEVICES = ["opencl", "vulkan", "gles"]
ANSWER_LIMIT, ANSWER_ROOM_MS, MOVE_LIMIT, P99_LIMIT = 1.2, 10, 1.5, 3


def start(arguments, path, device, *more):
    """The report of one start with nothing in any cache."""
    with tempfile.TemporaryDirectory(prefix="hearth-hot-") as folder:
        folder = pathlib.Path(folder)
        environment = {**models.driver_folders(folder), "HEARTH_HOT_MOVE": "ready"}
        command = [arguments.hearth, "bench", path, "--device", device, "--cache", folder / "hearth", "--runs", 1,
                   "--warmup", 0, "--json", "-", *more]  # fmt: skip
        return models.ask(command, environment)


def one_round(arguments, path):
    """{device: figures} of one model; a start that failed is told and left out."""
    cpu = start(arguments, path, "cpu")
    found = {}
    for device in arguments.devices:
        ready, hot = start(arguments, path, device), start(arguments, path, device, "--start", "hot")
        failed = [figures["error"] for figures in (cpu, ready, hot) if "error" in figures]
        if failed or hot["start"]["moved_at_run"] is None:
            print(f"{path.stem} {device}: {failed or hot['start']['reason']}", file=sys.stderr)
            continue
        runs = hot["start"]["cpu_runs"]
        found[device] = {"answer": hot["ready_ms"] / cpu["ready_ms"], "cpu_ms": cpu["ready_ms"],
                         "over_ms": hot["ready_ms"] - ANSWER_LIMIT * cpu["ready_ms"],
                         "move": hot["start"]["settled_ms"] / ready["ready_ms"], "ready_ms": ready["ready_ms"],
                         "p99": runs["p99"] / runs["median"], "runs": runs["runs"]}  # fmt: skip
    return found


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hearth", type=pathlib.Path, default=models.ROOT / "build" / "release" / "bin" / "hearth")
    parser.add_argument("--models-folder", type=pathlib.Path, default=models.ROOT.parent / "shared" / "models")
    parser.add_argument("--models", default="", help="parts of file names, with commas; without it every .tflite file")
    parser.add_argument("--devices", default=",".join(DEVICES))
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args(argv)
    arguments.devices = arguments.devices.split(",")
    return arguments


def main(argv=None):
    arguments = parse(argv)
    files = sorted(arguments.models_folder.glob("*.tflite"))
    files = [file for file in files if any(part in file.name for part in arguments.models.split(","))]
    samples = {(file.stem, device): [] for file in files for device in arguments.devices}
    for turn in range(arguments.rounds):
        for file in files:
            for device, figures in one_round(arguments, file).items():
                samples[file.stem, device].append(figures)
        print(f"round {turn + 1} of {arguments.rounds}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)
    is_over = False
    print("| model | device | CPU's ready_ms | answer | ready_ms | move | runs | p99 |")
    print("|---|---|---|---|---|---|---|---|")
    for (model, device), rounds in samples.items():
        if not rounds:
            continue
        m = {key: statistics.median(figures[key] for figures in rounds) for key in rounds[0]}
        over = [m["over_ms"] > ANSWER_ROOM_MS, m["move"] > MOVE_LIMIT, m["p99"] > P99_LIMIT]
        is_over = is_over or any(over)
        marks = ["*" if one else "" for one in over]
        print(f"| {model} | {device} | {m['cpu_ms']:.1f} | {m['answer']:.2f}{marks[0]} | {m['ready_ms']:.0f} | "
              f"{m['move']:.2f}{marks[1]} | {m['runs']:.0f} | {m['p99']:.2f}{marks[2]} |")  # fmt: skip
    return int(is_over)


if __name__ == "__main__":
    sys.exit(main())

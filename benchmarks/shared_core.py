#!/usr/bin/env python3
"""Compares two threads on one core with one thread, for Hearth's CPU device and LiteRT.

    benchmarks/shared_core.py                              # MobileNet v1 0.25, DeepLab
    benchmarks/shared_core.py --models posenet --rounds 9

Everything runs on the first core that this process may use. Rounds are interleaved, and ratios are taken within a round.
Exit code 1 if Hearth's two threads take more than 1.3 times as long as one, by the median over rounds. LiteRT is
installed as for models.py; without it only Hearth is timed.
"""

import argparse
import os
import pathlib
import statistics
import sys
import tempfile

import models

LIMIT = 1.3
MODELS = {"mobilenet_v1_0.25": "mobilenet_v1_0.25_224_f32.tflite", **models.MODELS}


def median_ms(command):
    figures = models.ask(command, {})
    if "error" in figures:
        print(*command, figures["error"], file=sys.stderr)
        return None
    return figures["run_ms"]["median"] if "run_ms" in figures else figures["steady_ms"]


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hearth", type=pathlib.Path, default=models.ROOT / "build" / "release" / "bin" / "hearth")
    parser.add_argument("--models-folder", type=pathlib.Path, default=models.ROOT.parent / "shared" / "models")
    parser.add_argument("--models", default="mobilenet_v1_0.25,deeplab", help="of: " + ", ".join(MODELS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--output", type=pathlib.Path, default=models.ROOT / "build" / "benchmarks")
    return parser.parse_args(argv)


def main(argv=None):
    arguments = parse(argv)
    arguments.output.mkdir(parents=True, exist_ok=True)
    python = None if arguments.no_peers else models.install(arguments.output.resolve())
    core = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    is_slow = False
    print(f"medians of {arguments.rounds} rounds of {arguments.runs} runs on core {core}, ms")
    print("| model | subject | 1 thread | 2 threads | ratio |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="hearth-bench-") as cache:
        for model in arguments.models.split(","):
            path = arguments.models_folder / MODELS[model]
            runs = ["--runs", arguments.runs, "--warmup", 5]
            subjects = {"hearth": [arguments.hearth, "bench", path, "--device", "cpu", "--cache", cache, "--json", "-"]}
            if python is not None:
                subjects["litert"] = [python, models.HERE / "peers.py", "litert", path]
            times = {subject: [] for subject in subjects}
            for _ in range(arguments.rounds):
                for subject, command in subjects.items():
                    pair = [median_ms([*command, *runs, "--threads", threads]) for threads in (1, 2)]
                    if None not in pair:
                        times[subject].append(pair)
            for subject, pairs in times.items():
                if not pairs:
                    continue
                one, two = (statistics.median(column) for column in zip(*pairs))
                ratio = statistics.median(b / a for a, b in pairs)
                is_slow = is_slow or (subject == "hearth" and ratio > LIMIT)
                print(f"| {model} | {subject} | {one:.2f} | {two:.2f} | {ratio:.2f} |", flush=True)
    return 1 if is_slow else 0


if __name__ == "__main__":
    sys.exit(main())

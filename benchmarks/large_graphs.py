#!/usr/bin/env python3
"""Networks of many nodes: dispatches, steady times, and the time of passes and lowering per node.

    benchmarks/large_graphs.py                                  # the build in build/release
    benchmarks/large_graphs.py --against OTHER/bin/hearth       # interleaved with another build
    benchmarks/large_graphs.py --write FOLDER                   # only the models

Models are written with random weights by flatbuffers and the schema that ai-edge-litert brings, which is installed as for
models.py. A row has the nodes of the file, dispatches, and the median over rounds of each run's median. Exit code 1 if
a network of 1,000 nodes takes more than twice as long per node, from reading to lowering, as one of 100.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import models

LIMIT = 2.0
PHASES = ("read_model", "rewrite", "lower")


def bench(hearth, model, device, runs, cache):
    """The report of one process, or None if it failed."""
    command = [hearth, "bench", model, "--device", device, "--random-inputs", "1", "--runs", str(runs), "--warmup", "3",
               "--json", "-", "--quiet", *(["--cache", cache] if cache else ["--no-cache"])]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stderr.strip(), file=sys.stderr)
        return None
    return json.loads(done.stdout)


def write_models(python, folder):
    text = ("import pathlib, sys; sys.path.insert(0, sys.argv[1]); import transformer_networks as t\n"
            "for name, make in {**t.NETWORKS, **t.LADDER}.items():\n"
            "  pathlib.Path(sys.argv[2], name + '.tflite').write_bytes(make())\n"
            "print(','.join(t.NETWORKS), ','.join(t.LADDER))\n")
    done = subprocess.run([python, "-c", text, str(models.HERE), str(folder)], check=True, capture_output=True, text=True)
    return [names.split(",") for names in done.stdout.split()]


def steady(arguments, folder, names, subjects):
    print("| network | nodes | device |" + "".join(f" dispatches, ms {name} |" for name in subjects))
    print("|---|---|---|" + "---|" * len(subjects))
    with tempfile.TemporaryDirectory(prefix="hearth-bench-") as cache:
        for name in names:
            for device in arguments.devices.split(","):
                reports = {subject: [] for subject in subjects}
                for _ in range(arguments.rounds):
                    for subject, hearth in subjects.items():
                        reports[subject].append(bench(hearth, folder / f"{name}.tflite", device, arguments.runs,
                                                      pathlib.Path(cache) / subject))
                row, nodes = "", "?"
                for runs in reports.values():
                    good = [run for run in runs if run]
                    if good:
                        nodes = good[0]["ops"]["total"]
                        times = statistics.median(run["run_ms"]["median"] for run in good)
                        row += f" {good[0]['programs']['dispatches']}, {times:.2f} |"
                    else:
                        row += " failed |"
                print(f"| {name} | {nodes} | {device} |{row}", flush=True)


def ladder(arguments, folder, names, subjects):
    """Microseconds per node from reading to lowering, the least of the rounds."""
    print("\n| network | device |" + "".join(f" us a node {name} |" for name in subjects))
    print("|---|---|" + "---|" * len(subjects))
    per_node = {}
    for device in arguments.devices.split(","):
        for name in names:
            least, nodes = dict.fromkeys(subjects, float("inf")), 1
            for _ in range(arguments.rounds):
                for subject, hearth in subjects.items():
                    report = bench(hearth, folder / f"{name}.tflite", device, 1, None)
                    if report:
                        nodes = report["ops"]["total"]
                        total = sum(report["init_ms"][phase] for phase in PHASES)
                        least[subject] = min(least[subject], total * 1000 / nodes)
            per_node.setdefault((name.rsplit("_", 1)[0], device), []).append(next(iter(least.values())))
            print(f"| {name} | {device} |" + "".join(f" {us:.1f} |" for us in least.values()), flush=True)
    return all(times[-1] <= LIMIT * times[0] for times in per_node.values())


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hearth", type=pathlib.Path, default=models.ROOT / "build" / "release" / "bin" / "hearth")
    parser.add_argument("--against", type=pathlib.Path)
    parser.add_argument("--networks", help="some of them, comma between")
    parser.add_argument("--devices", default="opencl,vulkan,gles")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--no-ladder", action="store_true")
    parser.add_argument("--python", type=pathlib.Path, help="has ai-edge-litert and numpy")
    parser.add_argument("--output", type=pathlib.Path, default=models.ROOT / "build" / "benchmarks")
    return parser.parse_args(argv)


def main(argv=None):
    arguments = parse(argv)
    arguments.output.mkdir(parents=True, exist_ok=True)
    folder = arguments.write or arguments.output / "large_graphs"
    folder.mkdir(parents=True, exist_ok=True)
    networks, steps = write_models(arguments.python or models.install(arguments.output.resolve()), folder)
    if arguments.write:
        return 0
    subjects = {"now": arguments.hearth}
    if arguments.against:
        subjects["against"] = arguments.against
    steady(arguments, folder, arguments.networks.split(",") if arguments.networks else networks, subjects)
    return 0 if arguments.no_ladder or ladder(arguments, folder, steps, subjects) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs one fuzzer from fresh seeds for some time and tells how many inputs it tried.

usage: run_fuzzer.py SUBJECT --programs FOLDER [--seconds S] [--findings FOLDER] [--corpus FOLDER] [--seed N]

Exit code 0: nothing was found. 1: an input on which the program crashed, leaked or hung; its file is named and kept in
the folder of findings. `PROGRAMS/hearth_<SUBJECT>_fuzzer FILE` runs that input alone.
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import zipfile

MODELS = pathlib.Path(__file__).resolve().parent.parent / "oracle" / "models.zip"
MODELS_AT_ONCE = 80  # reading all of them would leave a run of 20 seconds little time for new inputs
SEEDS = {"cpu": "model"}  # folders of seeds that are not called as the subject


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("subject")
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--findings", type=pathlib.Path, default=pathlib.Path("findings"))
    parser.add_argument("--corpus", type=pathlib.Path, help="a folder that grows from run to run")
    parser.add_argument("--seed", type=int, default=random.randrange(1, 2**31))
    return parser.parse_args()


def make_seeds(programs, subject, folder, seed):
    subprocess.run([programs / "hearth_fuzz_seeds", folder], check=True)
    seeds = folder / SEEDS.get(subject, subject)
    if seeds.name == "model":
        with zipfile.ZipFile(MODELS) as archive:
            names = sorted(archive.namelist())
            archive.extractall(seeds, random.Random(seed).sample(names, min(MODELS_AT_ONCE, len(names))))
    return seeds


def main():
    arguments = parse_arguments()
    arguments.findings.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        seeds = make_seeds(arguments.programs, arguments.subject, scratch / "seeds", arguments.seed)
        corpus = arguments.corpus or scratch / "corpus"
        corpus.mkdir(parents=True, exist_ok=True)
        program = arguments.programs / f"hearth_{arguments.subject}_fuzzer"
        ended = subprocess.run(
            [program, f"-max_total_time={arguments.seconds}", f"-seed={arguments.seed}", "-timeout=120",
             "-rss_limit_mb=4096", "-print_final_stats=1", "-verbosity=1",
             f"-artifact_prefix={arguments.findings.resolve()}/{arguments.subject}-", corpus, seeds],
            stderr=subprocess.PIPE, text=True, errors="replace")
    tried = re.search(r"number_of_executed_units: *(\d+)", ended.stderr)
    ways = re.findall(r"cov: (\d+)", ended.stderr)
    print(f"{arguments.subject}: {tried[1] if tried else '?'} inputs in {arguments.seconds} s with seed {arguments.seed}, "
          f"{ways[-1] if ways else '?'} edges of the code reached")
    if ended.returncode == 0:
        return 0
    print(ended.stderr[-20000:], file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

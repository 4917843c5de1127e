"""Compares the program `hearth` with onnxruntime on whole models.

    run_models.py HEARTH FOLDER --device cpu            NAME.onnx with the answers of NAME.json and NAME.npz
    run_models.py HEARTH FOLDER --device cpu --form qdq  what onnxruntime.quantization makes of them (or: dynamic)
    run_models.py HEARTH FOLDER --device cpu --only NAME

NAME.json has `runs`: `inputs`, the names, and `peer_max_abs_diff`, onnxruntime's distance to itself without
optimizations, by output; NAME.npz has the arrays inRUN_INPUT and outRUN_OUTPUT. A number is right that differs by at
most 1e-3 of itself, or by 3 times that distance. Prints each output's largest distance.

Where a quantized model rounds between two integers, the last bit of a real number decides, and one step of 255 goes on
from there. The distance of onnxruntime to itself is then that to four copies of the model whose real constants, and
inputs, are each changed by up to a millionth.
"""

import argparse
import json
import logging
import pathlib
import sys
import tempfile
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

from run_cases import answer_of_hearth, answer_of_onnxruntime


class Runs:
    """Calibration data: the inputs of all runs."""

    def __init__(self, runs):
        self.left = list(runs)

    def get_next(self):
        return self.left.pop(0) if self.left else None


def quantized(path, form, runs, folder):
    from onnxruntime import quantization
    made = pathlib.Path(folder) / f"{path.stem}_{form}.onnx"
    if form == "dynamic":
        quantization.quantize_dynamic(path, made, weight_type=quantization.QuantType.QInt8)
    else:
        quantization.quantize_static(path, made, Runs(runs), quant_format=quantization.QuantFormat.QDQ,
                                     per_channel=form == "qdq_channels")
    return made


# Rows of equal numbers are divided by their deviation, which is rounding alone.
NOISE = {"asr_nemo80_dynamic"}


def shaken(array, seed):
    if array.dtype != np.float32:
        return array
    return (array * (1 + 1e-6 * np.random.default_rng(seed).uniform(-1, 1, array.shape))).astype(np.float32)


def shaken_answer(path, inputs, seed):
    model = onnx.load(path)
    for constant in model.graph.initializer:  # those of nodes may become sizes
        moved = shaken(numpy_helper.to_array(constant), seed)
        constant.CopyFrom(numpy_helper.from_array(moved, constant.name))
    return answer_of_onnxruntime(model, {name: shaken(array, seed) for name, array in inputs.items()})


def distance(ours, theirs):
    """By element; 0 where both are NaN."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    return np.where((ours == theirs) | (np.isnan(ours) & np.isnan(theirs)), 0.0, np.abs(ours - theirs))


def verdict(got, wanted, peers, share=0.0):
    """Whether all outputs are right, but for a share of their numbers, and the largest distance of each."""
    if isinstance(got, str):
        return False, got
    if [(one.shape, one.dtype) for one in got] != [(one.shape, one.dtype) for one in wanted]:
        return False, f"outputs of shape {[one.shape for one in got]} instead of {[one.shape for one in wanted]}"
    right, texts = True, []
    for ours, theirs, peer in zip(got, wanted, peers):
        apart, size = distance(ours, theirs), np.nan_to_num(np.abs(theirs.astype(float)))
        allowed = 0
        if theirs.dtype.kind not in "iub":
            allowed = np.maximum(1e-3 * size, 3 * peer) + 1e-5 * size.max(initial=0)
        right = right and bool((apart > allowed).sum() <= share * apart.size)
        texts.append(f"{apart.max(initial=0):.1e} (of {size.max(initial=0):.2g}, peer {peer:.1e})")
    return right, "; ".join(texts)


def judge(arguments, path):
    """(name, whether it is right, what is to be said) by run; None: onnxruntime makes no such form of this model."""
    facts, arrays = json.loads(path.with_suffix(".json").read_text()), np.load(path.with_suffix(".npz"))
    runs = [{name: arrays[f"in{k}_{i}"] for i, name in enumerate(run["inputs"])}
            for k, run in enumerate(facts["runs"])]
    with tempfile.TemporaryDirectory() as folder:
        try:
            model = path if arguments.form == "file" else quantized(path, arguments.form, runs, folder)
            if model != path:
                answer_of_onnxruntime(model, runs[0])
        except Exception as reason:  # whatever it raises
            yield path.stem, None, str(reason).splitlines()[0][:150]
            return
        for k, (run, inputs) in enumerate(zip(facts["runs"], runs)):
            if arguments.form == "file":
                wanted = [arrays[f"out{k}_{i}"] for i in range(len(run["outputs"]))]
                peers = run["peer_max_abs_diff"]
            else:
                wanted = answer_of_onnxruntime(model, inputs)
                others = [answer_of_onnxruntime(model, inputs, is_optimized=False),
                          *(shaken_answer(model, inputs, seed) for seed in range(4))]
                peers = [max(distance(one, other[i]).max(initial=0) for other in others)
                         for i, one in enumerate(wanted)]
            with tempfile.TemporaryDirectory() as out:
                got = answer_of_hearth(arguments.hearth, arguments.device, model, inputs, out)
            # One element that is rounded the other way reaches some pixels of the outputs.
            share = 0.0 if arguments.form == "file" else 1.0 if model.stem in NOISE else 0.02
            right, text = verdict(got, wanted, peers, share)
            if not right and arguments.form == "file":
                # Without VNNI onnxruntime's sums of 8-bit products saturate: stored answers may differ from its own here.
                right, here = verdict(got, answer_of_onnxruntime(model, inputs), peers)
                text = f"by onnxruntime on this machine: {here}; by the stored answers: {text}"
            yield f"{model.stem} run {k}", right, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hearth")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--form", default="file", choices=["file", "qdq", "qdq_channels", "dynamic"])
    parser.add_argument("--only", default="", help="part of a name")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    counts, words = {True: 0, False: 0, None: 0}, {True: "right", False: "WRONG", None: "not made"}
    for path in sorted(arguments.folder.glob("*.onnx")):
        if arguments.only not in path.stem or not path.with_suffix(".npz").exists():
            continue
        for name, right, text in judge(arguments, path):
            counts[right] += 1
            print(f"{words[right]}  {name}: {text}", flush=True)
    print(f"{arguments.device}, {arguments.form}: {counts[True]} right, {counts[False]} wrong or refused, "
          f"{counts[None]} not made")
    return 1 if counts[False] or not counts[True] else 0


if __name__ == "__main__":
    sys.exit(main())

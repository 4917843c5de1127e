#!/usr/bin/env python3
"""Every operator in every form of tests/oracle/models.zip, run by Hearth's CPU device inside the interpreter: the attributes,
constants and states that the plugin reads from the interpreter's structures are those of the file."""

import json
import os
import pathlib
import sys
import tempfile

import numpy as np
import plugin
from plugin import OpResolverType

sys.path.insert(0, str(plugin.ROOT / "tests" / "oracle"))
import model_archive  # noqa: E402

ANSWERS = pathlib.Path(os.environ["HEARTH_ORACLE_ANSWERS"])


def allowed_distance(model, answer, expected):
    """As tests/oracle/answers.h says."""
    kind = model["tolerance"]
    if np.dtype(answer["dtype"]).kind != "f":
        return {"moved": 1, "quantized": model.get("steps", 2) + answer["peer_distance"]}.get(kind, 0)
    if kind in ("exact", "moved"):
        return 0
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=1)
    return 1e-4 * largest + model.get("hybrid_error", 0)


def disagreement(model, answer, expected, actual):
    if expected.dtype.itemsize == 8 and model["tolerance"] == "exact":
        return "" if np.array_equal(expected, actual, equal_nan=expected.dtype.kind == "f") else "other numbers of 64 bits"
    expected, actual = expected.flatten().astype(np.float64), actual.flatten().astype(np.float64)
    with np.errstate(invalid="ignore"):
        distance = np.abs(expected - actual)
    distance[(expected == actual) | (np.isnan(expected) & np.isnan(actual))] = 0
    allowed = allowed_distance(model, answer, expected)
    return "" if np.all(distance <= allowed) else f"off by {distance.max()}, allowed {allowed}"


def part(content, place, dtype, shape):
    return np.frombuffer(content[place["offset"] : place["offset"] + place["size"]], dtype).reshape(shape)


def check(model, file, content, log):
    """Sentences about what is wrong."""
    interpreter = plugin.open_interpreter(
        file, "cpu", resolver=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES, log=log
    )
    inputs = [
        part(content, place, details["dtype"], details["shape"])
        for details, place in zip(interpreter.get_input_details(), model["inputs"], strict=True)
    ]
    for _ in range(model["runs"]):
        results = plugin.run(interpreter, inputs)
    # Complex tensors, sizes that depend on data, streams of random numbers, loops, branches and most operators of
    # StableHLO are left to the interpreter.
    is_left = model["family"] in ("spectra", "host", "stablehlo", "control")
    wrong = [log.read_text().strip()] if log.exists() and not is_left else []
    for answer, actual in zip(model["outputs"], results, strict=True):
        expected = part(content, answer, answer["dtype"], answer["shape"])
        if sentence := disagreement(model, answer, expected, actual):
            wrong.append(sentence)
    return wrong


def main():
    content = (ANSWERS / "expected.bin").read_bytes()
    models = json.loads((ANSWERS / "expected.json").read_text())["models"]
    files = model_archive.Archive()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for index, model in enumerate(models):
            for sentence in check(model, files[model["file"]], content, pathlib.Path(folder) / f"{index}.txt"):
                print(f"{model['file']}: {sentence}")
                failures += 1
    print(f"{len(models)} models, {failures} failures")
    return 0 if models and not failures else 1


if __name__ == "__main__":
    sys.exit(main())

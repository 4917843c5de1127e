#!/usr/bin/env python3
"""Worker: runs a model with Hearth's Python package on one device, on the inputs that LiteRT had.

Request: model, device, runs, inputs (a file of run_litert.py), file (where outputs go).
"""

import hearth
import numpy as np

import worker


def cut_to_rows(outputs, results):
    """Of an output whose size depends on data the rows that count, which another output tells."""
    named = {output.name: result for output, result in zip(outputs, results)}
    counts = [named.get(f"{output.name}_rows") for output in outputs]
    return [result if count is None else result[: int(count[0])] for result, count in zip(results, counts)]


def answer(request):
    given = np.load(request["inputs"])
    names = [key.split("/", 2)[2] for key in given.files if key.startswith("in/0/")]
    model = hearth.Model(request["model"], shapes={name: given[f"in/0/{name}"].shape for name in names})
    arrays = {}
    with hearth.Session(model, device=request["device"]) as session:
        for run in range(request["runs"]):
            results = session.run({name: given[f"in/{run}/{name}"] for name in names})
            cut = cut_to_rows(session.outputs, results)
            arrays.update({f"out/{run}/{position}": result for position, result in enumerate(cut)})
        report = session.report()
    np.savez(request["file"], **arrays)
    return {"on_cpu": report["ops"]["on_cpu"], "total": report["ops"]["total"],
            "warnings": report["warnings"], "fallbacks": report["ops"]["fallbacks"]}


if __name__ == "__main__":
    worker.serve(answer)

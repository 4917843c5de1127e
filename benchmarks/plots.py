#!/usr/bin/env python3
"""Plots of a results.json: plots.py results.json FOLDER writes steady.svg and start.svg. Needs matplotlib."""

import json
import pathlib
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "hearth", "font.size": 9})
from matplotlib import pyplot  # noqa: E402  (the back end is chosen first)

COLOURS = {
    "hearth-opencl": "#b3361c", "hearth-vulkan": "#d9702f", "hearth-gles": "#eda65a", "hearth-cpu": "#7a2412",
    "litert-1": "#2f5d8a", "litert-2": "#6f9bc4", "ncnn-vulkan": "#4f8f4f", "onnxruntime-1": "#777777",
    "onnxruntime-2": "#aaaaaa",
}  # fmt: skip


def bars(axes, rows, key, subjects, offset=0.0, height=None, **style):
    """One group of horizontal bars per model, one bar per subject."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    height = height or 0.8 / len(subjects)
    for s, subject in enumerate(subjects):
        for m, model in enumerate(models):
            for row in rows:
                if (row["model"], row["subject"]) == (model, subject) and row[key] is not None:
                    at = m - 0.4 + (s + 0.5) * 0.8 / len(subjects) + offset
                    axes.barh(at, row[key], height, color=COLOURS[subject], label=subject if m == 0 else None, **style)
    axes.set_yticks(range(len(models)), models)
    axes.invert_yaxis()
    axes.set_xscale("log")


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def steady(rows, path):
    figure, axes = pyplot.subplots(figsize=(7.5, 6))
    bars(axes, rows, "steady_ratio", [s for s in COLOURS if any(r["subject"] == s for r in rows)])
    axes.axvline(1, color="black", linewidth=0.6)
    axes.set_xlabel("steady inference against XNNPACK on one thread (ratio, less is faster)")
    axes.legend(fontsize=7)
    save(figure, path)


def start(rows, path):
    figure, axes = pyplot.subplots(figsize=(7.5, 5))
    subjects = [s for s in COLOURS if s.startswith("hearth") and any(r["subject"] == s for r in rows)]
    bars(axes, rows, "cold_ms", subjects, alpha=0.35)
    handles = axes.get_legend_handles_labels()
    bars(axes, rows, "warm_ms", subjects)
    axes.invert_yaxis()
    axes.set_xlabel("ms from asking for a model to its first result (pale: cold, full: warm)")
    axes.legend(handles[0], handles[1], fontsize=7)
    save(figure, path)


def main():
    rows = json.loads(pathlib.Path(sys.argv[1]).read_text())["summary"]
    folder = pathlib.Path(sys.argv[2])
    steady(rows, folder / "steady.svg")
    start(rows, folder / "start.svg")


if __name__ == "__main__":
    main()

"""Whether Hearth's results on a model are LiteRT's, within what its quantization allows."""

import numpy as np

import numbers_of_models as numbers

FLOAT_TOLERANCE = 1e-4  # of the largest element, as the contract has it
HYBRID_TOLERANCE = 0.05  # LiteRT rounds activations of dynamic range models to 8 bits; Hearth does not
HYBRIDS = ("dynamic", "weights8", "weights4", "weights2", "blocks4", "rotated8")


def _exact(float_description, run, position, expected):
    """The float network's result, if that has as many elements."""
    if not float_description or "failed" in float_description:
        return None
    with np.load(float_description["file"]) as results:
        key = f"out/{run}/{position}"
        found = results[key] if key in results.files else None
    return found if found is not None and found.size == expected.size else None


def _of_output(description, details, position, run, ours, theirs, float_description):
    if ours.size != theirs.size:
        return f"shape {list(ours.shape)} instead of {list(theirs.shape)}"
    quantization = description["quantization"]
    a = numbers.real(ours, details["scale"], details["zero_point"])
    b = numbers.real(theirs, details["scale"], details["zero_point"])
    if quantization in ("float", "float16"):
        if not np.issubdtype(theirs.dtype, np.floating):
            same = float(np.mean(a == b)) if a.size else 1.0
            return None if same >= 0.98 else f"{100 * same:.1f} % are equal"
        return numbers.float_difference(a, b, FLOAT_TOLERANCE)
    exact = _exact(float_description, run, position, theirs)
    span = float(np.max(b, initial=0) - np.min(b, initial=0)) or 1.0
    step = details["scale"] or span / (255 if quantization in ("int8", *HYBRIDS) else 65535)
    if quantization == "int16x8" and not np.issubdtype(theirs.dtype, np.integer):
        step = max(step, 1e-4 * max(1.0, float(np.max(np.abs(b), initial=0))))
    if quantization in HYBRIDS:
        if numbers.float_difference(a, b, HYBRID_TOLERANCE) is None:
            return None
    return numbers.quantized_difference(a, b, step, exact)


def difference(description, file, float_description):
    """None, or how the results in `file` differ from those of LiteRT; the first difference."""
    with np.load(description["file"]) as expected, np.load(file) as results:
        for run in range(description["runs"]):
            for position, details in enumerate(description["outputs"]):
                key = f"out/{run}/{position}"
                words = _of_output(description, details, position, run, results[key], expected[key], float_description)
                if words:
                    return f"run {run}, output {position} ({details['name']}): {words}"
    return None

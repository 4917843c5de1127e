"""Inputs that all quantizations of a network share, and what results may differ by."""

import zlib

import numpy as np


def real_values(name, run, position, shape, rule):
    """Seeded numbers for an input. `rule`: [low, high]; "normal"; {"int": [low, high]}."""
    random = np.random.default_rng([zlib.crc32(name.encode()), run, position])
    if isinstance(rule, dict):
        return random.integers(rule["int"][0], rule["int"][1], shape, endpoint=True)
    if rule == "normal":
        return np.clip(random.standard_normal(shape), -4, 4).astype(np.float32)
    values = np.asarray(random.uniform(rule[0], rule[1], shape)).astype(np.float32)
    if values.size > 1:
        values.flat[0], values.flat[-1] = rule  # so that calibration sees the whole range
    return values


def stored(values, dtype, scale, zero_point):
    """Real numbers as a tensor of that type holds them."""
    if dtype == np.bool_:
        return np.asarray(values) > 0
    if scale and np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        return np.clip(np.round(np.asarray(values, np.float64) / scale) + zero_point, limits.min, limits.max).astype(dtype)
    return np.asarray(values).astype(dtype)


def real(values, scale, zero_point):
    values = np.asarray(values, np.float64)
    return (values - zero_point) * scale if scale else values


def _flat(values):
    return np.asarray(values, np.float64).ravel()


def float_difference(ours, theirs, tolerance):
    """None, or in words by how much too far apart."""
    ours, theirs = _flat(ours), _flat(theirs)
    odd = ~np.isfinite(theirs)
    if not np.array_equal(ours[odd], theirs[odd], equal_nan=True):
        return "other elements are infinite or no numbers"
    difference = np.abs(ours - theirs)[~odd]
    allowed = tolerance * max(1.0, float(np.max(np.abs(theirs[~odd]), initial=0)))
    largest = float(np.max(difference, initial=0))
    return None if largest <= allowed else f"off by {largest:.3g}, allowed {allowed:.3g}"


def quantized_difference(ours, theirs, step, exact, slack=0.0):
    """As the contract has it: 99 % within 2 steps; else Hearth must be about as near to the float network as LiteRT is."""
    ours, theirs = _flat(ours), _flat(theirs)
    if ours.size == 0:
        return None
    close = float(np.mean(np.abs(ours - theirs) <= 2.001 * step + slack))
    if close >= 0.99:
        return None
    words = f"{100 * close:.1f} % within 2 steps, off by {np.max(np.abs(ours - theirs)) / step:.0f} steps"
    if exact is None or exact.size != ours.size or not np.all(np.isfinite(exact)):
        return words
    exact = _flat(exact)
    own, peer = np.sqrt(np.mean((ours - exact) ** 2)), np.sqrt(np.mean((theirs - exact) ** 2))
    if own <= 1.1 * peer + step:
        return None
    return f"{words}; from the float network {own / step:.1f} steps, LiteRT {peer / step:.1f}"

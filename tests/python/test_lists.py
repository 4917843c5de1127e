"""Lists of Python numbers as inputs: taken where the input's type holds them."""

import hearth
import numpy as np
import pytest
from small_graphs import CPU


def negation(count):
    """y = -x of float32."""
    graph = hearth.Graph("negation")
    graph.output(graph.unary("neg", graph.input("x", (count,))), "y")
    return hearth.Session(graph.build(), **CPU)


def filled(session, numbers):
    """A list of the session's shape that begins with the numbers; the others are 1."""
    shape = session.inputs[0].shape
    flat = np.empty(int(np.prod(shape)), object)
    flat[:] = 1
    flat[: len(numbers)] = numbers
    return flat.reshape(shape).tolist()


def test_fractions_are_rounded_and_infinity_and_nan_stay(oracle_models):
    numbers = [0.1, 1e-50, float("inf"), float("-inf"), float("nan"), 16777217.0]
    (y,) = negation(6).run(numbers)
    assert np.array_equal(y, -np.float32(numbers), equal_nan=True)
    halves = hearth.Session(oracle_models["cast_float16_to_float32.tflite"], **CPU)
    (y,) = halves.run(filled(halves, [0.1, 1.0001]))
    assert y.ravel()[:2].tolist() == np.float16([0.1, 1.0001]).tolist()


def test_a_number_that_would_become_infinite_is_refused(oracle_models):
    with pytest.raises(ValueError, match="float64.* was given"):
        negation(2).run([1e39, 1.0])
    halves = hearth.Session(oracle_models["cast_float16_to_float32.tflite"], **CPU)
    for large in (70000, 70000.0):
        with pytest.raises(ValueError, match="64.* was given"):
            halves.run(filled(halves, [large]))


def test_an_integer_that_real_numbers_would_round_is_refused(oracle_models):
    session = negation(2)
    assert session.run([2**24, -(2**40)])[0].tolist() == [-(2**24), 2**40]
    with pytest.raises(ValueError, match="int64.* was given"):
        session.run([2**24 + 1, 1])
    doubles = hearth.Session(oracle_models["cast_float64_to_float32.tflite"], **CPU)
    for number in (2**53 + 1, 2**63 - 1):
        with pytest.raises(ValueError, match="int64.* was given"):
            doubles.run(filled(doubles, [number]))


def test_an_integer_among_floats_keeps_its_digits(oracle_models):
    session = hearth.Session(oracle_models["neg_int64.tflite"], **CPU)
    numbers = [2.0**53, 2**53 + 1, -(2**62) - 1, 7.0]
    (y,) = session.run(filled(session, numbers))
    assert y.ravel()[:4].tolist() == [-(2**53), -(2**53) - 1, 2**62 + 1, -7]


@pytest.mark.parametrize("wrong", [1.5, 2.0**63, -(2.0**64), float("inf"), float("nan"), 2**64])
def test_what_an_integer_type_does_not_hold_is_refused(oracle_models, wrong):
    session = hearth.Session(oracle_models["neg_int64.tflite"], **CPU)
    with pytest.raises(ValueError, match="is int64"):
        session.run(filled(session, [wrong, 0.0]))

"""Operators whose functions are Python's."""

import gc
import signal
import sys
import threading
import weakref
from pathlib import Path

import hearth
import numpy as np
import pytest
from small_graphs import CPU

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import flat_model  # noqa: E402

MISH = Path(hearth.__file__).parent / "lib/libmish.so"
X = np.array([[-1, 0, 1, 2]], np.float32)


def mish(x):
    return x * np.tanh(np.log1p(np.exp(x)))


def model_file(name="Mish"):
    return flat_model.elementwise({"main": name}, [1, 4], [-1, 4])


def test_a_function_runs_in_place_of_a_custom_operator(tmp_path):
    path = tmp_path / "m.tflite"
    path.write_bytes(model_file())
    op = hearth.CustomOp("Mish", mish)
    for source in (path, model_file(), hearth.Model(path, custom_ops=[op])):
        ops = {} if isinstance(source, hearth.Model) else {"custom_ops": [op]}
        with hearth.Session(source, **ops, **CPU) as session:
            np.testing.assert_allclose(session.run(X)[0], mish(X), rtol=1e-6)


def test_shapes_are_asked_for_again_after_a_resize():
    seen = []

    def shapes(x):
        seen.append(x.shape)
        return [(x.dtype, x.shape)]

    with hearth.Session(model_file(), custom_ops=[hearth.CustomOp("Mish", mish, shapes)], **CPU) as session:
        session.resize(batch=3)
        assert (3, 4) in seen
        x = np.arange(12, dtype=np.float32).reshape(3, 4)
        np.testing.assert_allclose(session.run(x)[0], mish(x), rtol=1e-6)


def test_exceptions_become_errors_with_their_text():
    def fails(x):
        raise ValueError("the moon is full")

    for op, words in [
        (hearth.CustomOp("Mish", fails), "ValueError: the moon is full"),
        (hearth.CustomOp("Mish", lambda x: x[:, :2]), r"shape \(1, 2\) was made, \(1, 4\) was told"),
        (hearth.CustomOp("Mish", lambda x: [x, x]), "2 outputs were made, it has 1"),
        (hearth.CustomOp("Mish", lambda x: x.astype(complex)), "Cannot cast"),
    ]:
        with hearth.Session(model_file(), custom_ops=[op], **CPU) as session:
            with pytest.raises(hearth.Error, match=words) as raised:
                session.run(X)
            assert "Mish (operator 0)" in str(raised.value)
    for shapes, words in [(fails, "the moon"), (lambda x: [], "0 outputs"), (lambda x: [("float32", [2**40])], "int32")]:
        with pytest.raises(hearth.Error, match=words):
            hearth.Session(model_file(), custom_ops=[hearth.CustomOp("Mish", mish, shapes)], **CPU)


def test_an_interrupt_within_a_function_is_the_calls():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # where tests run in the background it is ignored
    def interrupted(x):
        raise KeyboardInterrupt

    with hearth.Session(model_file(), custom_ops=[hearth.CustomOp("Mish", interrupted)], **CPU) as session:
        with pytest.raises(KeyboardInterrupt):
            session.run(X)
    signal.signal(signal.SIGINT, before)


def test_functions_live_as_long_as_their_sessions():
    def function(x):
        return -x

    watched = weakref.ref(function)
    session = hearth.Session(model_file(), custom_ops=[hearth.CustomOp("Mish", function)], **CPU)
    del function
    gc.collect()
    assert session.run(X)[0].tolist() == (-X).tolist()
    session.close()
    del session
    gc.collect()
    assert watched() is None


class Owner:
    """An operator that refers to the session it belongs to."""

    def __init__(self):
        self.session = hearth.Session(model_file(), custom_ops=[hearth.CustomOp("Mish", self.function)], **CPU)

    def function(self, x):
        return -x


def test_an_operator_that_refers_to_its_session_is_collected_with_it():
    owner = Owner()
    assert owner.session.run(X)[0].tolist() == (-X).tolist()
    assert owner.session.clone().run(X)[0].tolist() == (-X).tolist()
    watched = weakref.ref(owner)
    del owner
    gc.collect()
    assert watched() is None


@pytest.mark.parametrize("call", ["report", "run", "close", "submit", "resize", "clone"])
def test_an_operator_that_calls_its_own_session_is_told_so(call):
    def calls(x):
        arguments = {"run": [X], "submit": [X], "resize": [{"x": [1, 4]}]}.get(call, [])
        getattr(session, call)(*arguments)
        return x

    with hearth.Session(model_file(), custom_ops=[hearth.CustomOp("Mish", calls)], **CPU) as session:
        with pytest.raises(hearth.Error, match="from inside one of its own calls"):
            session.run(X)


def test_clones_call_functions_from_several_threads():
    session = hearth.Session(model_file(), custom_ops=[hearth.CustomOp("Mish", mish)], **CPU)
    wrong = []

    def work(own):
        for _ in range(100):
            if not np.allclose(own.run(X)[0], mish(X)):
                wrong.append(own)

    threads = [threading.Thread(target=work, args=(own,)) for own in (session, session.clone(), session.clone())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_library_of_operators_is_an_option():
    if not MISH.exists():
        pytest.skip(f"{MISH} is not built")
    with hearth.Session(model_file(), ops=MISH, **CPU) as session:
        np.testing.assert_allclose(session.run(X)[0], mish(X), rtol=1e-6)


def test_what_is_no_operator_is_refused():
    with pytest.raises(TypeError, match="no hearth.CustomOp"):
        hearth.Session(model_file(), custom_ops=["Mish"], **CPU)
    with pytest.raises(TypeError, match="run and shapes are functions"):
        hearth.CustomOp("Mish", None)
    with pytest.raises(hearth.Error, match="--ops FILE"):
        hearth.Session(model_file(), **CPU)

"""Models and sessions of the Python package, on the CPU unless a test says otherwise."""

import gc
import shutil
import weakref

import hearth
import numpy as np
import pytest
from small_graphs import CPU, negated_sum


def test_the_demo_model_gives_its_golden(demo):
    path, x, expected = demo
    with hearth.Session(path, **CPU) as session:
        (y, *_) = session.run(x.reshape(session.inputs[0].shape))
    assert y.dtype == np.float32
    np.testing.assert_allclose(y.ravel(), expected, atol=1e-4)


def test_a_file_and_its_bytes_are_the_same_model(demo):
    path, x, _ = demo
    from_file, from_bytes = hearth.Model(path), hearth.Model(path.read_bytes())
    assert from_file.fingerprint == from_bytes.fingerprint
    x = x.reshape(from_file.inputs[0].shape)
    results = [hearth.Session(model, **CPU).run(x)[0] for model in (from_file, from_bytes)]
    assert np.array_equal(results[0], results[1])


def test_a_model_that_says_nothing_of_itself_has_empty_metadata(demo):
    metadata = hearth.Model(demo[0]).metadata()
    assert (metadata["name"], metadata["inputs"], metadata["outputs"], metadata["warnings"]) == ("", [], [], [])


def test_a_recipe_beside_the_model_is_read_with_it(demo, tmp_path):
    path = tmp_path / "m.tflite"
    shutil.copy(demo[0], path)
    recipe = tmp_path / "m.tflite.hearth.json"
    recipe.write_text('{"mean": 0, "std": 255, "labels": ["sky"], "meaning": "mask"}')
    metadata = hearth.Model(path).metadata()
    assert metadata["recipe"] == {"path": str(recipe), "mean": [0.0], "std": [255.0], "labels": ["sky"], "meaning": "mask"}
    assert [tensor["std"] for tensor in metadata["inputs"]] == [[255.0]]
    recipe.write_text("{")
    metadata = hearth.Model(path).metadata()
    assert metadata["recipe"]["path"] == "" and "is not a JSON object" in metadata["warnings"][0]


def test_a_session_is_resized_and_goes_back():
    graph = hearth.Graph("twice")
    x = graph.input("x", (1, 4))
    graph.output(graph.binary("add", x, x), "y")
    with hearth.Session(graph.build(), **CPU) as session:
        session.resize(batch=3)
        assert session.inputs[0].shape == session.outputs[0].shape == (3, 4)
        assert session.run(np.ones((3, 4), np.float32))[0].tolist() == [[2] * 4] * 3
        session.resize({"x": (2, 4)})
        assert session.run(np.ones((2, 4), np.float32))[0].shape == (2, 4)
        session.resize({"x": (1, 4)})
        assert (session.report()["resize"]["made"], session.report()["resize"]["kept"]) == (2, 1)
        for shapes, words in [({"z": (1, 4)}, "no input named 'z'"), ({"x": (1, 4, 1)}, "input 'x' as 1x4x1")]:
            with pytest.raises(hearth.Error, match=words):
                session.resize(shapes)
        assert session.run([[1, 2, 3, 4]])[0].tolist() == [[2, 4, 6, 8]]
        for wrong in ({}, {"shapes": {"x": (1, 4)}, "batch": 2}):
            with pytest.raises(ValueError, match="either shapes or batch"):
                session.resize(**wrong)


def test_inputs_may_be_an_array_a_list_or_a_mapping():
    graph = hearth.Graph()
    graph.output(graph.binary("sub", graph.input("a", (2,)), graph.input("b", (2,))), "y")
    session = hearth.Session(graph.build(), **CPU)
    a, b = np.float32([5, 7]), np.float32([1, 2])
    for inputs in ([a, b], (a, b), {"b": b, "a": a}, [[5, 7], [1, 2]]):
        assert session.run(inputs)[0].tolist() == [4, 5]
    transposed = np.float32([[5, 0], [7, 0]])[:, 0]  # not contiguous
    assert session.run([transposed, b])[0].tolist() == [4, 5]


def test_an_array_may_lack_a_batch_of_one_and_lie_in_any_order():
    graph = hearth.Graph()
    graph.output(graph.unary("neg", graph.input("x", (1, 2, 3))), "y")
    session = hearth.Session(graph.build(), **CPU)
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    for given in (array, array[None], np.asfortranarray(array), array[::-1][::-1], array.astype(">f4")):
        assert session.run(given)[0].tolist() == (-array[None]).tolist()


@pytest.mark.parametrize(
    "inputs, kind, words",
    [
        ({"z": np.zeros((1, 4))}, ValueError, "no input named 'z'; it has 'x'"),
        ({}, ValueError, "'x' was not given"),
        (np.zeros((5,), np.float32), ValueError, r"'x' is float32\[1,4\], float32\[5\] was given"),
        (np.zeros((1, 1, 4), np.float32), ValueError, r"float32\[1,1,4\] was given"),
        (np.zeros((1, 4)), ValueError, r"float64\[1,4\] was given: its numbers are not converted"),
        (np.zeros((1, 4), np.uint8), ValueError, "uint8"),
        (np.zeros((1, 4), complex), ValueError, "complex128"),
        ("cat.png", TypeError, r"'cat.png' is a path; give its numbers"),
        (np.zeros((3, 4), np.float32), ValueError, r"resize\(batch=3\) in Python"),
        (None, TypeError, r"session.run\({name: array}\)"),
        ([np.zeros((1, 4)), np.zeros((1, 4))], ValueError, "2 inputs were given, the model has 1"),
    ],
)
def test_inputs_that_do_not_fit_are_named(inputs, kind, words):
    session = hearth.Session(negated_sum(), **CPU)
    with pytest.raises(kind, match=words):
        session.run(inputs)


def test_integers_are_not_made_of_floats(demo):
    session = hearth.Session(demo[0].with_name("shapes_int8.tflite"), **CPU)
    assert session.inputs[0].dtype == np.int8 and len(session.inputs[0].scales) == 1
    zeros = np.zeros(session.inputs[0].shape)
    session.run(zeros.astype(np.int8).tolist())
    for wrong in (zeros.astype(np.float32), (zeros + 0.5).tolist(), (zeros + 200).astype(int).tolist()):
        with pytest.raises(ValueError, match="is int8"):
            session.run(wrong)


def test_a_session_is_made_of_a_models_bytes_too(demo):
    session = hearth.Session(demo[0].read_bytes(), **CPU)
    assert session.inputs[0].shape == (1, 96, 96, 3)


def test_models_and_sessions_show_what_goes_in_and_out():
    model = negated_sum()
    assert repr(model) == f"<hearth.Model {model.path!r}: 'x' float32[1, 4] -> 'y' float32[1, 4]>"
    with hearth.Session(model, **CPU) as session:
        shown = f"<hearth.Session {model.path!r}, opened on cpu: 'x' float32[1, 4] -> 'y' float32[1, 4]>"
        assert (repr(session), repr(session.clone())) == (shown, shown)
        assert "opened on cpu" in session._repr_html_()
    assert repr(session) == shown, "also when it is closed"


def test_a_closed_session_says_so():
    session = hearth.Session(negated_sum(), **CPU)
    session.close()
    session.close()
    with pytest.raises(hearth.Error, match="was closed"):
        session.run([[1, 2, 3, 4]])


def test_a_session_keeps_its_model_and_lets_it_go():
    model = negated_sum()
    session = hearth.Session(model, **CPU)
    native = weakref.ref(session)
    del model
    gc.collect()
    assert session.run([[1, 2, 3, 4]])[0].tolist() == [[-1, -2, -3, -4]]
    del session
    assert native() is None


def test_the_report_and_the_profile_tell_what_was_done(demo):
    session = hearth.Session(demo[0], **CPU)
    x = demo[1].reshape(session.inputs[0].shape)
    session.run(x)
    report = session.report()
    assert report["device"]["id"] == "cpu" and report["ready_ms"] > 0 and report["ops"]["total"] > 0
    profile = session.profile(x)
    assert profile and all(entry.milliseconds >= 0 and entry.kernel for entry in profile)


def test_buffers_that_do_not_fit_the_outputs_are_refused_before_the_run(demo):
    session = hearth.Session(demo[0], **CPU)
    arrays = session._arrays(demo[1].reshape(session.inputs[0].shape))
    short = [np.zeros(session.outputs[0].shape[1:-1], np.uint8)]
    for outputs in (short, [*short, *short], [np.zeros(10**7, np.uint8)]):
        with pytest.raises(hearth.Error, match="buffer"):
            session._native.run(arrays, outputs)
    assert not short[0].any()


@pytest.mark.parametrize("dtype", ["float64", "uint32", "uint16"])
def test_every_type_of_numbers_goes_in_and_out_unchanged(oracle_models, dtype):
    session = hearth.Session(oracle_models[f"transpose_{dtype}.tflite"], **CPU)
    assert (session.inputs[0].dtype, session.outputs[0].dtype) == (np.dtype(dtype), np.dtype(dtype))
    x = np.arange(15).reshape(3, 5).astype(dtype)
    x[0, 0] = 1e300 if dtype == "float64" else np.iinfo(dtype).max
    (y,) = session.run(x)
    assert y.dtype == x.dtype and np.array_equal(y, x.T)
    assert np.array_equal(session.run(x.tolist())[0], x.T), "lists of numbers are taken where the type holds them"
    with pytest.raises(ValueError, match="its numbers are not converted"):
        session.run(x.astype(np.int64))
    with pytest.raises(ValueError, match=f"is {dtype}"):
        session.run([["text" if dtype == "float64" else -1] * 5] * 3)


def test_tensors_of_rank_8_go_in_and_out(oracle_models):
    session = hearth.Session(oracle_models["transpose_rank8_reversed.tflite"], **CPU)
    assert len(session.inputs[0].shape) == 8
    x = np.arange(144, dtype=np.float32).reshape(session.inputs[0].shape)
    assert np.array_equal(session.run(x)[0], x.transpose())


def test_notebooks_get_a_table_in_which_names_are_text():
    graph = hearth.Graph()
    graph.output(graph.unary("neg", graph.input("<b>", (1, 2))), "y")
    model = graph.build()
    for shown in (model, hearth.Session(model, **CPU)):
        assert "&lt;b&gt;" in shown._repr_html_() and "<b>" not in shown._repr_html_()

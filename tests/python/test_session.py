"""Models and sessions of the Python package, on the CPU unless a test says otherwise."""

import asyncio
import copy
import gc
import os
import shutil
import threading
import types
import weakref

import hearth
import numpy as np
import pytest

CPU = {"device": "cpu", "cache": False}


def negated_sum():
    """y = -(x + all x before), [1, 4]."""
    graph = hearth.Graph("sum")
    x, memory = graph.input("x", (1, 4)), graph.state("memory", (1, 4))
    total = graph.binary("add", x, memory)
    graph.update(memory, total)
    graph.output(graph.unary("neg", total), "y")
    return graph.build()


def negated():
    """y = -x, [1, 4]."""
    graph = hearth.Graph("negated")
    graph.output(graph.unary("neg", graph.input("x", (1, 4))), "y")
    return graph.build()


def test_the_demo_model_gives_its_golden(demo):
    path, x, expected = demo
    with hearth.Session(path, **CPU) as session:
        (y, *_) = session.run(x.reshape(session.inputs[0].shape))
    assert y.dtype == np.float32
    np.testing.assert_allclose(y.ravel(), expected, atol=1e-4)


def test_a_hot_start_answers_and_says_who_did():
    with hearth.Session(negated_sum(), device="no such device", start="hot", cache=False) as session:
        for run in (1, 2):
            assert session.run(np.ones((1, 4), np.float32))[0][0, 0] == -run
        with pytest.raises(hearth.Error, match="no such device"):
            session.wait_for_device()
        start = session.report()["start"]
    assert (start["mode"], start["first_by"], start["moved_at_run"], start["settled"]) == ("hot", "cpu", None, True)


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


def test_outputs_are_the_callers_own():
    session = hearth.Session(negated_sum(), **CPU)
    (first,) = session.run(np.float32([[1, 2, 3, 4]]))
    (second,) = session.run(np.float32([[1, 2, 3, 4]]))
    assert first.tolist() == [[-1, -2, -3, -4]] and second.tolist() == [[-2, -4, -6, -8]]
    session.reset_state()
    assert session.run_named([[1, 1, 1, 1]])["y"].tolist() == [[-1, -1, -1, -1]]


def test_runs_are_submitted_and_waited_for_in_any_order():
    session = hearth.Session(negated_sum(), **CPU)
    first, second = (session.submit([[n, n, n, n]]) for n in (1, 2))
    with pytest.raises(hearth.Error) as caught:
        session.submit([[3, 3, 3, 3]])
    assert caught.value.code == "resource exhausted"
    assert session.wait(second)[0].tolist() == [[-3, -3, -3, -3]]
    assert session.wait(first)[0].tolist() == [[-1, -1, -1, -1]]


def test_a_ticket_brings_its_own_result():
    session = hearth.Session(negated_sum(), **CPU)
    first, second = (session.submit([[n, n, n, n]]) for n in (1, 2))
    assert second.result()[0].tolist() == [[-3, -3, -3, -3]]
    assert first.result()[0].tolist() == [[-1, -1, -1, -1]]
    with pytest.raises(hearth.Error, match="waited for already"):
        first.result()


def test_a_later_run_is_a_future_that_can_be_cancelled_or_late():
    with hearth.Session(negated_sum(), **CPU) as session:
        blocked, go = threading.Event(), threading.Event()

        class Slow(list):  # its turn comes, and it waits
            def __iter__(self):
                blocked.set()
                go.wait()
                return super().__iter__()

        first = session.run_later(Slow([np.ones((1, 4), np.float32)]))
        blocked.wait()
        cancelled = session.run_later([[1, 1, 1, 1]])
        late = session.run_later([[1, 1, 1, 1]], timeout=0)
        last = session.run_later([[1, 1, 1, 1]])
        assert cancelled.cancel() and not first.cancel()
        go.set()
        assert first.result()[0].tolist() == [[-1, -1, -1, -1]]
        with pytest.raises(TimeoutError, match="before it began"):
            late.result()
        assert last.result()[0].tolist() == [[-2, -2, -2, -2]]


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


@pytest.mark.filterwarnings("ignore:.*was shortened from")
@pytest.mark.parametrize("device", ["cpu", "vulkan"])
def test_a_shortened_file_is_an_error_of_the_call_and_runs_go_on(demo, device, tmp_path):
    path = shutil.copy(demo[0], tmp_path / "model.tflite")
    model = hearth.Model(path)
    try:
        session = hearth.Session(model, device=device)
    except hearth.Error as error:
        pytest.skip(str(error))
    with session:
        x = demo[1].reshape(session.inputs[0].shape)
        before = session.run(x)[0]
        os.truncate(path, 0)
        for call in (session.clone, lambda: session.resize(batch=2), model.metadata):
            with pytest.raises(hearth.Error, match="was shortened from"):
                call()
        assert np.array_equal(session.run(x)[0], before)
        assert any("was shortened from" in warning for warning in session.report()["warnings"])


def test_a_clone_has_state_of_its_own_and_outlives_the_first():
    first = hearth.Session(negated_sum(), **CPU)
    first.run([[1, 1, 1, 1]])
    clone = first.clone()
    first.close()
    del first
    gc.collect()
    assert clone.run([[1, 1, 1, 1]])[0].tolist() == [[-1, -1, -1, -1]]
    assert clone.report()["start"]["reason"] == "cloned"


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


@pytest.mark.parametrize(
    "make, code, words",
    [
        (lambda: hearth.Session("/nowhere.tflite", **CPU), "not found", "/nowhere.tflite"),
        (lambda: hearth.Model(b"no model"), "malformed input", ""),
        (lambda: hearth.Session(negated_sum(), device="toaster"), "unavailable", "toaster"),
        (lambda: hearth.Session(negated_sum(), colour="red"), "invalid argument", "'colour'.*model_token"),
        (lambda: hearth.Session(negated_sum(), threads=-3), "invalid argument", "'threads'"),
        (lambda: hearth.Session(negated_sum(), signature="x", **CPU), "invalid argument", "signature"),
    ],
)
def test_errors_have_a_code_and_a_sentence(make, code, words):
    with pytest.raises(hearth.Error, match=words) as caught:
        make()
    assert caught.value.code == code and caught.value.code is hearth.ErrorCode(code)


def test_a_missing_file_is_pythons_error_too(tmp_path):
    for make in (hearth.Model, hearth.Session):
        with pytest.raises(FileNotFoundError, match="check the path") as caught:
            make(tmp_path / "none.tflite")
        assert isinstance(caught.value, hearth.Error) and caught.value.filename == str(tmp_path / "none.tflite")
        assert caught.value.code is hearth.ErrorCode.NOT_FOUND


def test_a_path_need_not_be_utf_8(demo, tmp_path):
    path = os.fsencode(tmp_path) + b"/m\xe9.tflite"
    shutil.copy(demo[0], path)
    model = hearth.Model(os.fsdecode(path))
    assert os.fsencode(model.path) == path
    hearth.Session(os.fsdecode(path), device="cpu", cache_folder=os.fsdecode(path) + ".cache").close()
    assert os.fsencode(hearth.Cache(path + b".cache").folder) == path + b".cache"
    with pytest.raises(hearth.ModelNotFoundError, match="no model file"):
        hearth.Session(os.fsdecode(path) + "x", device="cpu")


def test_a_null_character_ends_no_name(demo):
    for make in (lambda: hearth.Model(f"{demo[0]}\0x"), lambda: hearth.Session(f"{demo[0]}\0x"),
                 lambda: hearth.Session(demo[0], device="cpu\0x"), lambda: hearth.Cache("cache\0x")):
        with pytest.raises(ValueError, match="null character"):
            make()


def test_a_session_is_made_of_a_models_bytes_too(demo):
    session = hearth.Session(demo[0].read_bytes(), **CPU)
    assert session.inputs[0].shape == (1, 96, 96, 3)


def test_models_and_sessions_show_what_goes_in_and_out():
    model = negated_sum()
    assert repr(model) == f"<hearth.Model {model.path!r}: 'x' float32[1, 4] -> 'y' float32[1, 4]>"
    assert repr(hearth.Session(model, **CPU)) == "<hearth.Session: 'x' float32[1, 4] -> 'y' float32[1, 4]>"


def test_warnings_are_pythons_and_name_the_callers_line():
    with pytest.warns(hearth.Warning, match="precision fp16 is not available") as caught:
        hearth.Session(negated_sum(), precision="fp16", **CPU)
    assert caught[0].filename == __file__


def test_the_rest_is_logged(caplog):
    with caplog.at_level("DEBUG", logger="hearth"):
        hearth.Session(negated_sum(), **CPU)
    assert {record.levelname for record in caplog.records} == {"INFO", "DEBUG"}


def test_shapes_are_chosen_when_the_model_is_opened(demo):
    name, (_, *rest) = (tensor := hearth.Model(demo[0]).inputs[0]).name, tensor.shape
    session = hearth.Session(demo[0], shapes={name: (2, *rest)}, **CPU)
    assert session.inputs[0].shape == (2, *rest) and session.outputs[0].shape[0] == 2
    with pytest.raises(ValueError, match="hearth.Model"):
        hearth.Session(hearth.Model(demo[0]), shapes={name: (2, *rest)}, **CPU)


@pytest.mark.parametrize(
    "shape, mistake, words",
    [
        ([2**40], ValueError, "1099511627776 is too large"),
        ([1.9, 96, 96, 3], TypeError, "1.9 is not a whole number"),
        (["1", 96, 96, 3], TypeError, "'1' is not a whole number"),
        ("1x96", TypeError, "'1x96' is not a sequence"),
        (5, TypeError, "5 is not a sequence"),
    ],
)
def test_a_shape_of_anything_but_whole_numbers_of_32_bits_is_refused(demo, shape, mistake, words):
    session, graph = hearth.Session(negated_sum(), **CPU), hearth.Graph()
    uses = [
        lambda: hearth.Model(demo[0], shapes={"image": shape}),
        lambda: hearth.Session(demo[0], shapes={"image": shape}, **CPU),
        lambda: session.resize({"image": shape}),
        lambda: graph.input("image", shape),
        lambda: graph.state("image", shape),
    ]
    for use in uses:
        with pytest.raises(mistake, match=f"shape of 'image': {words}"):
            use()


def test_a_batch_that_is_no_whole_number_of_32_bits_is_refused():
    with hearth.Session(negated_sum(), **CPU) as session:
        for batch, mistake in [(2**40, ValueError), (1.5, TypeError)]:
            with pytest.raises(mistake, match="batch: "):
                session.resize(batch=batch)


def test_sizes_may_be_numbers_of_numpy(demo):
    name, shape = (tensor := hearth.Model(demo[0]).inputs[0]).name, tensor.shape
    assert hearth.Model(demo[0], shapes={name: np.array((2, *shape[1:]))}).inputs[0].shape == (2, *shape[1:])


def test_a_callback_of_a_later_run_may_close_the_session():
    class Waits(list):
        def __iter__(self):
            begin.wait(60)
            return super().__iter__()

    begin, closed, errors = threading.Event(), threading.Event(), []

    def close(_):
        try:
            session.close()
        except BaseException as error:  # which the future would only log
            errors.append(error)
        closed.set()

    session = hearth.Session(negated_sum(), **CPU)
    first = session.run_later(Waits([np.ones((1, 4), np.float32)]))
    behind = session.run_later([[1, 1, 1, 1]])
    first.add_done_callback(close)  # on the thread of the run, which has not begun
    begin.set()
    assert first.result(60)[0][0, 0] == -1 and closed.wait(60)
    assert errors == [] and behind.cancelled()
    session.close()


def test_a_later_run_of_a_closed_session_says_so():
    session = hearth.Session(negated_sum(), **CPU)
    session.run_later([[1, 1, 1, 1]]).result()
    session.close()
    with pytest.raises(hearth.Error, match="was closed"):
        session.run_later([[1, 1, 1, 1]]).result()


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


def test_threads_may_share_a_session_and_each_gets_its_own_result(demo):
    session = hearth.Session(demo[0], **CPU)
    x = demo[1].reshape(session.inputs[0].shape)
    expected = [session.run(x * scale)[0] for scale in (0, 1)]
    wrong = []

    def work(k):
        for _ in range(20):
            if not np.array_equal(session.run(x * k)[0], expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k % 2,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_other_threads_run_while_hearth_works():
    """One long inference; without the GIL's release the counting thread could not move meanwhile."""
    graph = hearth.Graph()
    x = graph.input("x", (1, 256, 256, 32))
    kernel = graph.constant("kernel", np.ones((32, 3, 3, 32), np.float32))
    y = x
    for _ in range(6):
        y = graph.conv_2d(y, kernel)
    graph.output(y, "y")
    session = hearth.Session(graph.build(), threads=1, **CPU)
    x = np.zeros((1, 256, 256, 32), np.float32)
    steps, started, done = [], threading.Event(), threading.Event()

    def count():
        started.set()
        while not done.is_set():
            steps.append(None)
            done.wait(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    started.wait()
    before = len(steps)
    arrays, outputs = session._arrays(x), [np.empty(t.shape, t.dtype) for t in session.outputs]
    session._native.run(arrays, outputs)  # one call, in which Python itself has nothing to do
    moved = len(steps) - before
    done.set()
    counter.join()
    assert moved > 3


def test_buffers_that_do_not_fit_the_outputs_are_refused_before_the_run(demo):
    session = hearth.Session(demo[0], **CPU)
    arrays = session._arrays(demo[1].reshape(session.inputs[0].shape))
    short = [np.zeros(session.outputs[0].shape[1:-1], np.uint8)]
    for outputs in (short, [*short, *short], [np.zeros(10**7, np.uint8)]):
        with pytest.raises(hearth.Error, match="buffer"):
            session._native.run(arrays, outputs)
    assert not short[0].any()


def test_log_to_gives_the_device_and_warnings(demo):
    lines = []
    hearth.log_to(lambda level, text: lines.append((level, text)))
    try:
        hearth.Session(demo[0], precision="fp16", **CPU).close()
    finally:
        hearth.log_to(None)
    hearth.Session(demo[0], precision="fp16", **CPU).close()
    told = [line for line in lines if line[0] != "debug"]
    assert [level for level, _ in told] == ["info", "warning"]
    assert "cpu" in told[0][1] and "fp16" in told[1][1]


def test_messages_go_to_a_function_or_nowhere_else():
    with pytest.raises(TypeError, match="a function or None, not int"):
        hearth.log_to(3)


@pytest.mark.parametrize("values", [None, [1j], np.ones(2, np.complex64), [object()], ["1"]])
def test_a_constant_of_a_graph_is_made_of_real_numbers(values):
    with pytest.raises(TypeError, match="constant 'c': .* are not real numbers"):
        hearth.Graph().constant("c", values)


def test_mistakes_in_a_graph_are_raised_when_it_is_built():
    graph = hearth.Graph("broken")
    x = graph.input("x", (1, 4))
    graph.output(graph.unary("colour", x), "y")
    with pytest.raises(hearth.Error, match="'colour'"):
        graph.build()
    with pytest.raises(hearth.Error, match="built before"):
        graph.build()
    with pytest.raises(hearth.Error, match="no padding"):
        hearth.Graph().max_pool_2d(x, (2, 2), padding="some")


def test_every_operation_of_the_graph_runs():
    graph = hearth.Graph()
    x = graph.input("x", (1, 4, 4, 1))
    kernel = graph.constant("k", np.ones((1, 2, 2, 1)))
    y = graph.depthwise_conv_2d(graph.conv_2d(x, kernel, activation="relu"), kernel)
    pools = [graph.average_pool_2d(y, (2, 2), stride=(2, 2)), graph.max_pool_2d(y, (2, 2), stride=(2, 2))]
    row = graph.reshape(graph.resize_bilinear(graph.concat(pools, 3), (2, 1)), (1, 4))
    dense = graph.fully_connected(row, graph.constant("w", np.ones((2, 4))), graph.constant("b", [1, 1]))
    graph.output(graph.softmax(dense), "scores")
    (scores,) = hearth.Session(graph.build(), **CPU).run(np.ones((1, 4, 4, 1), np.float32))
    assert scores.tolist() == [[0.5, 0.5]]


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


def test_the_class_of_each_pixel_is_asked_for_in_three_ways(oracle_models, tmp_path):
    content, path = oracle_models["log_softmax_rank4.tflite"], tmp_path / "scores.tflite"
    path.write_bytes(content)
    x = np.random.default_rng(3).integers(-4, 4, (2, 3, 4, 8)).astype(np.float32)
    (scores,) = hearth.Session(content, **CPU).run(x)
    for model in (path, content, hearth.Model(path, class_maps=True), hearth.Model(content, class_maps=True)):
        options = {} if isinstance(model, hearth.Model) else {"class_maps": True}
        with hearth.Session(model, **options, **CPU) as maps:
            assert (maps.outputs[0].dtype, maps.outputs[0].shape) == (np.int32, (2, 3, 4))
            assert np.array_equal(maps.run(x)[0], scores.argmax(-1))
    with pytest.raises(hearth.Error, match="class_maps are chosen when the model is read"):
        hearth.Session(hearth.Model(path), class_maps=True, **CPU)


@pytest.mark.parametrize("wrong, right", [("num_threads", "threads"), ("presicion", "precision"), ("devices", "device")])
def test_an_unknown_option_names_the_one_that_is_meant(oracle_models, wrong, right):
    with pytest.raises(hearth.Error, match=f"'{wrong}' .did you mean '{right}'"):
        hearth.Session(oracle_models["log_softmax_rank4.tflite"], **{wrong: "1"}, **CPU)


def test_an_input_that_is_fixed_is_no_input_any_more(oracle_models, tmp_path):
    content, path = oracle_models["slice_begin_list.tflite"], tmp_path / "slice.tflite"
    path.write_bytes(content)
    table = np.arange(35, dtype=np.float32).reshape(5, 7)
    x, begin = (tensor.name for tensor in hearth.Model(content).inputs)
    other_order = hearth.Model(path, constants={begin: np.array([2, 3], ">i4")})
    for source in (path, content, hearth.Model(path, constants={begin: [2, 3]}), other_order):
        constants = None if isinstance(source, hearth.Model) else {begin: np.array([2, 3])}  # int64, as NumPy has them
        with hearth.Session(source, constants=constants, **CPU) as session:
            assert [tensor.name for tensor in session.inputs] == [x]
            assert np.array_equal(session.run(table)[0], table[2:4, 3:6])
    with pytest.raises(hearth.Error, match="does not hold all numbers"):
        hearth.Model(path, constants={begin: [0.5, 1]})
    for wrong in ([1, 2], 5, {1: 2}):
        with pytest.raises(TypeError, match="constants: .* is not a mapping"):
            hearth.Model(path, constants=wrong)
    with pytest.raises(ValueError, match="chosen already"):
        hearth.Session(hearth.Model(path), constants={begin: [0, 0]}, **CPU)


@pytest.mark.parametrize("name, fine, wrong", [
    ("class_maps", [None, True, False, np.True_, np.False_], ["on", "off", 1, 0, [True]]),
    ("top_k", [None, 0, 3, np.int64(3), 2**31 - 1], ["3", 3.0, True, np.True_, [3]]),
    ("signature", [None, ""], [b"serve", 5, True, ["serve"]]),
])
def test_a_file_bytes_and_a_model_take_the_same_options(oracle_models, tmp_path, name, fine, wrong):
    content, path = oracle_models["log_softmax_rank4.tflite"], tmp_path / "scores.tflite"
    path.write_bytes(content)

    def made(source):
        yield lambda **options: hearth.Session(source, **options, **CPU)
        yield lambda **options: hearth.Session(hearth.Model(source, **options), **CPU)

    for make in (*made(path), *made(content)):
        for value in fine:
            has_map = name == "class_maps" and bool(value)
            with make(**{name: value}) as session:
                assert session.outputs[0].shape == ((2, 3, 4) if has_map else (2, 3, 4, 8))
        for value in wrong:
            with pytest.raises(TypeError, match=f"^{name}: .* is n"):
                make(**{name: value})
        for option, value, message in (("top_k", -1, "top_k"), ("signature", "x", "no signature 'x'")):
            with pytest.raises(hearth.Error, match=message):
                make(**{option: value})


def test_a_switch_of_numpy_is_a_switch(demo):
    with hearth.Session(demo[0], device="cpu", cache=np.False_, trust_cache_layers=np.False_) as session:
        assert session.report()["cache"]["path"] == ""


def test_a_type_that_numpy_lacks_is_an_error_of_hearths():
    info = types.SimpleNamespace(name="weights", alias="", dtype="int4", shape=[3], declared_shape=[3], scales=[],
                                 zero_points=[])
    with pytest.raises(hearth.Error, match="'weights' is int4.*float32 or int8") as caught:
        hearth._session.Tensor._of(info)
    assert caught.value.code == hearth.ErrorCode.UNSUPPORTED


def test_runs_may_be_awaited_and_mapped_over_batches():
    session = hearth.Session(negated(), **CPU)
    batches = [np.full((1, 4), number, np.float32) for number in range(5)]
    expected = [session.run(batch)[0].tolist() for batch in batches]

    async def awaited():
        return [(await session.submit(batch))[0].tolist() for batch in batches]

    assert asyncio.run(awaited()) == expected
    assert [outputs[0].tolist() for outputs in session.map(batches)] == expected
    stopped = session.map(batches)
    next(stopped)
    stopped.close()
    assert session.run(batches[1])[0].tolist() == expected[1]  # no run was left in flight
    with pytest.raises(ValueError, match="at least one"):
        next(session.map(batches, in_flight=0))


def test_a_copy_of_a_session_is_a_clone_of_it():
    session = hearth.Session(negated(), **CPU)
    array = np.ones((1, 4), np.float32)
    for twin in (copy.copy(session), copy.deepcopy(session)):
        assert twin is not session and twin.run(array)[0].tolist() == session.run(array)[0].tolist()


def test_notebooks_get_a_table_in_which_names_are_text():
    graph = hearth.Graph()
    graph.output(graph.unary("neg", graph.input("<b>", (1, 2))), "y")
    model = graph.build()
    for shown in (model, hearth.Session(model, **CPU)):
        assert "&lt;b&gt;" in shown._repr_html_() and "<b>" not in shown._repr_html_()

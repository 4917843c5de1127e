"""What is chosen when a model or session is opened: paths, shapes, options; the errors and the log."""

import os
import shutil
import types

import hearth
import numpy as np
import pytest
from small_graphs import CPU, negated_sum


def test_a_hot_start_answers_and_says_who_did():
    with hearth.Session(negated_sum(), device="no such device", start="hot", cache=False) as session:
        for run in (1, 2):
            assert session.run(np.ones((1, 4), np.float32))[0][0, 0] == -run
        with pytest.raises(hearth.Error, match="no such device"):
            session.wait_for_device()
        start = session.report()["start"]
    assert (start["mode"], start["first_by"], start["moved_at_run"], start["settled"]) == ("hot", "cpu", None, True)


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

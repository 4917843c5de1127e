"""What outputs mean, in Python."""

import itertools
import struct
import sys

import hearth
import numpy as np
import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests/cli"))
import detector_heads  # noqa: E402
import flat_model  # noqa: E402

CPU = {"device": "cpu", "cache": False}


def after_a_run(op, shape, x):
    graph = hearth.Graph("result")
    graph.output(graph.unary(op, graph.input("x", shape)), "y")
    session = hearth.Session(graph.build(), **CPU)
    session.run(np.asarray(x, np.float32).reshape(shape))
    return session


def test_scores_have_indices_and_labels():
    session = after_a_run("logistic", (1, 3), [0, 5, -5])
    (result,) = session.interpret(labels=["a", "b", "c"], top=2)
    assert (result.meaning, result.outputs) == ("classes", (0,))
    assert [(c.index, c.label) for c in result.classes] == [(1, "b"), (0, "a")]
    assert result.classes[1].score == 0.5
    assert result.mask is None and result.class_map is None and result.keypoints is None and result.boxes == []
    assert "classes" in repr(result)


def test_a_mask_is_an_array_and_drawn_beside_the_picture():
    x = np.zeros((1, 8, 8, 2), np.float32)
    x[0, 2:4, :, 1] = 30
    x[0, 4:, :, 0] = 30
    (result,) = after_a_run("copy", (1, 8, 8, 2), x).interpret()
    assert result.mask.shape == (8, 8) and result.mask.dtype == np.float32
    assert result.mask[2, 0] > 0.99 and result.mask[5, 0] < 0.01
    drawn = result.draw(np.full((40, 20, 3), 99, np.uint8))
    assert drawn.dtype == np.uint8 and drawn.shape[2] == 3 and drawn.shape[1] > 2 * 20
    assert result.draw().shape[0] > 0


def test_what_can_not_be_is_an_error_that_says_so():
    session = after_a_run("neg", (1, 4), [1, 2, 3, 4])
    with pytest.raises(ValueError, match="meaning: 'cats' is none of classes"):
        session.interpret(meaning="cats")
    with pytest.raises(hearth.Error, match="no output of this model has a form"):
        session.interpret(meaning="mask")
    for labels in ([1], "cat"):
        with pytest.raises(TypeError, match="labels"):
            session.interpret(labels=labels)
    assert session.interpret(meaning="classes", labels=["\udcff"] * 4)[0].classes[0].label == "?"
    (result,) = session.interpret(meaning="none")
    with pytest.raises(hearth.Error, match="can't be drawn"):
        result.draw()
    (result,) = session.interpret(meaning="classes")
    for picture in (np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3), np.float32)):
        with pytest.raises(ValueError, match="a picture is uint8"):
            result.draw(picture)
    session.close()
    with pytest.raises(hearth.Error, match="closed"):
        session.interpret()


@pytest.mark.parametrize("name, shape, numbers, word, is_sure", detector_heads.HEADS)
def test_yolo_is_found_when_it_is_sure_or_asked_for(name, shape, numbers, word, is_sure):
    model = flat_model.head([1, detector_heads.HEIGHT, detector_heads.WIDTH, 3], shape)
    with hearth.Session(model, **CPU) as session:
        picture = np.zeros((1, detector_heads.HEIGHT, detector_heads.WIDTH, 3), np.float32)
        session.run({"picture": picture, "x": -np.asarray(numbers, np.float32).reshape(shape)})
        (found,) = session.interpret()
        (asked,) = session.interpret(meaning=word)
    assert found.meaning == ("boxes" if is_sure else "none")
    if not is_sure:
        assert found.reason.startswith("not sure") and f"--show {word}" in found.reason
    for result in [found, asked] if is_sure else [asked]:
        (box,) = result.boxes
        assert box.index == 1
        assert np.allclose(box[2:7], (0.8, 45 / 96, 12 / 64, 75 / 96, 28 / 64), atol=1e-5)
        assert result.draw().any()


def after_heads(**heads):
    graph = hearth.Graph("heads")
    graph.input("picture", (1, 64, 96, 3))
    for name, head in heads.items():
        graph.output(graph.unary("copy", graph.input(f"in {name}", head.shape)), name)
    session = hearth.Session(graph.build(), **CPU)
    session.run({"picture": np.zeros((1, 64, 96, 3), np.float32), **{f"in {name}": heads[name] for name in heads}})
    return session.interpret()


def test_boxes_with_masks_say_which_pixels_are_theirs():
    rows, masks = np.zeros((1, 300, 8), np.float32), np.full((1, 16, 24, 2), -1, np.float32)
    rows[0, 0] = 16, 8, 80, 56, 0.9, 2, 1, 0
    masks[0, :, :12, 0] = 1
    (result,) = after_heads(boxes=rows, masks=masks)
    (box,) = result.boxes
    assert box.index == 2 and box.points == ()
    expected = np.zeros((16, 24), np.int32)
    expected[2:14, 4:12] = 1
    assert np.array_equal(result.instances, expected) and result.instances.dtype == np.int32
    assert result.mask is None and result.draw().any()


def test_a_pose_has_the_names_of_its_points_and_boxes_without_masks_have_none():
    rows = np.zeros((1, 300, 57), np.float32)
    rows[0, 0, :9] = 24, 16, 72, 48, 0.9, 0, 48, 32, 0.75
    (result,) = after_heads(boxes=rows)
    ((box,), instances) = result.boxes, result.instances
    assert instances is None and len(box.points) == 17
    assert box.points[0] == ("nose", 0.5, 0.5, 0.75)


def test_the_face_of_a_photograph_is_where_it_is(shared):
    image = pytest.importorskip("PIL.Image", reason="the photograph is read with Pillow")
    picture = image.open(shared / "images/grace_hopper.jpg").convert("RGB").resize((128, 128))
    with hearth.Session(shared / "models/face_detection_front.tflite", **CPU) as session:
        session.run((np.asarray(picture, np.float32)[None] - 127.5) / 127.5)
        (result,) = session.interpret()
    (face,) = result.boxes
    assert face.label == "face" and face.score > 0.9
    assert 0.25 < face.left < 0.45 and 0.15 < face.top < 0.3 and 0.6 < face.right < 0.8 and 0.5 < face.bottom < 0.7
    assert [point.name for point in face.points][2] == "nose"


def test_detections_are_alike_under_all_orders_of_outputs(shared):
    content = (shared / "models/ssd_mobilenet_v1_1.0_quant.tflite").read_bytes()
    picture = (np.arange(300 * 300 * 3) % 251).astype(np.uint8).reshape(1, 300, 300, 3)
    at, found = flat_model.place_of(content, 2, 0, 2), set()  # the first subgraph's outputs
    for order in itertools.permutations(struct.unpack_from("<4i", content, at)):
        with hearth.Session(content[:at] + struct.pack("<4i", *order) + content[at + 16:], **CPU) as session:
            session.run(picture)
            (result,) = session.interpret(min_score=0.1)
        assert result.meaning == "boxes" and all(0.1 <= box.score <= 1 for box in result.boxes)
        found.add(tuple(box[:7] for box in result.boxes))
    assert len(found) == 1 and found.pop()

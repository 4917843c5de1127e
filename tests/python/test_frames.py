"""Pictures as inputs of the Python package, on the CPU."""

import os

import hearth
import numpy as np
import pytest
from small_graphs import CPU

RANDOM = np.random.default_rng(5)


def session(height, width, channels=3):
    """y = -x"""
    graph = hearth.Graph("negated")
    graph.output(graph.unary("neg", graph.input("x", (1, height, width, channels))), "y")
    return hearth.Session(graph.build(), **CPU)


def picture(*shape):
    return RANDOM.integers(0, 256, shape, np.uint8)


def test_a_part_of_an_array_is_a_picture_and_so_is_a_crop():
    pixels, small = picture(20, 30, 3), session(6, 9)
    cut = pixels[4:10, 5:14]
    for frame in (hearth.Frame(cut), hearth.Frame(pixels, crop=(5, 4, 9, 6)), hearth.Frame(cut[::-1][::-1])):
        (y,) = small.run(frame)
        assert np.array_equal(y[0], -cut.astype(np.float32))


def test_turned_and_mirrored_as_numpy_does_it():
    pixels = picture(6, 9, 4)
    (y,) = session(9, 6, 4).run([hearth.Frame(pixels, "bgra8", rotation=90, flip_horizontally=True)])
    assert np.array_equal(y[0], -np.rot90(pixels, -1)[:, ::-1, [2, 1, 0, 3]].astype(np.float32))


def test_mean_and_scale_are_numbers_or_one_per_channel():
    pixels, same = picture(4, 4, 3), session(4, 4)
    mean, scale = np.float32([1, 2, 3]), np.float32([0.5, 2, -1])
    (y,) = same.run({"x": hearth.Frame(pixels, mean=mean, scale=scale)})
    assert np.array_equal(y[0], -((pixels - mean) * scale))
    for mean, scale in ((127.5, 0.25), ([127.5], (0.25,)), (np.float32([127.5]), np.float64(0.25))):
        (y,) = same.run(hearth.Frame(pixels, mean=mean, scale=scale))
        assert np.array_equal(y[0], -((pixels - np.float32(127.5)) * np.float32(0.25)))


def test_std_divides_where_scale_multiplies():
    pixels, same = picture(4, 4, 3), session(4, 4)
    for std in (64, (64.0, 0.5, -2.0)):
        by_std = same.run(hearth.Frame(pixels, mean=127.5, std=std))[0]
        assert np.array_equal(by_std[0], -((pixels - np.float32(127.5)) / np.float32(std)))
    with pytest.raises(ValueError, match="leave one out"):
        hearth.Frame(pixels, std=2, scale=0.25)
    with pytest.raises(ValueError, match="std: .* has a 0"):
        hearth.Frame(pixels, std=(1, 0, 1))
    with pytest.raises(ValueError, match="std: .* not finite"):
        hearth.Frame(pixels, std=(1, float("inf"), 1))


def test_a_picture_in_opencvs_order_is_the_same_picture():
    pixels, same = picture(6, 9, 3), session(6, 9)
    (y,) = same.run(hearth.Frame(pixels[..., ::-1], "bgr8", mean=(1, 2, 3)))
    assert np.array_equal(y, same.run(hearth.Frame(pixels, mean=(1, 2, 3)))[0])
    with pytest.raises(ValueError, match="bgr8 is for arrays"):
        hearth.Frame(hearth.DmaBuf(1, 9, 6), "bgr8")
    with pytest.raises(ValueError, match="bgr8 pixels have the shape"):
        hearth.Frame(picture(6, 9, 4), "bgr8")


def test_planes_may_be_one_array_as_opencv_has_them():
    both = session(8, 8)
    luma, u, v = picture(8, 8), picture(4, 4), picture(4, 4)
    pairs = np.stack([u, v], axis=-1)
    results = [
        both.run(frame)[0]
        for frame in (
            hearth.Frame((luma, u, v), "i420"),
            hearth.Frame((luma, pairs), "nv12"),
            hearth.Frame((luma, pairs[..., ::-1]), "nv21"),
            hearth.Frame(np.concatenate([luma, u.reshape(2, 8), v.reshape(2, 8)]), "i420"),
            hearth.Frame(np.concatenate([luma, pairs.reshape(4, 8)]), "nv12"),
        )
    ]
    for result in results[1:]:
        assert np.array_equal(result, results[0])
    (other,) = both.run(hearth.Frame((luma, u, v), "i420", matrix="bt709", full_range=True))
    assert not np.array_equal(other, results[0])


def test_frames_and_arrays_take_turns_and_sizes_change():
    pixels, open_session = picture(4, 4, 3), session(4, 4)
    ones = np.ones((1, 4, 4, 3), np.float32)
    for _ in range(2):
        assert np.array_equal(open_session.run(hearth.Frame(pixels))[0][0], -pixels.astype(np.float32))
        assert np.array_equal(open_session.run(ones)[0], -ones)
    ticket = open_session.submit(hearth.Frame(pixels.copy()))
    assert np.array_equal(ticket.result()[0][0], -pixels.astype(np.float32))
    assert np.array_equal(open_session.run_later(hearth.Frame(pixels)).result()[0][0], -pixels.astype(np.float32))
    open_session.resize({"x": (1, 2, 2, 3)})
    assert open_session.run(hearth.Frame(pixels))[0].shape == (1, 2, 2, 3)


def memory_of(*arrays):
    """A memfd in place of a dma-buf."""
    descriptor = os.memfd_create("frame")
    os.write(descriptor, b"".join(array.tobytes() for array in arrays))
    return descriptor


def test_a_dma_buf_is_a_picture_by_descriptor_or_plane_by_plane():
    both, luma, pairs = session(8, 8), picture(8, 8), picture(4, 4, 2)
    expected = both.run(hearth.Frame((luma, pairs), "nv12", rotation=90))[0]
    whole, first, second = memory_of(luma, pairs), memory_of(luma), memory_of(pairs)
    for planes in (whole, [(whole, 0, 8), (whole, 64, 8)], [(first, 0, 0), (second, 0, 0)]):
        frame = hearth.Frame(hearth.DmaBuf(planes, 8, 8), "nv12", rotation=90)
        for _ in range(2):
            assert np.array_equal(both.run(frame)[0], expected)
    for descriptor in (whole, first, second):
        os.close(descriptor)
    with pytest.raises(hearth.Error, match="no open file descriptor"):
        both.run(hearth.Frame(hearth.DmaBuf(whole, 8, 8), "nv12"))
    with pytest.raises(ValueError, match="descriptor 0"):
        hearth.Frame(hearth.DmaBuf(0, 8, 8), "nv12")
    with pytest.raises(ValueError, match="1 to 3 planes"):
        hearth.Frame(hearth.DmaBuf([], 8, 8), "nv12")


@pytest.mark.parametrize(
    ("pixels", "options", "error"),
    [
        (np.zeros((4, 4, 4), np.uint8), {}, r"\[any, any, 3\]"),
        (np.zeros((0, 4, 3), np.uint8), {}, "shape"),
        (np.zeros((5, 4), np.uint8), {"format": "nv12"}, "height \\* 3 / 2"),
        ((np.zeros((4, 4), np.uint8),), {"format": "nv12"}, "has 2 planes"),
        ((np.zeros((5, 5), np.uint8), np.zeros((2, 2, 2), np.uint8)), {"format": "nv12"}, r"\[3, 3, 2\]"),
        (np.zeros((4, 4, 3), np.uint8), {"format": "yuy2"}, "no format"),
        (np.zeros((4, 4, 3), np.uint8), {"matrix": "bt2020"}, "no matrix"),
        (np.zeros((4, 4, 3), np.uint8), {"mean": (1, 2, 3, 4, 5)}, "each of 3 or 4, not 5"),
        (np.zeros((4, 4, 3), np.uint8), {"scale": (1, 2)}, "scale takes one number for all channels"),
        (np.zeros((4, 4, 3), np.uint8), {"mean": []}, "not 0"),
        (np.zeros((4, 4, 3), np.uint8), {"crop": (0, 0, 2)}, "crop takes four numbers"),
        (np.zeros((4, 4, 3), np.uint8), {"crop": 2}, "crop takes four numbers"),
        (np.zeros((4, 4, 3), np.uint8), {"crop": (0, 0, 2**40, 2)}, "crop takes numbers from -2147483648"),
        (np.zeros((4, 4, 3), np.uint8), {"rotation": 2**40}, "rotation takes numbers"),
        (hearth.DmaBuf(3, 2**40, 8), {}, "width takes numbers"),
        (hearth.DmaBuf(3, 8, 8, -1), {}, "modifier takes numbers"),
        (hearth.DmaBuf([(3, 2**70, 8)], 8, 8), {}, "a plane takes numbers"),
    ],
)
def test_what_is_no_picture_is_a_value_error(pixels, options, error):
    with pytest.raises(ValueError, match=error):
        hearth.Frame(pixels, **options)


def test_what_the_session_cannot_take_is_an_error():
    with pytest.raises(TypeError, match="uint8, not float32"):
        hearth.Frame(np.zeros((4, 4, 3), np.float32))
    for options in ({"crop": (0.0, 0, 2, 2)}, {"crop": np.zeros(4)}, {"rotation": 90.0}):
        with pytest.raises(TypeError, match="takes whole numbers, not"):
            hearth.Frame(np.zeros((4, 4, 3), np.uint8), **options)
    # Of a crop only four zeros are the whole picture.
    for options in ({"rotation": 45}, {"crop": (2, 2, 3, 3)}, {"crop": (1, 0, 0, 0)}, {"crop": (0, 0, 0, 1)}):
        with pytest.raises(hearth.Error, match="'x'"):
            session(4, 4).run(hearth.Frame(np.zeros((4, 4, 3), np.uint8), **options))


def test_the_best_of_many_scores_are_asked_for_in_three_ways_and_maps_stay_as_they_are(demo):
    path, x, _ = demo
    with hearth.Session(path, **CPU) as whole:
        expected = whole.run(x.reshape(whole.inputs[0].shape))
    for model in (path, path.read_bytes(), hearth.Model(path, top_k=2)):
        options = {} if isinstance(model, hearth.Model) else {"top_k": 2}
        with hearth.Session(model, **options, **CPU) as best:
            outputs = best.run(x.reshape(best.inputs[0].shape))
        assert len(outputs) == len(expected) and np.array_equal(outputs[0], expected[0])
    with pytest.raises(hearth.Error, match="top_k is -1"):
        hearth.Model(path, top_k=-1)

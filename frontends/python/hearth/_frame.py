"""Pictures of cameras and decoders as inputs: the device converts, crops, rotates and resizes them."""

import dataclasses
import operator
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np

from hearth import _hearth

_FORMATS = ("rgba8", "bgra8", "rgb8", "nv12", "nv21", "i420")
_CHANNELS = {"rgba8": 4, "bgra8": 4, "rgb8": 3, "bgr8": 3}

_INT32 = range(-(2**31), 2**31)
_UINT64 = range(2**64)

PerChannel = Union[float, Sequence[float]]


@dataclasses.dataclass(frozen=True)
class DmaBuf:
    """A picture in a dma-buf, for Frame in place of arrays.

    `planes`: a file descriptor, if the planes follow each other tightly packed, or (descriptor, offset, row pitch) for
    each plane; a descriptor is a number or an object with fileno(). `modifier`: the DRM format modifier that the producer
    reports; 0 is linear. The descriptors must stay open until the run is submitted.
    """

    planes: Any
    width: int
    height: int
    modifier: int = 0


class Frame:
    """A picture for Session.run, submit and run_later in place of an array.

    Pixels become RGB; then `crop` is cut out, rotated clockwise by `rotation` degrees, mirrored, and resized bilinearly to
    the input's height and width. The input is (value - mean) * scale by channel, with values 0 to 255. An input has 1
    (grey), 3 (RGB) or 4 channels (RGB and alpha). Results are equal to the bit on every device. Arrays are read when the
    run is submitted.
    """

    def __init__(
        self,
        pixels: Any,
        format: str = "rgb8",  # noqa: A002
        *,
        crop: Tuple[int, int, int, int] = (0, 0, 0, 0),
        rotation: int = 0,
        flip_horizontally: bool = False,
        flip_vertically: bool = False,
        matrix: str = "bt601",
        full_range: bool = False,
        mean: PerChannel = 0.0,
        scale: PerChannel = 1.0,
        std: Optional[PerChannel] = None,
        raw_bytes: bool = True,
    ):
        """A frame of uint8 arrays, whose rows may have a pitch, as in a part of a larger array.

        "rgba8", "bgra8", "rgb8": an array [height, width, channels]; "bgr8", OpenCV's order, too: copied as "rgb8" here.
        "nv12", "nv21": a pair of arrays, Y [height, width] and [height / 2, width / 2, 2], rounded up. "i420": three, Y, U
        and V. These also as one array [height * 3 / 2, width] with even height and width. Or a DmaBuf of any format but
        bgr8. `crop`: x, y, width, height; four zeros: all. `matrix`: "bt601" or "bt709"; `full_range`: Y from 0 to 255, else
        16 to 235. `mean`, `scale`: one number for all channels, or one per channel; `std`, as metadata() has it, in place of
        `scale`: 1 / scale. `raw_bytes`: 8-bit inputs are the values themselves (int8: minus 128); False: the scaled values,
        rounded to the input's grid.
        """
        if format not in (*_FORMATS, "bgr8"):
            raise ValueError(f"there is no format {format!r}; there are {', '.join(_FORMATS)}, bgr8")
        if matrix not in ("bt601", "bt709"):
            raise ValueError(f"there is no matrix {matrix!r}; there are bt601 and bt709")
        is_dma_buf = isinstance(pixels, DmaBuf)
        if format == "bgr8":
            if is_dma_buf:
                raise ValueError(f"a DmaBuf has a format of {', '.join(_FORMATS)}: bgr8 is for arrays")
            pixels, format = _planes(pixels, format)[0][:, :, ::-1], "rgb8"  # noqa: A001
        if is_dma_buf:
            height, width = (_whole_number(getattr(pixels, side), side, _INT32) for side in ("height", "width"))
            places = _dma_buf_places(pixels)
        else:
            self._planes = _planes(pixels, format)  # alive as long as the frame
            height, width = self._planes[0].shape[:2]
            places = [_place(plane) for plane in self._planes]
        self._native = _hearth.Frame(
            _FORMATS.index(format),
            width,
            height,
            places,
            _rectangle(crop),
            _whole_number(rotation, "rotation", _INT32),
            (bool(flip_horizontally), bool(flip_vertically)),
            matrix == "bt709",
            bool(full_range),
            _by_channel(mean, "mean", 0.0),
            _by_channel(scale, "scale", 1.0) if std is None else _scale_of(std, scale),
            bool(raw_bytes),
            is_dma_buf,
            _whole_number(pixels.modifier, "modifier", _UINT64) if is_dma_buf else 0,
        )


def _planes(pixels: Any, format: str) -> List[np.ndarray]:  # noqa: A002
    if format in _CHANNELS:
        return [_checked(pixels, f"{format} pixels", (None, None, _CHANNELS[format]))]
    if isinstance(pixels, (tuple, list)):
        planes = list(pixels)
    else:
        planes = _split(_checked(pixels, f"{format} pixels", (None, None)), format)
    wanted = 3 if format == "i420" else 2
    if len(planes) != wanted:
        raise ValueError(f"{format} has {wanted} planes, {len(planes)} were given")
    luma = _checked(planes[0], f"{format} plane 0", (None, None))
    half = ((luma.shape[0] + 1) // 2, (luma.shape[1] + 1) // 2)
    shape = half if format == "i420" else (*half, 2)
    return [luma, *(_checked(plane, f"{format} plane {k + 1}", shape) for k, plane in enumerate(planes[1:]))]


def _split(pixels: np.ndarray, format: str) -> List[np.ndarray]:  # noqa: A002
    """The planes of one array, as OpenCV has them."""
    height, width = pixels.shape[0] * 2 // 3, pixels.shape[1]
    if pixels.shape[0] % 3 != 0 or height % 2 != 0 or width % 2 != 0:
        raise ValueError(f"{format} in one array is [height * 3 / 2, width] of even height and width, not {pixels.shape}")
    luma, rest = pixels[:height], np.ascontiguousarray(pixels[height:])
    if format == "i420":
        return [luma, *rest.reshape(2, height // 2, width // 2)]
    return [luma, rest.reshape(height // 2, width // 2, 2)]


def _checked(pixels: Any, what: str, shape: Sequence[Any]) -> np.ndarray:
    """The array with adjacent pixels and ascending rows; a copy if it lies otherwise."""
    array = np.asarray(pixels)
    if array.dtype != np.uint8:
        raise TypeError(f"{what} are uint8, not {array.dtype}")
    fits = array.ndim == len(shape) and all(size in (None, has) for size, has in zip(shape, array.shape))
    if not fits or 0 in array.shape:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"{what} have the shape [{wanted}], not {array.shape}")
    row = np.ascontiguousarray(array[:1])
    in_order = array.strides[1:] == row.strides[1:] and array.strides[0] >= row.nbytes
    return array if in_order else np.ascontiguousarray(array)


def _place(plane: np.ndarray) -> Tuple[int, int, int, int]:
    """Address, size in bytes, offset and row pitch."""
    row_bytes = int(np.prod(plane.shape[1:]))
    pitch = plane.strides[0] if plane.shape[0] > 1 else row_bytes
    return plane.__array_interface__["data"][0], pitch * (plane.shape[0] - 1) + row_bytes, 0, pitch


def _dma_buf_places(memory: DmaBuf) -> List[Tuple[int, int, int, int]]:
    """Descriptor, 0 for a size that the descriptor knows, offset and row pitch."""
    planes = memory.planes if isinstance(memory.planes, (tuple, list)) else [(memory.planes, 0, 0)]
    if not 1 <= len(planes) <= 3:
        raise ValueError(f"a dma-buf has 1 to 3 planes, not {len(planes)}")
    places = []
    for descriptor, offset, pitch in planes:
        number = descriptor.fileno() if hasattr(descriptor, "fileno") else int(descriptor)
        if number < 1 or offset < 0 or pitch < 0:
            raise ValueError(f"no plane of a dma-buf: descriptor {number}, offset {offset}, row pitch {pitch}")
        place = [_whole_number(value, "a plane", _UINT64) for value in (number, offset, pitch)]
        places.append((place[0], 0, place[1], place[2]))
    return places


def _whole_number(value: Any, what: str, among: range) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} takes whole numbers, not {value!r}") from None
    if number not in among:
        raise ValueError(f"{what} takes numbers from {among[0]} to {among[-1]}, not {number}")
    return number


def _rectangle(crop: Sequence[int]) -> Tuple[int, int, int, int]:
    numbers = tuple(crop) if np.iterable(crop) else ()
    if len(numbers) != 4:
        raise ValueError(f"crop takes four numbers, x, y, width and height, not {crop!r}")
    x, y, width, height = (_whole_number(number, "crop", _INT32) for number in numbers)
    return x, y, width, height


def _by_channel(value: PerChannel, what: str, rest: float) -> List[float]:
    values = [float(number) for number in np.atleast_1d(value)]
    if len(values) == 1:
        return values * 4
    if len(values) not in (3, 4):
        raise ValueError(f"{what} takes one number for all channels, or one for each of 3 or 4, not {len(values)}")
    return values + [rest] * (4 - len(values))


def _scale_of(std: PerChannel, scale: PerChannel) -> List[float]:
    divisors = _by_channel(std, "std", 1.0)
    if np.any(np.atleast_1d(scale) != 1.0):
        raise ValueError(f"std and scale were given: scale is 1 / std, so leave one out ({std!r}, {scale!r})")
    if not np.all(divisors):
        raise ValueError(f"std: {std!r} has a 0, by which nothing is divided")
    if not np.all(np.isfinite(divisors)):
        raise ValueError(f"std: {std!r} has a number that is not finite")
    return [1.0 / number for number in divisors]

"""What a model's outputs mean: classes, boxes, key points, masks, pictures."""

from typing import List, NamedTuple, Optional, Tuple

import numpy as np

from hearth import _hearth


class ScoredClass(NamedTuple):
    index: int
    label: str
    """Empty if there is none."""
    score: float


class KeyPoint(NamedTuple):
    """`x` and `y`: fractions of the picture's width and height, from its upper left corner."""

    name: str
    x: float
    y: float
    score: float


class Box(NamedTuple):
    """Edges are fractions of the picture's width and height, from its upper left corner."""

    index: int
    label: str
    score: float
    left: float
    top: float
    right: float
    bottom: float
    points: Tuple[KeyPoint, ...]
    """Of a face, palm or pose, or the corners of a rotated box, which the edges hold."""


class KeyPoints(NamedTuple):
    kind: str
    """"body", "hand", "face", or empty."""
    score: float
    """That there is an object at all."""
    points: Tuple[KeyPoint, ...]


class ClassArea(NamedTuple):
    index: int
    label: str
    share: float
    """Of all pixels."""


class Result:
    """An output, or several that belong together; hearth.Session.interpret makes it."""

    def __init__(self, native: "_hearth.Result"):
        self._native = native
        self.meaning: str = native.meaning
        """"classes", "boxes", "keypoints", "mask", "class-map", "image" or "none"."""
        self.reason: str = native.reason
        """Why it means that, or what else it could be."""
        self.outputs: Tuple[int, ...] = tuple(native.outputs)
        """Indices of its outputs; the first stands for them all."""
        self.classes: List[ScoredClass] = [ScoredClass(*row) for row in native.classes]
        """The highest scores."""
        self.boxes: List[Box] = [Box(*row[:-1], tuple(KeyPoint(*point) for point in row[-1])) for row in native.boxes]
        """The highest scores first."""
        self.areas: List[ClassArea] = [ClassArea(*row) for row in native.areas]
        """The classes in a class map, the largest first."""

    @property
    def keypoints(self) -> Optional[KeyPoints]:
        if self.meaning != "keypoints":
            return None
        points = tuple(KeyPoint(*point) for point in self._native.points)
        return KeyPoints(self._native.kind, self._native.points_score, points)

    @property
    def mask(self) -> Optional[np.ndarray]:
        """float32[height, width]: the foreground's probability."""
        return self._map() if self.meaning == "mask" else None

    @property
    def class_map(self) -> Optional[np.ndarray]:
        """int32[height, width]: the class of each pixel."""
        return self._map().astype(np.int32) if self.meaning == "class-map" else None

    @property
    def instances(self) -> Optional[np.ndarray]:
        """int32[height, width] of boxes with masks: 1 + the index of the box that a pixel belongs to, 0 for none."""
        has_masks = self.meaning == "boxes" and self._native.map[0] > 0
        return self._map().astype(np.int32) if has_masks else None

    def draw(self, picture: Optional[np.ndarray] = None) -> np.ndarray:
        """uint8[height, width, 3]: the result over or beside `picture`, RGB bytes of that form, else over black."""
        if picture is None:
            height, width, drawn = self._native.draw(None, 0, 0)
        else:
            array = np.asarray(picture)
            if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3:
                raise ValueError(f"a picture is uint8[height, width, 3], this is {array.dtype}{list(array.shape)}")
            height, width, drawn = self._native.draw(np.ascontiguousarray(array), array.shape[0], array.shape[1])
        return np.frombuffer(drawn, np.uint8).reshape(height, width, 3)

    def __repr__(self) -> str:
        return f"<hearth.Result: {self.meaning} of outputs {list(self.outputs)} ({self.reason})>"

    def _map(self) -> np.ndarray:
        height, width, values = self._native.map
        return np.frombuffer(values, np.float32).reshape(height, width)

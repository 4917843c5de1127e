"""Draws pictures of simple shapes together with the class of every pixel.

A scene is a value that does not depend on the picture's size: lengths are fractions of the width, so one scene gives
the same content at 96 and at 384 pixels. Shapes are signed distances, which gives smooth edges without supersampling.
"""

import dataclasses

import numpy as np

GRAIN_SIZE = 96  # noise cells along one side; a picture's size is a multiple of it


def circle_distance(x, y, radius):
    return np.hypot(x, y) - radius


def square_distance(x, y, radius):
    return np.maximum(np.abs(x), np.abs(y)) - 0.82 * radius


def triangle_distance(x, y, radius):
    normals_rad = np.pi * (1 / 2 + np.array([0, 2, 4]) / 3)
    return np.max([np.cos(a) * x + np.sin(a) * y for a in normals_rad], axis=0) - 0.6 * radius


def star_distance(x, y, radius):
    """Five points; the plane is folded onto one half of one point, which a single edge bounds."""
    half_point_rad = np.pi / 5
    angle_rad = np.abs((np.arctan2(y, x) + half_point_rad) % (2 * half_point_rad) - half_point_rad)
    tip = np.array([1.15 * radius, 0.0])
    notch = 0.48 * radius * np.array([np.cos(half_point_rad), np.sin(half_point_rad)])
    edge = (notch - tip) / np.hypot(*(notch - tip))
    distance = np.hypot(x, y)
    return edge[1] * (distance * np.cos(angle_rad) - tip[0]) - edge[0] * distance * np.sin(angle_rad)


def ring_distance(x, y, radius):
    return np.abs(np.hypot(x, y) - 0.76 * radius) - 0.24 * radius


SHAPES = {
    "circle": circle_distance,
    "square": square_distance,
    "triangle": triangle_distance,
    "star": star_distance,
    "ring": ring_distance,
}
CLASS_NAMES = ["background", *SHAPES]


@dataclasses.dataclass(frozen=True)
class Shape:
    """One coloured shape; `kind` is a key of SHAPES, colours are RGB from 0 to 255."""

    kind: str
    center: np.ndarray
    radius: float
    angle_rad: float
    color: np.ndarray
    shade: float


@dataclasses.dataclass(frozen=True)
class Scene:
    """Shapes, the last one in front, over a gradient between four corner colours, with noise over all."""

    corner_colors: np.ndarray
    shapes: list
    grain: np.ndarray


def random_scene(rng, kinds=None):
    """A scene of two to five random shapes, or of one shape for each of `kinds`."""
    if kinds is None:
        kinds = rng.choice(list(SHAPES), size=rng.integers(2, 6))
    corner_colors = rng.uniform(0, 255, size=3) + rng.normal(0, 35, size=(2, 2, 3))
    shapes = []
    for kind in kinds:
        center, radius = _free_place(rng, shapes)
        color = _contrasting_color(rng, corner_colors.mean(axis=(0, 1)))
        shapes.append(Shape(kind, center, radius, rng.uniform(0, 2 * np.pi), color, rng.uniform(-0.25, 0.25)))
    grain = rng.normal(0, rng.uniform(2, 14), size=(GRAIN_SIZE, GRAIN_SIZE, 1))
    grain = grain + rng.normal(0, rng.uniform(0, 6), size=(GRAIN_SIZE, GRAIN_SIZE, 3))
    return Scene(corner_colors, shapes, grain)


def _free_place(rng, shapes):
    """A centre and a radius whose shape covers the others at most in part."""
    for _ in range(50):
        radius = rng.uniform(0.09, 0.22)
        center = rng.uniform(0.6 * radius, 1 - 0.6 * radius, size=2)
        if all(np.hypot(*(center - other.center)) > 0.85 * (radius + other.radius) for other in shapes):
            break
    return center, radius


def _contrasting_color(rng, background_color):
    """A colour that differs clearly from the background's in at least one channel."""
    while True:
        color = rng.uniform(0, 255, size=3)
        if np.abs(color - background_color).max() > 70:
            return color


def render(scene, size_px):
    """Returns the picture, uint8 [size, size, 3], and the class of each pixel, uint8 [size, size]."""
    ramp = (np.arange(size_px, dtype=np.float32) + 0.5) / size_px
    x, y = np.meshgrid(ramp, ramp)
    picture = _blend_corners(scene.corner_colors, x, y)
    classes = np.zeros((size_px, size_px), np.uint8)
    for shape in scene.shapes:
        dx, dy = x - shape.center[0], y - shape.center[1]
        cos, sin = np.cos(shape.angle_rad), np.sin(shape.angle_rad)
        distance = SHAPES[shape.kind](cos * dx + sin * dy, cos * dy - sin * dx, shape.radius)
        coverage = np.clip(0.5 - distance * size_px, 0, 1)[..., None]
        shading = 1 + shape.shade * (dx + dy)[..., None] / shape.radius
        picture += coverage * (shape.color * shading - picture)
        classes[distance < 0] = CLASS_NAMES.index(shape.kind)
    cell_px = size_px // GRAIN_SIZE
    picture += scene.grain.repeat(cell_px, axis=0).repeat(cell_px, axis=1)
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8), classes


def _blend_corners(corner_colors, x, y):
    x, y = x[..., None], y[..., None]
    top = corner_colors[0, 0] * (1 - x) + corner_colors[0, 1] * x
    bottom = corner_colors[1, 0] * (1 - x) + corner_colors[1, 1] * x
    return top * (1 - y) + bottom * y


def render_many(seed, count, size_px):
    """Returns `count` pictures and their class maps, each stacked along the first axis."""
    rng = np.random.default_rng(seed)
    pictures, classes = zip(*(render(random_scene(rng), size_px) for _ in range(count)))
    return np.stack(pictures), np.stack(classes)

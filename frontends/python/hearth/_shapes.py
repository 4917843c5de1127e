"""Checks shapes for Hearth."""

import operator
from typing import Any, Dict, List, Mapping, Optional, Sequence

Shapes = Mapping[str, Sequence[int]]


def whole_size(value: Any, role: str) -> int:
    """A dimension for Hearth. TypeError if it is no whole number, ValueError beyond 32 bits."""
    try:
        size = operator.index(value)
    except TypeError:
        raise TypeError(f"{role}: {value!r} is not a whole number") from None
    if not -(2**31) <= size < 2**31:
        raise ValueError(f"{role}: {size} is too large; a dimension is at most {2**31 - 1}")
    return size


def shape_list(shape: Sequence[int], role: str) -> List[int]:
    if isinstance(shape, str) or not hasattr(shape, "__iter__"):
        raise TypeError(f"{role}: {shape!r} is not a sequence of whole numbers")
    return [whole_size(size, role) for size in shape]


def shape_lists(shapes: Optional[Shapes]) -> Dict[str, List[int]]:
    return {name: shape_list(shape, f"shape of {name!r}") for name, shape in (shapes or {}).items()}

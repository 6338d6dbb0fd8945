"""Arithmetic that scores share, with Go's integers: truncating division, halves away from zero."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from podium.framework.plugin import Scores

Ints = TypeVar("Ints", int, NDArray[np.int64])


def uniform(value: int, count: int) -> Scores:
    """Return the same score for so many nodes, as a read-only array that takes no memory."""
    return repeated(value, np.int64)[:count]


@lru_cache(maxsize=512)
def repeated(value: int, kind: type[np.generic]) -> NDArray[Any]:
    """Return an array of one value that is stored once: longer than any view of nodes."""
    return np.broadcast_to(np.array(value, kind), (1 << 31,))


def uniform_value(scores: NDArray[Any]) -> int | None:
    """Return the score that all nodes have, of an array that ``uniform`` made."""
    return int(scores.item(0)) if not scores.strides[0] and len(scores) else None


def zeros(count: int) -> Scores:
    """Return 0 for so many nodes."""
    return uniform(0, count)


def idiv(numerator: Ints, denominator: Any) -> Ints:
    """Division truncated toward zero, for one number or an array; ``denominator`` is positive."""
    if isinstance(numerator, int):
        quotient: int = abs(numerator) // denominator
        return quotient if numerator >= 0 else -quotient
    floor: NDArray[np.int64] = numerator // denominator
    if numerator.min(initial=0) >= 0:  # the usual case, at a third less
        return floor
    floored: NDArray[np.bool_] = (numerator < 0) & (floor * denominator != numerator)
    return floor + floored


def round_half_away(value: Any) -> Any:
    """The nearest integer of a number or array that is not negative; halves go up."""
    return np.floor(value + 0.5)


def scale(scores: Scores, *, reverse: bool = False, top: int = 100) -> Scores:
    """The default normaliser: the highest becomes ``top``; reversed, the lowest count wins.

    With nothing to tell nodes apart, all are 0, or all at the top when reversed.
    """
    if uniform_value(scores) == 0:
        return uniform(top, len(scores)) if reverse else scores
    highest = int(scores.max(initial=0))
    if highest == 0:
        return np.full_like(scores, top) if reverse else scores
    scaled = idiv(scores * top, highest)
    return top - scaled if reverse else scaled

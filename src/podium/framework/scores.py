"""Scores of nodes: the check of what plugins return, and the arithmetic that plugins share.

The arithmetic is that of Go's integers: division truncates, and halves are rounded away from zero.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from operator import index
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.int64]
Ints = TypeVar("Ints", int, NDArray[np.int64])


def as_score(answer: object) -> int:
    """Check a plugin's score of one node; a fraction is refused, not cut off."""
    try:
        score = index(answer)  # type: ignore[arg-type]  # raises for what is not a whole number
    except TypeError:
        score = None
    if score is None or isinstance(answer, bool):
        raise TypeError(f"expected a whole number as score, got {answer!r}")
    if not -(2**63) <= score < 2**63:
        raise ValueError(f"expected a score from 0 to 100, got {answer!r}: it exceeds 64 bits")
    return score


def as_score_array(answers: list[Any]) -> Scores:
    """Return what a plugin answered for each node; what is not a whole number is refused."""
    try:
        # Takes what as_score takes, and booleans, in a quarter of numpy's time.
        scores = array("q", answers)
    except (TypeError, OverflowError):
        scores = None
    if scores is None or bool in map(type, answers):
        return np.fromiter(map(as_score, answers), np.int64, count=len(answers))
    return np.frombuffer(scores, np.int64) if answers else np.zeros(0, np.int64)


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

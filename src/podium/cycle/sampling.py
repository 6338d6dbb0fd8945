"""How many feasible nodes are enough, when a configuration asks for fewer than all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_ALWAYS_ALL = 100
_ADAPTIVE_TOP = 50
_ADAPTIVE_LEAST = 5


class NodeWalk:
    """Where the next walk over a sample of the nodes starts; all profiles share it, as upstream."""

    __slots__ = ("start",)

    def __init__(self) -> None:
        self.start = 0


def nodes_to_find(candidates: int, percentage: int | None) -> int:
    """Upstream's number for an explicit percentage (0: adaptive); ``None`` means all nodes."""
    if percentage is None or candidates < _ALWAYS_ALL:
        return candidates
    if percentage == 0:
        percentage = max(_ADAPTIVE_LEAST, _ADAPTIVE_TOP - candidates // 125)
    return max(_ALWAYS_ALL, candidates * percentage // 100)


def take_first(
    in_order: NDArray[np.intp], is_feasible: NDArray[np.bool_], start: int, enough: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Walk the nodes from ``start`` until one more than enough are feasible.

    Returns the feasible rows that count (ascending), and the rows seen on the way; the surplus
    node is in neither.
    """
    walk = np.roll(in_order, -start)
    found = np.cumsum(is_feasible[walk])
    end = int(np.searchsorted(found, enough + 1)) if found[-1] > enough else len(walk)
    seen = walk[:end]
    return np.sort(seen[is_feasible[seen]]), seen

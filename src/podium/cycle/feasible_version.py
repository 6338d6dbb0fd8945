"""Which rows are feasible for a kind of pod, told apart by number: what scores are kept for."""

from __future__ import annotations

from typing import NamedTuple


class FeasibleVersion(NamedTuple):
    """Which set of feasible rows this is, among those of one kind of pod; and since when rows have
    only left it. A negative number is a set that nobody keeps track of."""

    number: int
    grown_at: int


UNTRACKED = FeasibleVersion(-1, -1)

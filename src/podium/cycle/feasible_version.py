"""Numbers for the sets of feasible rows that a class of pods had: what scores are kept for."""

from __future__ import annotations

from typing import NamedTuple


class FeasibleVersion(NamedTuple):
    """The number of a set of feasible rows, among those that one class of pods had.

    ``grown_at`` is the number of the last set that had a row more than the one before it. A
    negative number stands for a set that is not tracked.
    """

    number: int
    grown_at: int


UNTRACKED = FeasibleVersion(-1, -1)

"""Counts by row, summed over the domains of one label and kept up to date."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podium.state.label_columns import LabelColumn


class DomainSums:
    """``sums`` has a place for each of the label's values, and the last for rows without it."""

    __slots__ = ("places", "sums")

    def __init__(self, label: LabelColumn, counts: NDArray[np.int64]) -> None:
        self.places = label.places(len(counts))
        sums = np.bincount(self.places, weights=counts, minlength=len(label.values) + 1)
        self.sums: NDArray[np.int64] = sums.astype(np.int64)

    def add(self, row: int, amount: int) -> None:
        if row < len(self.places):  # beyond: rows have come since, and so ``stands_for`` is false
            self.sums[self.places.item(row)] += amount

    def stands_for(self, label: LabelColumn, size: int) -> bool:
        """Whether no label of these rows has changed since the sums were made."""
        return self.places is label.places(size)

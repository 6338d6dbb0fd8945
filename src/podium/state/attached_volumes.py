"""How many distinct CSI volumes are on each row, by driver.

A volume is on a row because pods there use it, or because a VolumeAttachment says so; either way,
and however often, it counts once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podium.api.csi_migration import VolumeId
from podium.state.column import grown, read_only
from podium.state.row_counts import RowCounts

_NOWHERE = RowCounts()


class AttachedVolumes:
    """Two tallies of volumes by row, and the counts of their union."""

    def __init__(self) -> None:
        self._used: dict[VolumeId, RowCounts] = {}  # by volumes of placed pods
        self._attached: dict[VolumeId, RowCounts] = {}  # by VolumeAttachments
        self._counts: dict[str, NDArray[np.int64]] = {}  # by driver
        self._capacity = 0

    def grow(self, capacity: int) -> None:
        self._capacity = capacity
        self._counts = {name: grown(counts, capacity, 0) for name, counts in self._counts.items()}

    def use(self, volume: VolumeId, row: int, amount: int) -> None:
        """Volumes of pods on this row use it, so many more or fewer."""
        self._change(self._used, volume, row, amount)

    def attach(self, volume: VolumeId, row: int, amount: int) -> None:
        """VolumeAttachments name it, so many more or fewer."""
        self._change(self._attached, volume, row, amount)

    def counts(self, driver: str) -> NDArray[np.int64]:
        """Return the driver's distinct volumes, by row. Read-only."""
        return read_only(self._own_counts(driver))

    def _own_counts(self, driver: str) -> NDArray[np.int64]:
        counts = self._counts.get(driver)
        if counts is None:
            counts = self._counts[driver] = np.zeros(self._capacity, np.int64)
        return counts

    def users(self, volume: VolumeId) -> RowCounts:
        """How many volumes of pods on each row are this one. Do not change it."""
        return self._used.get(volume, _NOWHERE)

    def is_used(self, volume: VolumeId) -> bool:
        """Whether any placed pod uses it."""
        return volume in self._used

    def is_attached(self, volume: VolumeId, row: int) -> bool:
        """Whether a VolumeAttachment has it on this row."""
        return bool(self._attached.get(volume, _NOWHERE).at(row))

    def tallies(self) -> tuple[dict[VolumeId, dict[int, int]], ...]:
        """Everything counted, for comparing: the uses, then the attachments."""
        return tuple(
            {volume: rows.items() for volume, rows in tally.items()}
            for tally in (self._used, self._attached)
        )

    def check(self) -> None:
        """Raise ``AssertionError`` when counts are not those of the union."""
        for driver, counts in self._counts.items():
            expected = np.zeros_like(counts)
            for volume in {*self._used, *self._attached}:
                if volume.driver == driver:
                    rows = {*self.users(volume).items()}
                    rows |= {*self._attached.get(volume, _NOWHERE).items()}
                    expected[list(rows)] += 1
            assert np.array_equal(expected, counts), f"volumes of {driver} are off"

    def _change(
        self, tally: dict[VolumeId, RowCounts], volume: VolumeId, row: int, amount: int
    ) -> None:
        was_there = self._is_on(volume, row)
        rows = tally.get(volume)
        if rows is None:
            rows = tally[volume] = RowCounts()
        rows.add(row, amount)
        if not rows.total:
            del tally[volume]
        self._own_counts(volume.driver)[row] += self._is_on(volume, row) - was_there

    def _is_on(self, volume: VolumeId, row: int) -> bool:
        return bool(self.users(volume).at(row)) or self.is_attached(volume, row)

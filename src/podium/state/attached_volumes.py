"""How many distinct CSI volumes are on each row, by driver.

A volume is on a row if pods there use it or if a VolumeAttachment names it. However many pods and
attachments there are, it counts once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from podium.api.csi_migration import VolumeId
from podium.state.column import grown, read_only
from podium.state.row_counts import RowCounts

_NO_ROWS = RowCounts()


class AttachedVolumes:
    """Uses and attachments of volumes by row, and how many distinct volumes that makes.

    Invariants: a volume without any use is not in ``_used``, one without any attachment not in
    ``_attached``. ``_counts[driver][row]`` is the number of the driver's volumes that ``_used`` or
    ``_attached`` has on that row; only ``_change`` writes it. ``_shown`` has read-only views of the
    counts.
    """

    def __init__(self) -> None:
        self._used: dict[VolumeId, RowCounts] = {}  # how many volumes of placed pods name it
        self._attached: dict[VolumeId, RowCounts] = {}  # how many VolumeAttachments name it
        self._counts: dict[str, NDArray[np.int64]] = {}  # by driver
        self._shown: dict[str, NDArray[np.int64]] = {}
        self._capacity = 0

    def grow(self, capacity: int) -> None:
        self._capacity = capacity
        self._counts = {name: grown(counts, capacity, 0) for name, counts in self._counts.items()}
        self._shown.clear()

    def use(self, volume: VolumeId, row: int, amount: int) -> None:
        """Change by ``amount`` how many volumes of pods on this row are this volume."""
        self._change(self._used, volume, row, amount)

    def attach(self, volume: VolumeId, row: int, amount: int) -> None:
        """Change by ``amount`` how many VolumeAttachments have the volume on this row."""
        self._change(self._attached, volume, row, amount)

    def counts(self, driver: str) -> NDArray[np.int64]:
        """Return how many distinct volumes of the driver are on each row. Read-only."""
        shown = self._shown.get(driver)
        if shown is None:
            shown = self._shown[driver] = read_only(self._writable_counts(driver))
        return shown

    def _writable_counts(self, driver: str) -> NDArray[np.int64]:
        counts = self._counts.get(driver)
        if counts is None:
            counts = self._counts[driver] = np.zeros(self._capacity, np.int64)
        return counts

    def users(self, volume: VolumeId) -> RowCounts:
        """Return how many volumes of pods on each row are this volume. Do not change the result."""
        return self._used.get(volume, _NO_ROWS)

    def is_used(self, volume: VolumeId) -> bool:
        """Return whether any placed pod uses the volume."""
        return volume in self._used

    def is_attached(self, volume: VolumeId, row: int) -> bool:
        """Return whether a VolumeAttachment has the volume on this row."""
        return bool(self._attached.get(volume, _NO_ROWS).at(row))

    def tallies(self) -> tuple[dict[VolumeId, dict[int, int]], ...]:
        """Return all counts for ``check_invariants``: the uses, then the attachments."""
        return tuple(
            {volume: rows.items() for volume, rows in tally.items()}
            for tally in (self._used, self._attached)
        )

    def check(self) -> None:
        """Raise ``AssertionError`` when counts differ from the uses and attachments."""
        for driver, counts in self._counts.items():
            expected = np.zeros_like(counts)
            for volume in {*self._used, *self._attached}:
                if volume.driver == driver:
                    rows = {*self.users(volume).items()}
                    rows |= {*self._attached.get(volume, _NO_ROWS).items()}
                    expected[list(rows)] += 1
            assert np.array_equal(expected, counts), f"volumes of {driver} are wrong"

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
        self._writable_counts(volume.driver)[row] += self._is_on(volume, row) - was_there

    def _is_on(self, volume: VolumeId, row: int) -> bool:
        return bool(self.users(volume).at(row)) or self.is_attached(volume, row)

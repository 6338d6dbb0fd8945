"""The disks that placed pods name directly, with the rows where they stand.

Only disks that pods may have to keep to themselves; a disk is found by what makes it the same one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from podium.api.disks import Disk, disk_name, disks_of
from podium.api.objects import Volume
from podium.state.row_counts import RowCounts


class DiskUses:
    """Rows by disk, as written; disks that may be the same one are kept together."""

    def __init__(self) -> None:
        self._uses: dict[Hashable, dict[Disk, RowCounts]] = {}

    def change(self, volumes: Iterable[Volume], row: int, amount: int) -> None:
        """Count the disks among these volumes in (+1) or out (-1)."""
        for disk in disks_of(volumes):
            alike = self._uses.setdefault(disk_name(disk), {})
            rows = alike.get(disk)
            if rows is None:
                rows = alike[disk] = RowCounts()
            rows.add(row, amount)
            if not rows.total:
                del alike[disk]
                if not alike:
                    del self._uses[disk_name(disk)]

    def alike(self, disk: Disk) -> Iterable[tuple[Disk, RowCounts]]:
        """The disks of placed pods with the same name, however written, and their rows."""
        return self._uses.get(disk_name(disk), {}).items()

    def tally(self) -> dict[Disk, dict[int, int]]:
        """Everything counted, for comparing."""
        return {d: rows.items() for alike in self._uses.values() for d, rows in alike.items()}

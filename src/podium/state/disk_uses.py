"""The disks that placed pods name in their specs, with the rows of those pods.

Only kinds of disks that pods may not be able to share are kept.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from podium.api.disks import Disk, disk_name, disks_of
from podium.api.objects import Volume
from podium.state.row_counts import RowCounts


class DiskUses:
    """Rows by disk. Disks with the same ``disk_name`` may be one disk and are kept together.

    Invariant: there is no entry for a disk or a name that no placed pod uses.
    """

    def __init__(self) -> None:
        self._uses: dict[Hashable, dict[Disk, RowCounts]] = {}

    def change(self, volumes: Iterable[Volume], row: int, amount: int) -> None:
        """Add (+1) or subtract (-1) the disks among these volumes of a pod on this row."""
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
        """Return the disks of placed pods with the same ``disk_name``, and their rows."""
        return self._uses.get(disk_name(disk), {}).items()

    def tally(self) -> dict[Disk, dict[int, int]]:
        """Return all counts, for ``check_invariants``."""
        return {d: rows.items() for alike in self._uses.values() for d, rows in alike.items()}

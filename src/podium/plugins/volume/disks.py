"""Disks that pods name directly: when two pods on one node cannot both have theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from podium.api.disks import Disk, disk_name, disks_of
from podium.api.objects import RBD, AWSElasticBlockStore, Volume
from podium.framework.cluster_view import DiskUsers, RowCounts


def standing_rivals(disks: Iterable[Disk], uses: DiskUsers) -> Iterator[RowCounts]:
    """Where disks of placed pods stand that the owner of these disks cannot share."""
    for mine in disks:
        for theirs, rows in uses.alike(mine):
            if excludes(mine, theirs):
                yield rows


def count_rivals(disks: Iterable[Disk], volumes: Iterable[Volume]) -> int:
    """How many of these volumes are disks that the owner of the disks cannot share."""
    return sum(
        disk_name(mine) == disk_name(theirs) and excludes(mine, theirs)
        for mine in disks
        for theirs in disks_of(volumes)
    )


def excludes(mine: Disk, theirs: Disk) -> bool:
    """Whether only one of two pods may have its disk; by name the disks are the same."""
    if isinstance(mine, AWSElasticBlockStore):
        return True  # read-only or not, as upstream
    if isinstance(mine, RBD) and isinstance(theirs, RBD):
        shares_a_monitor = not set(mine.monitors).isdisjoint(theirs.monitors)
        return shares_a_monitor and not (mine.read_only and theirs.read_only)
    return not (mine.read_only and theirs.read_only)

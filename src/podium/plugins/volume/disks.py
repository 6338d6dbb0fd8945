"""Disks that pods name directly: when two pods on one node cannot both have theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from podium.api.disks import Disk, disk_name, disks_of
from podium.api.objects import RBD, AWSElasticBlockStore, Volume
from podium.framework.cluster_view import DiskUsers, RowCounts


def standing_rivals(disks: Iterable[Disk], uses: DiskUsers) -> Iterator[RowCounts]:
    """Yield the rows of placed pods' disks that exclude one of these disks."""
    for mine in disks:
        for theirs, rows in uses.alike(mine):
            if excludes(mine, theirs):
                yield rows


def count_rivals(disks: Iterable[Disk], volumes: Iterable[Volume]) -> int:
    """Return how many of these volumes are disks that exclude one of the given disks."""
    return sum(
        disk_name(mine) == disk_name(theirs) and excludes(mine, theirs)
        for mine in disks
        for theirs in disks_of(volumes)
    )


def excludes(mine: Disk, theirs: Disk) -> bool:
    """Return whether two pods with these disks, which have the same name, exclude each other."""
    if isinstance(mine, AWSElasticBlockStore):
        return True  # even if both are read-only, as in kube-scheduler
    if isinstance(mine, RBD) and isinstance(theirs, RBD):
        shares_a_monitor = not set(mine.monitors).isdisjoint(theirs.monitors)
        return shares_a_monitor and not (mine.read_only and theirs.read_only)
    return not (mine.read_only and theirs.read_only)

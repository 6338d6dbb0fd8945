"""VolumeRestrictions: keep pods apart that must not share a disk or a claim.

PreFilter  rejects a pod whose claim does not exist, and looks up whether another pod uses one of
           its ReadWriteOncePod claims.
Filter     rejects a node where a pod uses the same disk, and every node while such a claim is in
           use.
Requeue    when a conflicting pod is deleted, a node joins, or a claim of the pod appears.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.claims import claim_key
from podium.api.disks import Disk, disk_name, disks_of, storage_volumes
from podium.api.objects import RBD, AWSElasticBlockStore, PersistentVolumeClaim, Pod, Volume
from podium.errors import NotFound
from podium.framework.cluster_view import DiskUsers, RowCounts
from podium.framework.events import Topic
from podium.plugins.volume.claims import get_claim, references

VERDICTS = [
    fwk.SUCCESS,
    fwk.Status.unschedulable("node(s) had no available disk"),
    fwk.Status.unschedulable(
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
        "already in-use by another pod"
    ),
]
DEPENDENCIES = fwk.Dependencies(node=fwk.Aspect.VOLUMES)


class Needs(NamedTuple):
    """What the pod may not share: its disks, and the names of its ReadWriteOncePod claims."""

    disks: tuple[Disk, ...]
    claims: frozenset[str]
    taken: int  # how many of the claims are in use


@dataclass(slots=True)
class Rivals:
    """PreFilter's state. ``disks`` and ``claims`` are by row the changes that a dry run makes."""

    needs: Needs
    disks: dict[int, int] = field(default_factory=dict)
    claims: dict[int, int] = field(default_factory=dict)

    def clone(self) -> Rivals:
        return Rivals(self.needs, dict(self.disks), dict(self.claims))

    def shift(self, other: fwk.PodInfo, row: int, amount: int) -> None:
        for shifts, rivals in (
            (self.disks, count_rivals(self.needs.disks, other.volumes)),
            (self.claims, sum(name in self.needs.claims for name in claim_names(other.volumes))),
        ):
            if rivals:
                shifts[row] = shifts.get(row, 0) + amount * rivals


class VolumeRestrictions(fwk.PreFilterExtensions, fwk.FilterPlugin, fwk.EnqueueExtensions):
    name = "VolumeRestrictions"
    State = Rivals

    def __init__(self, args: fwk.NoArgs, handle: fwk.Handle) -> None:
        self._cluster = handle.cluster

    def sign(self, pod: Pod) -> Hashable:
        return self.judge(pod)

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return DEPENDENCIES

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        needs = self.judge(pod)
        if isinstance(needs, fwk.Status):
            return needs
        if needs is None:
            return fwk.skip()
        state.put(Rivals(needs))
        return None

    def add_pod(
        self, state: fwk.CycleState, pod: Pod, other: fwk.PodInfo, node: fwk.NodeInfo
    ) -> None:
        state.get(Rivals).shift(other, node.row, 1)

    def remove_pod(
        self, state: fwk.CycleState, pod: Pod, other: fwk.PodInfo, node: fwk.NodeInfo
    ) -> None:
        state.get(Rivals).shift(other, node.row, -1)

    def filter(self, state: fwk.CycleState, pod: Pod, node: fwk.NodeInfo) -> fwk.Status:
        rivals, row = state.get(Rivals), node.row
        standing = standing_rivals(rivals.needs.disks, self._cluster.storage.disks)
        disks = sum(rows.at(row) for rows in standing) + rivals.disks.get(row, 0)
        claims = rivals.needs.taken + rivals.claims.get(row, 0)
        return VERDICTS[1 if disks > 0 else 2 if claims > 0 else 0]

    def filter_all(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        rivals = state.get(Rivals)
        disks = np.zeros(nodes.cluster.size, np.int64)
        for rows in standing_rivals(rivals.needs.disks, self._cluster.storage.disks):
            rows.add_to(disks)
        claims = np.full(nodes.cluster.size, rivals.needs.taken, np.int64)
        for counts, shifts in ((disks, rivals.disks), (claims, rivals.claims)):
            for row, shift in shifts.items():
                counts[row] += shift
        return fwk.Column(VERDICTS, verdicts(nodes.take(disks), nodes.take(claims)))

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on("AssignedPod", "delete", hint=rival_is_gone, topic=VOLUMES_TOPIC),
            fwk.on("Node", "add"),
            fwk.on("PersistentVolumeClaim", "add", hint=claim_appeared),
        ]

    def judge(self, pod: Pod) -> Needs | fwk.Status | None:
        """Return ``None`` if nothing can conflict, or a rejection if a claim does not exist."""
        volumes = storage_volumes(pod)
        if not volumes:
            return None
        disks = tuple(disks_of(volumes))
        try:
            claims = frozenset(
                name for name in claim_names(volumes) if self.is_for_one_pod(pod.namespace, name)
            )
        except NotFound as missing:
            return fwk.Status.unresolvable(str(missing))
        taken = sum(self.is_taken(claim_key(pod.namespace, name)) for name in claims)
        return Needs(disks, claims, taken) if disks or taken else None

    def is_for_one_pod(self, namespace: str, name: str) -> bool:
        return "ReadWriteOncePod" in get_claim(self._cluster, namespace, name).spec.access_modes

    def is_taken(self, key: str) -> bool:
        """Return whether a pod on any node uses the claim."""
        rows = self._cluster.storage.claims.users(key).rows()
        return bool(self._cluster.are_nodes(rows).any())


def verdicts(disks: NDArray[np.int64], claims: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return indexes into ``VERDICTS``, from the number of rivals for disks and for claims."""
    return np.where(disks > 0, 1, np.where(claims > 0, 2, 0))


def claim_names(volumes: Iterable[Volume]) -> Iterator[str]:
    """Yield the names of claims among these volumes, without those of ephemeral volumes."""
    for volume in volumes:
        if volume.persistent_volume_claim is not None:
            yield volume.persistent_volume_claim.claim_name


def rival_is_gone(pod: Pod, old: Pod, new: None) -> bool:
    if old.namespace != pod.namespace:
        return False
    volumes = storage_volumes(pod)
    gone = storage_volumes(old)
    is_shared = not set(claim_names(volumes)).isdisjoint(claim_names(gone))
    return is_shared or count_rivals(tuple(disks_of(volumes)), gone) > 0


def _volumes_of_change(old: Pod | None, new: Pod | None) -> set[str]:
    return set().union(*(_volumes_of(pod) for pod in (old, new) if pod is not None))


def _volumes_of(pod: Pod) -> set[str]:
    """Return the claims and disks of a pod, with its namespace: rivals have one in common."""
    volumes = storage_volumes(pod)
    shared = (*claim_names(volumes), *map(disk_name, disks_of(volumes)))
    return {f"{pod.namespace}/{volume}" for volume in shared}


VOLUMES_TOPIC: Final = Topic(_volumes_of_change, _volumes_of)


def claim_appeared(pod: Pod, old: None, new: PersistentVolumeClaim) -> bool:
    return references(pod, new, ephemeral=False)


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

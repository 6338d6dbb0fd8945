"""Changes of a cluster's state that can be undone, for trying out what would help.

A trial changes the state, runs an attempt and undoes the changes. Copying the state instead would
take longer than the trial: see docs/decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from msgspec.structs import replace

from podium.api.meta import ApiObject
from podium.api.objects import Node, Pod, ResourceClaim
from podium.api.resource_claims import POD_CLAIM
from podium.state.cluster import ClusterState
from podium.state.pod_info import PodInfo

Undo = Callable[[], None]


@dataclass(frozen=True, slots=True)
class SetNode:
    """Add a node, or replace it."""

    node: Node

    def apply(self, cluster: ClusterState) -> Undo:
        name = self.node.name
        row = cluster.table.live_row(name)
        old = None if row is None else cluster.table.nodes[row]
        cluster.set_node(self.node)
        if old is None:
            return lambda: cluster.remove_node(name)
        return lambda: cluster.set_node(old)


@dataclass(frozen=True, slots=True)
class AddPod:
    """Add a pod that has a node."""

    pod: Pod

    def apply(self, cluster: ClusterState) -> Undo:
        cluster.add_pod(self.pod)
        return lambda: cluster.remove_pod(self.pod)


@dataclass(frozen=True, slots=True)
class RemovePod:
    """Remove a placed pod. Undone, it is where it was among the pods of its node."""

    uid: str

    def apply(self, cluster: ClusterState) -> Undo:
        info = cluster.pods[self.uid]
        row, turn, is_assumed = info.row, info.turn, cluster.is_assumed(self.uid)
        cluster.remove_pod(info.pod)

        def undo() -> None:
            if is_assumed:
                cluster.assume(info, row, turn)
            else:
                cluster.add_pod(info.pod, turn)

        return undo


@dataclass(frozen=True, slots=True)
class SetObject:
    """Add or replace an object other than a node or pod."""

    obj: ApiObject

    def apply(self, cluster: ClusterState) -> Undo:
        kind, key = type(self.obj), self.obj.key
        old = cluster.objects(kind).get(key)
        cluster.set_object(self.obj)
        if old is None:
            return lambda: cluster.remove_object(kind, key)
        return lambda: cluster.set_object(old)


@dataclass(frozen=True, slots=True)
class RemoveObject:
    """Remove an object other than a node or pod."""

    kind: type[ApiObject]
    key: str

    def apply(self, cluster: ClusterState) -> Undo:
        old = cluster.objects(self.kind).get(self.key)
        if old is None:
            return lambda: None
        cluster.remove_object(self.kind, self.key)
        return lambda: cluster.set_object(old)


@dataclass(frozen=True, slots=True)
class ReplaceObject:
    """Replace an object other than a node or pod. One that does not exist is not made."""

    obj: ApiObject

    def apply(self, cluster: ClusterState) -> Undo:
        old = cluster.objects(type(self.obj)).get(self.obj.key)
        if old is None:
            return lambda: None
        return SetObject(self.obj).apply(cluster)


Edit = SetNode | AddPod | RemovePod | SetObject | RemoveObject | ReplaceObject


@contextmanager
def applied(cluster: ClusterState, edits: Iterable[Edit]) -> Iterator[None]:
    """Apply the changes in order, and undo them in reverse order when the block ends."""
    with ExitStack() as stack:
        for edit in edits:
            stack.callback(edit.apply(cluster))
        yield


def departure(cluster: ClusterState, info: PodInfo) -> list[Edit]:
    """Return what happens when a placed pod is deleted: it goes, and gives its devices back."""
    edits: list[Edit] = [RemovePod(info.uid)]
    if info.pod.spec.resource_claims:
        edits += [_released(claim) for claim in claims_of(cluster, info.pod)]
    return edits


def claims_of(cluster: ClusterState, pod: Pod) -> list[ResourceClaim]:
    """Return the claims that only this pod uses."""
    return [
        claim
        for claim in cluster.objects(ResourceClaim)
        if [consumer.uid for consumer in claim.status.reserved_for] == [pod.uid]
    ]


def _released(claim: ResourceClaim) -> Edit:
    """A claim from a template goes with its pod; any other gives its devices back."""
    if POD_CLAIM in claim.annotations:
        return RemoveObject(ResourceClaim, claim.key)
    free = replace(claim.status, allocation=None, reserved_for=())
    return SetObject(replace(claim, status=free))

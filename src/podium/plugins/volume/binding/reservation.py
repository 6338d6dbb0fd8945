"""Reserve and Unreserve: the claims and volumes that PreBind will write, assumed in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import msgspec

from podium.api.meta import ApiObject
from podium.api.objects import (
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
)
from podium.framework.cluster_view import Assumed, ClusterView
from podium.plugins.volume.binding.decision import Decision
from podium.plugins.volume.binding.matching import is_for
from podium.plugins.volume.binding.pod_claims import SELECTED_NODE

BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"

T = TypeVar("T", bound=ApiObject)


@dataclass(slots=True, eq=False)
class Change(Generic[T]):
    """A change of an object to ``wanted``, whose resource version is the one it was made from.

    ``is_assumed`` is false if the object has that form already. ``written`` is the object that the
    API returned for the write. ``is_in_doubt`` means that a write got no clear response: it may
    have been carried out.
    """

    wanted: T
    claim: PersistentVolumeClaim
    is_assumed: bool = False
    written: T | None = None
    is_in_doubt: bool = False


@dataclass(slots=True, eq=False)
class Reservation:
    """What one pod has reserved on its node. It is never shared between equal pods."""

    node_name: str
    volumes: list[Change[PersistentVolume]] = field(default_factory=list)
    claims: list[Change[PersistentVolumeClaim]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.volumes or self.claims)

    def take(self, cluster: ClusterView, decision: Decision) -> None:
        """Assume what was decided. If that fails half-way, nothing stays assumed."""
        for binding in decision.bindings:
            wanted = bound_volume(binding.volume, binding.claim)
            self.volumes.append(Change(wanted, binding.claim, wanted is not binding.volume))
        for provision in decision.provisions:
            claim = selected_claim(provision.claim, self.node_name)
            self.claims.append(Change(claim, claim, claim is not provision.claim))
        try:
            _assume(cluster.assumed(PersistentVolume), self.volumes)
            _assume(cluster.assumed(PersistentVolumeClaim), self.claims)
        except Exception:
            self.release(cluster)
            raise

    def release(self, cluster: ClusterView) -> None:
        """Undo the assumptions that were certainly not written.

        What was written stays assumed until the watch shows it, since otherwise the claim could be
        given a second volume meanwhile. What is in doubt stays assumed until that is resolved.
        """
        _restore(cluster.assumed(PersistentVolume), self.volumes)
        _restore(cluster.assumed(PersistentVolumeClaim), self.claims)


def bound_volume(volume: PersistentVolume, claim: PersistentVolumeClaim) -> PersistentVolume:
    """Return the volume reserved for this claim; the same object if it already is."""
    if is_reserved_for(volume, claim):
        return volume
    spec = msgspec.structs.replace(volume.spec, claim_ref=reference(claim))
    # A volume that an administrator reserved without a uid does not get the annotation.
    marks = {} if is_for(volume, claim) else {BOUND_BY_CONTROLLER: "yes"}
    return _annotated(msgspec.structs.replace(volume, spec=spec), marks)


def selected_claim(claim: PersistentVolumeClaim, node_name: str) -> PersistentVolumeClaim:
    """Return the claim with this node selected; the same object if it already is."""
    if claim.annotations.get(SELECTED_NODE) == node_name:
        return claim
    return _annotated(claim, {SELECTED_NODE: node_name})


def is_reserved_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Return whether the volume is reserved for exactly this claim, including its uid."""
    ref = volume.spec.claim_ref
    return ref is not None and is_for(volume, claim) and ref.uid == claim.uid


def reference(claim: PersistentVolumeClaim) -> ObjectReference:
    return ObjectReference(
        api_version="v1",
        kind="PersistentVolumeClaim",
        namespace=claim.namespace,
        name=claim.name,
        uid=claim.uid,
        resource_version=claim.metadata.resource_version,
    )


def _annotated(obj: T, annotations: Mapping[str, str]) -> T:
    merged = {**obj.annotations, **annotations}
    metadata = msgspec.structs.replace(obj.metadata, annotations=merged)
    return msgspec.structs.replace(obj, metadata=metadata)


def _assume(assumed: Assumed[T], changes: list[Change[T]]) -> None:
    for change in changes:
        if change.is_assumed:
            assumed.assume(change.wanted)


def _restore(assumed: Assumed[T], changes: list[Change[T]]) -> None:
    for change in changes:
        if change.is_assumed and change.written is None and not change.is_in_doubt:
            assumed.restore(change.wanted)

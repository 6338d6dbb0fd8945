"""Which existing volume a claim gets: one reserved for it, else the smallest that fits."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from podium import framework as fwk
from podium.api import quantity
from podium.api.claims import class_name
from podium.api.objects import PersistentVolume, PersistentVolumeClaim
from podium.api.selectors import EVERYTHING, Selector, label_selector
from podium.errors import InvalidSelector
from podium.plugins.volume.binding.reach import Labels, Nearby, Reach, of_volume

_STORAGE = "storage"


@dataclass(frozen=True, slots=True)
class Candidates:
    """The volumes that a claim could get, on any node.

    If one is ``reserved`` for the claim, no other is considered. ``problem`` is set if the claim is
    invalid.
    """

    others: Nearby[PersistentVolume]
    reserved: PersistentVolume | None = None
    problem: str = ""

    def at(self, labels: Labels, taken: Collection[str]) -> PersistentVolume | None:
        """Return the best volume for a node with these labels that is not in ``taken``."""
        if self.problem:
            raise InvalidSelector(self.problem)
        if self.reserved is not None:
            return self.reserved if of_volume(self.reserved).covers(labels) else None
        return next((one for one in self.others.at(labels) if one.name not in taken), None)

    @property
    def reaches(self) -> list[Reach]:
        return self.others.reaches if self.reserved is None else [of_volume(self.reserved)]


def find_candidates(cluster: fwk.ClusterView, claim: PersistentVolumeClaim) -> Candidates:
    """Return the candidates among the volumes of the claim's class, with assumptions applied."""
    try:
        selector = EVERYTHING if claim.spec.selector is None else _selector(claim)
    except InvalidSelector as error:
        return Candidates(Nearby(()), problem=f"claim {claim.key}: spec.selector: {error}")
    wanted = requested(claim)
    fitting = []
    for volume in _volumes(cluster, claim):
        if not _suits(volume, claim, wanted):
            continue
        if volume.spec.claim_ref is not None:
            return Candidates(Nearby(()), reserved=volume)
        if _is_free(volume, claim, selector):
            fitting.append(volume)
    fitting.sort(key=capacity)
    return Candidates(Nearby((of_volume(volume), volume) for volume in fitting))


def is_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Return whether the volume is reserved for this claim. The uid may be left out."""
    ref = volume.spec.claim_ref
    return (
        ref is not None
        and (ref.name, ref.namespace) == (claim.name, claim.namespace)
        and ref.uid in ("", claim.uid)
    )


def requested(claim: PersistentVolumeClaim) -> int:
    """Return the storage that the claim requests, in nano bytes; 0 if it does not say."""
    return quantity.parse(claim.spec.resources.requests.get(_STORAGE, 0))


def capacity(volume: PersistentVolume) -> int:
    return quantity.parse(volume.spec.capacity.get(_STORAGE, 0))


def _selector(claim: PersistentVolumeClaim) -> Selector:
    return label_selector(claim.spec.selector)


def _volumes(cluster: fwk.ClusterView, claim: PersistentVolumeClaim) -> Iterator[PersistentVolume]:
    """Yield the volumes of the claim's class that no other claim has, reserved ones first."""
    name, assumed = class_name(claim), cluster.assumed(PersistentVolume)
    for volume in cluster.volumes.claimed_by(claim.key):
        if class_name(volume) == name and is_for(volume, claim):
            yield volume
    for volume in cluster.volumes.unclaimed(name):
        expected = assumed.get(volume.key) or volume
        if expected.spec.claim_ref is None or is_for(expected, claim):
            yield expected


def _suits(volume: PersistentVolume, claim: PersistentVolumeClaim, wanted: int) -> bool:
    """Return whether a volume meets the demands that also apply to a reserved one."""
    offer, demand = volume.spec, claim.spec
    return (
        capacity(volume) >= wanted
        and (offer.volume_mode or "Filesystem") == (demand.volume_mode or "Filesystem")
        and (offer.volume_attributes_class_name or "")
        == (demand.volume_attributes_class_name or "")
        and not volume.is_terminating
    )


def _is_free(volume: PersistentVolume, claim: PersistentVolumeClaim, selector: Selector) -> bool:
    """Return whether a volume that is not reserved meets the remaining demands."""
    return (
        volume.status.phase == "Available"
        and selector.matches(volume.labels)
        and set(claim.spec.access_modes) <= set(volume.spec.access_modes)
    )

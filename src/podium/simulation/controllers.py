"""What controllers do in a cluster, as far as placements depend on it.

Claims get their volumes, pods get the claims that they are to own, and what a deleted pod had is
given back. ``World`` calls ``follow`` after each change; nothing here waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from msgspec.structs import replace

from podium.api.meta import ApiObject
from podium.api.objects import (
    ObjectMeta,
    OwnerReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodResourceClaim,
    PodResourceClaimStatus,
    ResourceClaim,
    ResourceClaimStatus,
    ResourceClaimTemplate,
)
from podium.api.resource_claims import POD_CLAIM, claim_keys
from podium.simulation.history import Change
from podium.simulation.kinds import (
    CLAIM,
    CLAIM_TEMPLATE,
    POD,
    VOLUME_CLAIM,
)

if TYPE_CHECKING:
    from podium.simulation.volume_binding import VolumeBinder

T = TypeVar("T", bound=ApiObject)

BOUND: Final = "Bound"


class Objects(Protocol):
    """The simulated cluster as controllers see it."""

    def find(self, kind: str, key: str) -> ApiObject | None: ...
    def all(self, kind: str) -> Mapping[str, Any]: ...
    def put(self, obj: T) -> T: ...
    def delete(self, kind: str, key: str) -> None: ...


class Controllers:
    """Reacts to changes of pods, claims and volumes."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects

    @cached_property
    def _volumes(self) -> VolumeBinder:
        from podium.simulation.volume_binding import VolumeBinder  # slow to load

        return VolumeBinder(self._objects)

    def follow(self, change: Change) -> None:
        match change.old, change.new:
            case None, Pod() as pod:
                self._make_claims(pod)
            case Pod() as pod, None:
                self._give_back(pod)
            case _, PersistentVolumeClaim() as claim if not claim.spec.volume_name:
                self._volumes.bind(claim)
            case _, PersistentVolume() as volume if volume.status.phase != BOUND:
                self._volumes.offer(volume)

    # --- claims of pods --------------------------------------------------------------------------

    def _make_claims(self, pod: Pod) -> None:
        for volume in pod.spec.volumes:
            template = volume.ephemeral.volume_claim_template if volume.ephemeral else None
            key = f"{pod.namespace}/{pod.name}-{volume.name}"
            if template is not None and self._objects.find(VOLUME_CLAIM, key) is None:
                meta = _owned_by(pod, f"{pod.name}-{volume.name}", template.metadata)
                self._objects.put(PersistentVolumeClaim(metadata=meta, spec=template.spec))
        made = [each for entry in pod.spec.resource_claims for each in self._made(pod, entry)]
        if made:
            known = self._objects.find(POD, pod.key)
            assert isinstance(known, Pod)
            status = replace(known.status, resource_claim_statuses=tuple(made))
            self._objects.put(replace(known, status=status))

    def _made(self, pod: Pod, entry: PodResourceClaim) -> Iterator[PodResourceClaimStatus]:
        """Create the claim of an entry that names a template, unless the pod has it."""
        known = {each.name for each in pod.status.resource_claim_statuses}
        name = entry.resource_claim_template_name
        template = self._objects.find(CLAIM_TEMPLATE, f"{pod.namespace}/{name}") if name else None
        if entry.name in known or not isinstance(template, ResourceClaimTemplate):
            return
        meta = _owned_by(pod, f"{pod.name}-{entry.name}", template.spec.metadata)
        annotations = {**meta.annotations, POD_CLAIM: entry.name}
        meta = replace(meta, annotations=annotations)
        self._objects.put(ResourceClaim(metadata=meta, spec=template.spec.spec))
        yield PodResourceClaimStatus(entry.name, meta.name)

    def _give_back(self, pod: Pod) -> None:
        """Free the claims of a pod that is gone; those that were made for it go with it."""
        for volume in pod.spec.volumes:
            if volume.ephemeral is not None:
                self._collect(VOLUME_CLAIM, f"{pod.namespace}/{pod.name}-{volume.name}", pod)
        extended = pod.status.extended_resource_claim_status
        keys = list(claim_keys(pod))
        if extended is not None:
            keys.append(f"{pod.namespace}/{extended.resource_claim_name}")
        for key in keys:
            claim = self._objects.find(CLAIM, key)
            if isinstance(claim, ResourceClaim) and claim.is_reserved_for(pod.uid):
                self._objects.put(_without(claim, pod.uid))
            self._collect(CLAIM, key, pod)

    def _collect(self, kind: str, key: str, pod: Pod) -> None:
        found = self._objects.find(kind, key)
        if found is not None and found.controller is not None and found.controller.uid == pod.uid:
            self._objects.delete(kind, key)


def _owned_by(pod: Pod, name: str, given: ObjectMeta) -> ObjectMeta:
    """Return the metadata of an object that is made for a pod and goes with it."""
    owner = OwnerReference("v1", "Pod", pod.name, pod.uid, True)
    return ObjectMeta(
        name=name,
        namespace=pod.namespace,
        uid=f"{name} of {pod.uid}",  # unique, and the same in every run
        labels=given.labels,
        annotations=given.annotations,
        owner_references=(owner,),
    )


def _without(claim: ResourceClaim, uid: str) -> ResourceClaim:
    """Return a claim without one of its users; its devices are free after the last one."""
    left = tuple(each for each in claim.status.reserved_for if each.uid != uid)
    status = replace(claim.status, reserved_for=left) if left else ResourceClaimStatus()
    return replace(claim, status=status)

"""How pods, claims, volumes and storage classes refer to one another."""

from collections.abc import Iterator
from typing import NamedTuple

from podium.api.pods import Pod
from podium.api.storage import PersistentVolume, PersistentVolumeClaim
from podium.api.volumes import Volume

BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
BIND_COMPLETED = "pv.kubernetes.io/bind-completed"  # on a claim whose volume is settled


class NamedClaim(NamedTuple):
    """The claim of a pod's volume, by its name in the pod's namespace."""

    name: str
    is_ephemeral: bool  # made for the pod and to be owned by it


def named_claim(pod: Pod, volume: Volume) -> NamedClaim | None:
    """Return the claim behind this volume of the pod, or ``None`` if it has none."""
    if volume.persistent_volume_claim is not None:
        return NamedClaim(volume.persistent_volume_claim.claim_name, is_ephemeral=False)
    if volume.ephemeral is not None:
        return NamedClaim(f"{pod.name}-{volume.name}", is_ephemeral=True)
    return None


def named_claims(pod: Pod) -> Iterator[NamedClaim]:
    """Yield the pod's claims, also of generic ephemeral volumes, in the order of volumes."""
    for volume in pod.spec.volumes:
        claim = named_claim(pod, volume)
        if claim is not None:
            yield claim


def claim_key(namespace: str, name: str) -> str:
    """Return the key under which the state keeps a claim."""
    return f"{namespace}/{name}" if namespace else name


def is_owned(claim: PersistentVolumeClaim, pod: Pod) -> bool:
    """Whether the claim was created for an ephemeral volume of this pod."""
    controller = claim.controller
    return claim.namespace == pod.namespace and controller is not None and controller.uid == pod.uid


def class_name(obj: PersistentVolumeClaim | PersistentVolume) -> str:
    """Return the storage class of a claim or a volume; empty for none."""
    # The old annotation wins even when it is empty, as upstream.
    annotated = obj.annotations.get(BETA_CLASS)
    return (obj.spec.storage_class_name or "") if annotated is None else annotated

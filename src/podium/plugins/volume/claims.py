"""The claims, volumes and classes of a pod, looked up; what is missing is told in upstream's words.

Shared by the plugins of this package; ``podium.api.claims`` knows what needs no lookup. A lookup
raises ``NotFound``, whose text is the reason that people read.
"""

from __future__ import annotations

from typing import Final, TypeVar

from podium import framework as fwk
from podium.api.claims import claim_key, named_claims
from podium.api.objects import (
    ApiObject,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)
from podium.errors import NotFound

T = TypeVar("T", bound=ApiObject)

WAIT_FOR_FIRST_CONSUMER: Final = "WaitForFirstConsumer"

_RESOURCES: Final[dict[type[ApiObject], str]] = {
    PersistentVolumeClaim: "persistentvolumeclaim",
    PersistentVolume: "persistentvolume",
    StorageClass: "storageclass.storage.k8s.io",
}


def get_claim(cluster: fwk.ClusterView, namespace: str, name: str) -> PersistentVolumeClaim:
    return _found(cluster, PersistentVolumeClaim, claim_key(namespace, name), name)


def get_volume(cluster: fwk.ClusterView, name: str) -> PersistentVolume:
    return _found(cluster, PersistentVolume, name, name)


def get_class(cluster: fwk.ClusterView, name: str) -> StorageClass:
    return _found(cluster, StorageClass, name, name)


def missing(kind: type[ApiObject], name: str) -> str:
    """What to say when there is no such claim, volume or class."""
    return f'{_RESOURCES[kind]} "{name}" not found'


def wrong_owner(pod: Pod, claim: PersistentVolumeClaim) -> str:
    """What to say when the claim of an ephemeral volume is not ``is_owned`` by its pod."""
    return f"PVC {claim.key} was not created for pod {pod.key} (pod is not owner)"


def references(pod: Pod, claim: PersistentVolumeClaim, *, ephemeral: bool) -> bool:
    """Whether a volume of the pod is this claim; ``ephemeral`` ones count only if asked for."""
    return claim.namespace == pod.namespace and any(
        named.name == claim.name and (ephemeral or not named.is_ephemeral)
        for named in named_claims(pod)
    )


def _found(cluster: fwk.ClusterView, kind: type[T], key: str, name: str) -> T:
    found = cluster.objects(kind).get(key)
    if found is None:
        raise NotFound(missing(kind, name))
    return found

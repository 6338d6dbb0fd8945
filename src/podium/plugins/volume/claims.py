"""Lookups of claims, volumes and classes, shared by the plugins of this package.

A lookup raises ``NotFound`` with kube-scheduler's message, which becomes the reason that users see.
What needs no lookup is in ``podium.api.claims``.
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
    """Return the message for a claim, volume or class that does not exist."""
    return f'{_RESOURCES[kind]} "{name}" not found'


def wrong_owner(pod: Pod, claim: PersistentVolumeClaim) -> str:
    """Return the message for an ephemeral volume's claim that the pod does not own."""
    return f"PVC {claim.key} was not created for pod {pod.key} (pod is not owner)"


def references(pod: Pod, claim: PersistentVolumeClaim, *, ephemeral: bool) -> bool:
    """Return whether the pod uses this claim; ephemeral volumes count only with ``ephemeral``."""
    return claim.namespace == pod.namespace and any(
        named.name == claim.name and (ephemeral or not named.is_ephemeral)
        for named in named_claims(pod)
    )


def _found(cluster: fwk.ClusterView, kind: type[T], key: str, name: str) -> T:
    found = cluster.objects(kind).get(key)
    if found is None:
        raise NotFound(missing(kind, name))
    return found

"""The CSI drivers that must be installed on a node before a pod with their volumes runs there.

A CSIDriver asks for that with ``spec.preventPodSchedulingIfMissing``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from podium import framework as fwk
from podium.api.claims import claim_key, class_name, named_claims
from podium.api.objects import (
    CSIDriver,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)


class RequiredDriver(NamedTuple):
    """A driver that must be installed.

    ``without_csi_node``: whether a node without a CSINode lacks it too. That is not so for volumes
    of in-tree plugins, which count as volumes of the driver only where there is a CSINode.
    """

    name: str
    without_csi_node: bool


@dataclass(frozen=True, slots=True)
class RequiredDrivers:
    """PreFilter's state."""

    drivers: tuple[RequiredDriver, ...]


def required_drivers(
    cluster: fwk.ClusterView, pod: Pod, names: Iterable[str]
) -> tuple[RequiredDriver, ...]:
    """Return those of the pod's drivers that must be installed."""
    store = cluster.objects(CSIDriver)
    found = [name for name in names if (one := store.get(name)) and _is_required(one)]
    if not found:
        return ()
    own = _own_drivers(cluster, pod)
    return tuple([RequiredDriver(name, name in own) for name in found])


@cache
def not_installed(driver: str) -> fwk.Status:
    return fwk.Status.unschedulable(f"{driver} CSI driver is not installed on the node")


def _is_required(driver: CSIDriver) -> bool:
    return driver.spec.prevent_pod_scheduling_if_missing is True


def _own_drivers(cluster: fwk.ClusterView, pod: Pod) -> set[str]:
    """Return the drivers that volumes of the pod name themselves, not through an in-tree plugin."""
    drivers = set()
    for named in named_claims(pod):
        claim = cluster.objects(PersistentVolumeClaim).get(claim_key(pod.namespace, named.name))
        if claim is None:
            continue
        volume = cluster.objects(PersistentVolume).get(claim.spec.volume_name)
        if volume is None:
            storage_class = cluster.objects(StorageClass).get(class_name(claim))
            drivers.add(storage_class.provisioner if storage_class is not None else "")
        elif volume.spec.csi is not None:
            drivers.add(volume.spec.csi.driver)
    return drivers

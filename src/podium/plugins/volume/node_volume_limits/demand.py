"""The CSI volumes of the pod to be placed, and what matters of them to limits."""

from __future__ import annotations

from typing import NamedTuple

from podium import framework as fwk
from podium.api.claims import named_claims
from podium.api.csi_migration import VolumeId
from podium.api.disks import storage_volumes
from podium.api.objects import Pod
from podium.plugins.volume.limits import usable_claim


class Demand(NamedTuple):
    """How many volumes of each driver the pod has, and which of them placed pods already use.

    Volumes that no placed pod uses are only counted, so that pods that differ only in them have
    equal signatures.
    """

    by_driver: tuple[tuple[str, int], ...]
    in_use: tuple[VolumeId, ...]


NOTHING = Demand((), ())


def demand_of(cluster: fwk.ClusterView, pod: Pod) -> Demand | fwk.Status:
    """Return the pod's demand, or a status if one of its claims is missing or invalid."""
    mine = volumes_of(cluster, pod)
    if isinstance(mine, fwk.Status):
        return mine
    if not mine:
        return NOTHING
    by_driver: dict[str, int] = {}
    for volume in mine:
        by_driver[volume.driver] = by_driver.get(volume.driver, 0) + 1
    in_use = [volume for volume in mine if cluster.storage.attached.is_used(volume)]
    return Demand(tuple(sorted(by_driver.items())), tuple(sorted(in_use)))


def volumes_of(cluster: fwk.ClusterView, pod: Pod) -> frozenset[VolumeId] | fwk.Status:
    """Return the distinct volumes of the incoming pod, or a status as ``demand_of`` does."""
    volumes = storage_volumes(pod)
    if not volumes:
        return frozenset()
    for named in named_claims(pod):
        claim = usable_claim(cluster, pod, named)
        if isinstance(claim, fwk.Status):
            return claim
    return frozenset(cluster.storage.volumes_of(pod, volumes))

"""Whether a new volume can be provisioned for a claim: on which nodes, and from which pools."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from podium import framework as fwk
from podium.api import quantity
from podium.api.objects import (
    CSIDriver,
    CSIStorageCapacity,
    PersistentVolumeClaim,
    StorageClass,
)
from podium.plugins.volume.binding.reach import (
    NOWHERE,
    Nearby,
    Reach,
    of_labels,
    of_topologies,
)

NO_PROVISIONER = "kubernetes.io/no-provisioner"

Pools = Nearby[CSIStorageCapacity]


@dataclass(frozen=True, slots=True)
class Provisioning:
    """Where the class allows a new volume, and the pools that have enough capacity for it.

    Without ``pools`` capacity is not checked, as the driver does not publish it.
    """

    reach: Reach
    pools: Pools | None = None

    @property
    def reaches(self) -> list[Reach]:
        return [self.reach, *(self.pools.reaches if self.pools is not None else ())]


def find_provisioning(
    cluster: fwk.ClusterView, claim: PersistentVolumeClaim, wanted: StorageClass
) -> Provisioning:
    if wanted.provisioner in ("", NO_PROVISIONER):
        return Provisioning(NOWHERE)
    reach = of_topologies(wanted.allowed_topologies)
    driver = cluster.objects(CSIDriver).get(wanted.provisioner)
    size = claim.spec.resources.requests.get("storage")
    if size is None or driver is None or not driver.spec.storage_capacity:
        return Provisioning(reach)
    enough = _pools(cluster, wanted.name, quantity.value(quantity.parse(size)))
    return Provisioning(reach, Nearby((of_labels(pool.node_topology), pool) for pool in enough))


def largest_volume(pool: CSIStorageCapacity) -> int | None:
    """Return how large a volume in this pool can be, in bytes; ``None`` if not known."""
    limit = pool.capacity if pool.maximum_volume_size is None else pool.maximum_volume_size
    return None if limit is None else quantity.value(quantity.parse(limit))


def _pools(cluster: fwk.ClusterView, name: str, size: int) -> Iterator[CSIStorageCapacity]:
    for pool in cluster.objects(CSIStorageCapacity):
        limit = largest_volume(pool) if pool.storage_class_name == name else None
        if limit is not None and limit >= size:
            yield pool

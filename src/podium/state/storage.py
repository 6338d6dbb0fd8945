"""Storage by row: the volumes and disks that are there, and how many volumes are allowed.

``ClusterState`` calls it when pods, nodes and storage objects are added, changed or removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.api.meta import ApiObject
from podium.api.objects import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from podium.state.attached_volumes import AttachedVolumes
from podium.state.attachments import Attachments
from podium.state.claim_uses import ClaimUses
from podium.state.disk_uses import DiskUses
from podium.state.driver_columns import (
    NO_CSI_NODE,
    NOT_INSTALLED,
    DriverColumns,
    installation,
    limit,
)
from podium.state.node_table import NodeTable
from podium.state.objects import ObjectStore
from podium.state.pod_info import PodInfo

Stores = Mapping[type[ApiObject], ObjectStore[Any]]


class Storage:
    """Keeps the parts in step: ``claims``, ``disks``, ``attached``, attachments and limits.

    Invariant: each part is what ``check`` computes from the placed pods, the live nodes and the
    objects in ``stores``. The object is written to its store first, then ``object_changed`` is
    called.
    """

    def __init__(self, table: NodeTable, stores: Stores) -> None:
        self._table = table
        self._stores = stores
        self._limits = DriverColumns(limit)
        self._installations = DriverColumns(installation)
        self.disks = DiskUses()
        self.attached = AttachedVolumes()
        volumes: ObjectStore[PersistentVolume] = stores[PersistentVolume]
        self.claims = ClaimUses(
            self.attached, stores[PersistentVolumeClaim], volumes, stores[StorageClass]
        )
        self._attachments = Attachments(self.attached, table, stores[VolumeAttachment], volumes)
        self._handlers: dict[type[ApiObject], Callable[[Any, Any], list[int]]] = {
            PersistentVolumeClaim: self.claims.claim_changed,
            PersistentVolume: self._volume_changed,
            StorageClass: lambda old, new: self.claims.class_changed(),
            CSINode: self._csi_node_changed,
            VolumeAttachment: self._attachments.attachment_changed,
        }

    def limits(self, driver: str) -> NDArray[np.int64]:
        """Return how many of the driver's volumes each row may hold. Read-only."""
        return self._limits.column(driver, self._csi_nodes())

    def lacks_driver(self, driver: str, *, without_csi_node: bool) -> NDArray[np.bool_]:
        """Return the rows whose CSINode does not list the driver.

        ``without_csi_node`` says whether rows without a CSINode are among them.
        """
        installations = self._installations.column(driver, self._csi_nodes())
        return installations >= (NO_CSI_NODE if without_csi_node else NOT_INSTALLED)

    # --- what changes --------------------------------------------------------------------------

    def grow(self, capacity: int) -> None:
        self._limits.grow(capacity)
        self._installations.grow(capacity)
        self.attached.grow(capacity)

    def pod_changed(self, info: PodInfo, row: int, amount: int) -> None:
        """Add (+1) or subtract (-1) a pod with volumes."""
        self.claims.change(info.pod, info.volumes, row, amount)
        self.disks.change(info.volumes, row, amount)

    def node_changed(self, row: int, name: str) -> None:
        """Update the limits and attachments of a row whose node joined or left."""
        is_there = self._table.live_row(name) == row
        self._set_csi_node(row, self._stores[CSINode].get(name) if is_there else None)
        self._attachments.node_changed(name)

    def object_changed(
        self, kind: type[ApiObject], old: ApiObject | None, new: ApiObject | None
    ) -> Iterable[int]:
        """Update what depends on the object; return the rows whose volumes or limits changed."""
        handler = self._handlers.get(kind)
        return handler(old, new) if handler is not None else ()

    def check(self, pods: Iterable[PodInfo]) -> None:
        """Raise ``AssertionError`` when a part differs from the pods and objects."""
        fresh = Storage(self._table, self._stores)
        fresh.grow(self._table.capacity)
        for info in pods:
            fresh.pod_changed(info, info.row, 1)
        for attachment in self._stores[VolumeAttachment]:
            fresh.object_changed(VolumeAttachment, None, attachment)
        assert self.claims.tally() == fresh.claims.tally(), "uses of claims are wrong"
        assert self.disks.tally() == fresh.disks.tally(), "uses of disks are wrong"
        assert self.attached.tallies() == fresh.attached.tallies(), "volumes by row are wrong"
        self.attached.check()
        self._limits.check(dict(self._csi_nodes()))
        self._installations.check(dict(self._csi_nodes()))

    def _volume_changed(
        self, old: PersistentVolume | None, new: PersistentVolume | None
    ) -> list[int]:
        name = (new or old).name  # type: ignore[union-attr]  # at least one is not None
        return [*self.claims.volume_changed(name), *self._attachments.volume_changed(name)]

    def _csi_node_changed(self, old: CSINode | None, new: CSINode | None) -> list[int]:
        name = (new or old).name  # type: ignore[union-attr]  # as above
        row = self._table.live_row(name)
        if row is None:
            return []
        self._set_csi_node(row, new)
        return [row]

    def _set_csi_node(self, row: int, csi_node: CSINode | None) -> None:
        self._limits.set(row, csi_node)
        self._installations.set(row, csi_node)

    def _csi_nodes(self) -> Iterator[tuple[int, CSINode]]:
        for csi_node in self._stores[CSINode]:
            row = self._table.live_row(csi_node.name)
            if row is not None:
                yield row, csi_node

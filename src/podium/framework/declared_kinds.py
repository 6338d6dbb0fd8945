"""The kinds of objects that a plugin reads: they decide what the scheduler watches.

A plugin declares a kind by naming it in ``watches`` or by registering events for it. It gets the
cluster as a ``DeclaredCluster``, which raises when the plugin reads any other kind: nothing may
watch that kind, and the plugin would silently work with no objects at all. ``Registry.build``
gives every plugin its own handle; ``app`` asks ``registrations_of`` what to watch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from podium.api.csi_migration import VolumeId
from podium.api.meta import ApiObject
from podium.api.objects import (
    CSINode,
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
    Volume,
    VolumeAttachment,
)
from podium.errors import PluginError, UndeclaredKind
from podium.framework.events import Registration, on
from podium.framework.plugin import (
    EnqueueExtensions,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    ReservePlugin,
)
from podium.framework.status import text_of
from podium.state.assumed import Assumed
from podium.state.attached_volumes import AttachedVolumes
from podium.state.claim_uses import ClaimUses
from podium.state.cluster import ClusterState
from podium.state.objects import Store
from podium.state.storage import Storage
from podium.state.volume_store import VolumeStore

if TYPE_CHECKING:
    from podium.framework.handle import Handle

T = TypeVar("T", bound=ApiObject)

REJECTING = (PreEnqueuePlugin, PreFilterPlugin, FilterPlugin, ReservePlugin, PermitPlugin)
# For a plugin that may reject a pod and does not say which events would help.
ANYTHING = [
    on(resource, "all")
    for resource in (
        "Pod",
        "Node",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "storage.k8s.io/CSINode",
        "storage.k8s.io/CSIDriver",
        "storage.k8s.io/CSIStorageCapacity",
        "storage.k8s.io/StorageClass",
        "resource.k8s.io/ResourceClaim",
        "resource.k8s.io/DeviceClass",
    )
]


def registrations_of(plugin: Plugin) -> list[Registration]:
    """Return the events that the plugin registers; raise ``PluginError`` if that fails.

    A plugin that may reject pods without naming events is tried again after any event.
    """
    if not isinstance(plugin, EnqueueExtensions):
        return ANYTHING if isinstance(plugin, REJECTING) else []
    try:
        found = list(plugin.events_to_register())
        for each in found:
            if not isinstance(each, Registration):
                raise TypeError(f"expected a Registration, got {each!r}")
    except Exception as fault:
        text = f"events_to_register of plugin {plugin.name} failed: {text_of(fault)}"
        raise PluginError(text) from fault
    return found


class PluginHandle:
    """The handle of one plugin: that of its profile, with the cluster as the plugin may read it."""

    def __init__(self, shared: Handle, plugin: str) -> None:
        self._shared = shared
        self._declared = DeclaredCluster(shared.cluster, plugin)
        # Everything of a ClusterState can be asked of a DeclaredCluster.
        self.cluster = cast(ClusterState, self._declared)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shared, name)

    def declare(self, plugin: Plugin) -> None:
        """The plugin is built: from now on it may read what it declares, and nothing else."""
        registered = (each.event.resource for each in registrations_of(plugin))
        self._declared.declare(
            {*(kind.__name__ for kind in plugin.watches), *map(_kind_name, registered)}
        )


def _kind_name(resource: str) -> str:
    """``storage.k8s.io/CSINode`` is the resource of the kind ``CSINode``."""
    return resource.rpartition("/")[2]


class DeclaredCluster:
    """The cluster as one plugin may read it: with objects of the kinds that it has declared.

    While the plugin is being built its events are not known yet: what it reads until then is
    remembered and checked by ``declare``. All other attributes are those of the cluster state.
    """

    def __init__(self, cluster: ClusterState, plugin: str) -> None:
        self._cluster = cluster
        self._plugin = plugin
        self._declared: set[str] | None = None
        self._read_early: set[str] = set()
        # What cycles ask often is found without a detour through __getattr__.
        self.table = cluster.table
        self.pods = cluster.pods
        self.affinity = cluster.affinity
        self.storage = DeclaredStorage(self, cluster.storage)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    def declare(self, kinds: set[str]) -> None:
        """Allow these kinds; raise ``UndeclaredKind`` if another one was read before."""
        self._declared = kinds
        for kind in sorted(self._read_early - kinds):
            raise UndeclaredKind(self._plugin, kind)

    def require(self, *kinds: type[ApiObject]) -> None:
        """Raise ``UndeclaredKind`` unless the plugin has declared these kinds."""
        for kind in kinds:
            if self._declared is None:
                self._read_early.add(kind.__name__)
            elif kind.__name__ not in self._declared:
                raise UndeclaredKind(self._plugin, kind.__name__)

    def objects(self, kind: type[T]) -> Store[T]:
        self.require(kind)
        return self._cluster.objects(kind)

    def assumed(self, kind: type[T]) -> Assumed[T]:
        self.require(kind)
        return self._cluster.assumed(kind)

    def namespace_labels(self, name: str) -> Any:
        self.require(Namespace)
        return self._cluster.namespace_labels(name)

    @property
    def volumes(self) -> VolumeStore:
        self.require(PersistentVolume)
        return self._cluster.volumes


class DeclaredStorage:
    """What rules ask about storage, checked for the kinds that each answer is made from."""

    def __init__(self, cluster: DeclaredCluster, storage: Storage) -> None:
        self._cluster = cluster
        self._storage = storage
        self.disks = storage.disks  # volumes that pods name themselves: no other object is read

    @property
    def claims(self) -> ClaimUses:
        self._cluster.require(PersistentVolumeClaim)
        return self._storage.claims

    @property
    def attached(self) -> AttachedVolumes:
        self._cluster.require(
            PersistentVolumeClaim, PersistentVolume, StorageClass, VolumeAttachment
        )
        return self._storage.attached

    def limits(self, driver: str) -> NDArray[np.int64]:
        self._cluster.require(CSINode)
        return self._storage.limits(driver)

    def volumes_of(self, pod: Pod, volumes: Iterable[Volume]) -> list[VolumeId]:
        self._cluster.require(PersistentVolumeClaim, PersistentVolume, StorageClass)
        return self._storage.volumes_of(pod, volumes)

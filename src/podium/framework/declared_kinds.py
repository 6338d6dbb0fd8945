"""The kinds of objects that a plugin reads: they decide what the scheduler watches.

A plugin declares a kind by naming it in ``watches`` or by registering events for it. It gets the
cluster as a ``ClusterView`` that raises when the plugin reads any other kind: nothing may watch
that kind, and the plugin would silently work with no objects at all. ``Registry.build``
gives every plugin its own handle; ``app`` asks ``registrations_of`` what to watch, and the queue
asks ``registered_in`` what to wait for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from podium.api.meta import ApiObject
from podium.errors import PluginError
from podium.framework.cluster_devices import DEVICE_KINDS, ClusterDevices
from podium.framework.event_rules import EventRules
from podium.framework.events import Registration, on
from podium.framework.plugin import (
    EnqueueExtensions,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    ReservePlugin,
    is_in_tree,
)
from podium.framework.status import text_of

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


def registered_in(rules: EventRules, plugin: Plugin) -> list[Registration]:
    """Return the events that the plugin waits for in a release; raise as ``registrations_of``."""
    own = registrations_of(plugin)
    return rules.implicit(rules.own_plugins(own) if is_in_tree(plugin) else own)


class PluginHandle:
    """The handle of one plugin: that of its profile, with the cluster as the plugin may read it."""

    def __init__(self, shared: Handle, plugin: str) -> None:
        self._shared = shared
        self.cluster = shared.cluster.for_plugin(plugin)

    @property
    def devices(self) -> ClusterDevices:
        self.cluster.require(*DEVICE_KINDS)
        return self._shared.devices

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shared, name)

    def declare(self, plugin: Plugin) -> None:
        """The plugin is built: from now on it may read what it declares, and nothing else."""
        registered = (each.event.resource for each in registrations_of(plugin))
        self.cluster.declare(
            {*(kind.__name__ for kind in plugin.watches), *map(_kind_name, registered)}
        )


def _kind_name(resource: str) -> str:
    """``storage.k8s.io/CSINode`` is the resource of the kind ``CSINode``."""
    return resource.rpartition("/")[2]

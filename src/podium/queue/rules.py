"""What a profile tells the queue: who comes first, who must wait, and which events its plugins
want to hear of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from podium.api.objects import Pod
from podium.errors import PluginError
from podium.framework.events import ClusterEvent, Hint, Registration, on, with_implicit
from podium.framework.extender import EXTENDER
from podium.framework.plugin import (
    EnqueueExtensions,
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    QueueSortPlugin,
    ReservePlugin,
)
from podium.framework.profile import Profile
from podium.framework.status import Status, text_of

PreEnqueue = Callable[[Pod, str], Status]
"""Ask all PreEnqueue plugins; the one named is asked first."""

Hints = tuple[Hint, ...]

_REJECTING = (PreEnqueuePlugin, PreFilterPlugin, FilterPlugin, ReservePlugin, PermitPlugin)
_ANYTHING = [
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


@dataclass(frozen=True, slots=True)
class ProfileRules:
    """``registrations`` are by plugin; a plugin without any is never helped by an event."""

    queue_sort: QueueSortPlugin
    pre_enqueue: PreEnqueue
    registrations: Mapping[str, Sequence[Registration]]

    @classmethod
    def of(cls, profile: Profile, *, has_extenders: bool = False) -> ProfileRules:
        """``PluginError`` when a plugin fails to name its events."""
        registrations = {
            plugin.name: with_implicit(_registrations(plugin))
            for plugins in profile.plugins.values()
            for plugin in plugins
            if isinstance(plugin, _REJECTING)
        }
        if has_extenders:
            registrations[EXTENDER] = _ANYTHING
        return cls(profile.queue_sort, profile.run_pre_enqueue, registrations)

    def events(self) -> Iterator[ClusterEvent]:
        """All that some plugin wants to hear of, for whoever chooses what to watch."""
        return (each.event for own in self.registrations.values() for each in own)

    def listeners(self, event: ClusterEvent) -> dict[str, Hints]:
        """The plugins that want to hear of this event, with the hints to ask."""
        found: dict[str, Hints] = {}
        for plugin, own in self.registrations.items():
            hints = tuple(each.hint or _always for each in own if each.event.covers(event))
            if hints:
                found[plugin] = hints
        return found


def _always(pod: Pod, old: object, new: object) -> bool:
    return True


def _registrations(plugin: Plugin) -> list[Registration]:
    """Who does not say what would help is asked again whatever happens."""
    return registered_by(plugin) if isinstance(plugin, EnqueueExtensions) else _ANYTHING


def registered_by(plugin: EnqueueExtensions) -> list[Registration]:
    """What the plugin wants to hear of; ``PluginError`` when it fails to say."""
    try:
        found = list(plugin.events_to_register())
        for each in found:
            if not isinstance(each, Registration):
                raise TypeError(f"it answered {each!r}, which is no Registration")
    except Exception as fault:
        text = f"events_to_register of plugin {plugin.name} failed: {text_of(fault)}"
        raise PluginError(text) from fault
    return found

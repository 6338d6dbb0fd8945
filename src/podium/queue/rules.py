"""What the queue needs of a profile: QueueSort, PreEnqueue and the events its plugins register."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from podium.api.objects import Pod
from podium.framework.declared_kinds import ANYTHING, REJECTING, registered_in
from podium.framework.event_rules import EventRules, event_rules
from podium.framework.events import ClusterEvent, Hint, Registration, Topic
from podium.framework.extender import EXTENDER
from podium.framework.plugin import QueueSortPlugin
from podium.framework.profile import Profile
from podium.framework.status import Status

PreEnqueue = Callable[[Pod, str], Status]
"""Runs all PreEnqueue plugins, the named one first."""

Held = Callable[[], Collection[str] | None]
"""Returns the uids of the pods that a PreEnqueue plugin holds back; None if it cannot tell."""

Hints = tuple[Hint, ...]


@dataclass(frozen=True, slots=True)
class ProfileRules:
    """``registrations`` are by plugin. No event wakes pods rejected by a plugin without any.

    ``held`` is by plugin too, for those of PreEnqueue.
    """

    queue_sort: QueueSortPlugin
    pre_enqueue: PreEnqueue
    registrations: Mapping[str, Sequence[Registration]]
    held: Mapping[str, Held] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        profile: Profile,
        events: EventRules = event_rules(),  # noqa: B008  # frozen
        *,
        has_extenders: bool = False,
    ) -> ProfileRules:
        """Raise ``PluginError`` if a plugin fails to name its events."""
        registrations = {
            plugin.name: registered_in(events, plugin)
            for plugins in profile.plugins.values()
            for plugin in plugins
            if isinstance(plugin, REJECTING)
        }
        if has_extenders:
            registrations[EXTENDER] = ANYTHING
        held = {plugin.name: plugin.held for plugin in profile.pre_enqueues}
        return cls(profile.queue_sort, profile.run_pre_enqueue, registrations, held)

    def events(self) -> Iterator[ClusterEvent]:
        """Yield every registered event; ``app`` decides by them what to watch."""
        return (each.event for own in self.registrations.values() for each in own)

    def subjects_of(self, plugin: str, pod: Pod) -> set[str]:
        """Return the subjects that concern a pod, by the topics that the plugin registered."""
        found: set[str] = set()
        for each in self.registrations.get(plugin, ()):
            if each.topic is not None:
                found.update(each.topic.of_pod(pod))
        return found

    def topics(self, event: ClusterEvent) -> dict[str, tuple[Topic, ...]]:
        """Return the topics of an event, by plugin.

        A plugin is left out if one of its registrations of this event has no topic.
        """
        found: dict[str, tuple[Topic, ...]] = {}
        for plugin, own in self.registrations.items():
            topics = [each.topic for each in own if each.event.covers(event)]
            known = tuple(topic for topic in topics if topic is not None)
            if known and len(known) == len(topics):
                found[plugin] = known
        return found

    def listeners(self, event: ClusterEvent) -> dict[str, Hints]:
        """Return the plugins that registered this event, with their hints."""
        found: dict[str, Hints] = {}
        for plugin, own in self.registrations.items():
            hints = tuple(each.hint or _always for each in own if each.event.covers(event))
            if hints:
                found[plugin] = hints
        return found


def _always(pod: Pod, old: object, new: object) -> bool:
    return True

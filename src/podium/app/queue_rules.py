"""What a queue must know of each profile, and the kinds whose changes wake pods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from podium.api.objects import Pod
from podium.client.resources import resource_of
from podium.cycle.services import Services
from podium.framework.declared_kinds import registrations_of
from podium.framework.event_rules import EventRules
from podium.framework.handle import EventNote, EventRecorder
from podium.framework.profile import Profile
from podium.framework.status import Code, Status
from podium.queue.rules import PreEnqueue, ProfileRules

Rules = Mapping[str, ProfileRules]


def rules_of(profiles: Mapping[str, Profile], services: Services, events: EventRules) -> Rules:
    """Return what the queue must know of each profile."""
    found: dict[str, ProfileRules] = {}
    for name, profile in profiles.items():
        rules = ProfileRules.of(profile, events, has_extenders=bool(services.extenders))
        if profile.has_outside_plugins:
            pre_enqueue = _reporting(rules.pre_enqueue, services.events[name])
            rules = replace(rules, pre_enqueue=pre_enqueue)
        found[name] = rules
    return found


def _reporting(pre_enqueue: PreEnqueue, events: EventRecorder) -> PreEnqueue:
    """Record an event when PreEnqueue fails: the pod is held back without an attempt."""

    def run(pod: Pod, first: str) -> Status:
        status = pre_enqueue(pod, first)
        if status.code is Code.ERROR:
            text = f'running PreEnqueue plugin "{status.plugin}": {status.message}'
            note = EventNote("Warning", "FailedScheduling", "Scheduling", text)
            events.record(pod, None, note)
        return status

    return run


def watched(profiles: Mapping[str, Profile], rules: Rules) -> Iterable[str]:
    """Return the names of the kinds that the plugins declare and that the queue waits for."""
    plugins = {
        id(plugin): plugin
        for profile in profiles.values()
        for at_point in profile.plugins.values()
        for plugin in at_point
    }.values()
    read = (resource_of(kind).event_name for plugin in plugins for kind in plugin.watches)
    registered = (each.event for plugin in plugins for each in registrations_of(plugin))
    awaited = (event for each in rules.values() for event in each.events())
    return dict.fromkeys((*read, *(event.resource for event in (*registered, *awaited))))

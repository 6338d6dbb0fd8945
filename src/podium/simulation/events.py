"""The events that the scheduler records in a simulation, as far as results need them."""

from __future__ import annotations

from typing import NamedTuple

from podium.api.objects import Pod
from podium.framework.handle import EventNote

SCHEDULED = "Scheduled"
PREEMPTED = "Preempted"
FAILED = "FailedScheduling"


class Eviction(NamedTuple):
    """A pod that preemption evicted, and the pod that it made room for.

    If it made room for a pod group, there is no such pod, and only ``note`` names the group.
    """

    victim: Pod
    preemptor: Pod | None
    note: str


class Events:
    """Remembers bindings and evictions in order, and the last failure of each pod, by its uid."""

    def __init__(self) -> None:
        self.scheduled: list[Pod] = []
        self.evictions: list[Eviction] = []
        self.failures: dict[str, str] = {}

    def record(self, regarding: Pod, related: Pod | None, event: EventNote) -> None:
        if event.reason == PREEMPTED:
            self.evictions.append(Eviction(regarding, related, event.note))
        elif event.reason == SCHEDULED:
            self.scheduled.append(regarding)
        elif event.reason == FAILED:
            self.failures[regarding.uid] = event.note

    def clear(self) -> None:
        self.scheduled = []
        self.evictions = []
        self.failures = {}

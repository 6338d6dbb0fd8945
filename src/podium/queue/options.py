"""What a configuration and a release decide about the queue."""

from __future__ import annotations

from dataclasses import dataclass

from podium.framework.event_rules import EventRules, event_rules


@dataclass(frozen=True, slots=True)
class QueueOptions:
    """Durations in seconds, and the events of the release that the queue behaves as."""

    initial_backoff: float = 1.0
    max_backoff: float = 10.0
    max_in_unschedulable: float = 300.0
    events: EventRules = event_rules()  # noqa: RUF009  # frozen

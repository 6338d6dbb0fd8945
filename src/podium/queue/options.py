"""What a configuration and a release decide about the queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from podium.config.model import Configuration
from podium.framework.event_rules import EventRules, event_rules

LONGEST_UNSCHEDULABLE: Final = 300.0  # seconds


@dataclass(frozen=True, slots=True)
class QueueOptions:
    """Durations in seconds, and the events of the release that the queue behaves as."""

    initial_backoff: float = 1.0
    max_backoff: float = 10.0
    max_in_unschedulable: float = LONGEST_UNSCHEDULABLE
    events: EventRules = event_rules()  # noqa: RUF009  # frozen
    has_composites: bool = False  # whether pod groups may belong to composite pod groups

    @classmethod
    def of(
        cls,
        configuration: Configuration,
        events: EventRules,
        max_in_unschedulable: float = LONGEST_UNSCHEDULABLE,
        has_composites: bool = False,
    ) -> QueueOptions:
        return cls(
            configuration.pod_initial_backoff_seconds,
            configuration.pod_max_backoff_seconds,
            max_in_unschedulable,
            events,
            has_composites,
        )

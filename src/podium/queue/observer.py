"""What the queue tells whoever counts: the metrics in a running scheduler, nobody elsewhere."""

from __future__ import annotations

from typing import Protocol


class QueueObserver(Protocol):
    """Told as it happens; gauges are read from the queue's own counts instead."""

    def incoming(self, queue: str, event: str) -> None:
        """A pod entered ``active``, ``backoff`` or ``unschedulable`` because of this event."""

    def point(self, profile: str, point: str, status: str, seconds: float) -> None:
        """PreEnqueue ran for a pod of this profile; as upstream, ``status`` is always Success."""

    def hint(self, plugin: str, event: str, hint: str, seconds: float) -> None:
        """A hint answered ``Queue`` or ``QueueSkip``, or was at fault: ``Error``."""


class Silent:
    """Nobody counts."""

    def incoming(self, queue: str, event: str) -> None:
        """Nobody counts."""

    def point(self, profile: str, point: str, status: str, seconds: float) -> None:
        """Nobody counts."""

    def hint(self, plugin: str, event: str, hint: str, seconds: float) -> None:
        """Nobody counts."""

"""What the queue reports: counts that can be read, and events for an observer such as metrics."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Pending(NamedTuple):
    """Number of pods in each sub-queue. Gated pods are not counted as unschedulable here."""

    active: int
    backoff: int
    unschedulable: int
    gated: int

    @property
    def total(self) -> int:
        return sum(self)

    def __str__(self) -> str:
        """Format as in upstream's dump of the queue, which counts gated pods as unschedulable."""
        held = self.unschedulable + self.gated
        return f"activeQ:{self.active}; backoffQ:{self.backoff}; unschedulablePods:{held}"


class QueueObserver(Protocol):
    """Is called as things happen. Gauges are read from the queue's own counts instead."""

    def incoming(self, queue: str, event: str) -> None:
        """A pod entered ``active``, ``backoff`` or ``unschedulable`` because of this event."""

    def as_hinted(self, queue: str, event: str) -> None:
        """The pod that just entered this queue went where its hints send it.

        That is ``unschedulable`` if no hint says yes, ``active`` if one of a pending plugin does,
        and ``backoff`` if one of another plugin does. As an entity it is not counted then.
        """

    def point(self, profile: str, point: str, status: str, seconds: float) -> None:
        """PreEnqueue ran for a pod of this profile; as upstream, ``status`` is always Success."""

    def hints(self, plugin: str, event: str, hint: str, count: int, seconds: float) -> None:
        """A hint returned ``Queue`` or ``QueueSkip`` for so many pods, or raised: ``Error``.

        ``seconds`` is the mean time of a call.
        """


class NoObserver:
    """An observer that ignores everything, for shells without metrics."""

    def incoming(self, queue: str, event: str) -> None:
        pass

    def as_hinted(self, queue: str, event: str) -> None:
        pass

    def point(self, profile: str, point: str, status: str, seconds: float) -> None:
        pass

    def hints(self, plugin: str, event: str, hint: str, count: int, seconds: float) -> None:
        pass

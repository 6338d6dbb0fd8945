"""How many pods wait, and where: for metrics, dumps and people."""

from __future__ import annotations

from typing import NamedTuple


class Pending(NamedTuple):
    """Counts by sub-queue; gated pods are not counted among the unschedulable ones."""

    active: int
    backoff: int
    unschedulable: int
    gated: int

    @property
    def total(self) -> int:
        return sum(self)

    def __str__(self) -> str:
        """The summary in a dump of the queue, where gated pods are unschedulable ones."""
        held = self.unschedulable + self.gated
        return f"activeQ:{self.active}; backoffQ:{self.backoff}; unschedulablePods:{held}"

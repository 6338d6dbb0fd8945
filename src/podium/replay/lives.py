"""What became of each pod of a trace."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from podium.api.objects import Pod
from podium.clock import Timer
from podium.replay.lines import Arrival


class Fate(StrEnum):
    """The stage of life that a pod has reached."""

    PENDING = "pending"
    RUNNING = "running"
    FINISHED = "finished"  # it ran for its duration
    DELETED = "deleted"  # it ran and was deleted before that
    WITHDRAWN = "withdrawn"  # it was deleted before it found a node
    LOST = "lost"  # it was evicted, or its node left, and it does not restart


@dataclass(slots=True, eq=False)
class Life:
    """One arrival and what became of it. After a restart ``pod`` is a new pod.

    ``arrived``, ``bound`` and ``ended`` are in seconds since the beginning. ``wait`` is the sum
    over all restarts.
    """

    arrival: Arrival
    pod: Pod
    arrived: float
    queued: float  # when it arrived or last restarted
    fate: Fate = Fate.PENDING
    bound: float | None = None  # when it was first bound
    ended: float | None = None
    wait: float = 0.0
    node: str = ""
    restarts: int = 0
    timer: Timer | None = None

    @property
    def key(self) -> str:
        return self.arrival.key

"""Each attempt leaves a compact record; a bounded ring of them is always on.

A record always says what was decided. What the attempt knew about every node, its detail, is kept
for as many attempts as ``DetailBudget`` pays for.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from time import perf_counter
from typing import Any, Final

from podium.cycle.detail import Detail, ScoredNode

KEPT_RECORDS: Final = 2048
MOST_DETAIL_BYTES: Final = 16 << 20
BEST_SHOWN: Final = 3


@dataclass(slots=True)
class Record:
    """The decision about one pod in one attempt, with its reasons."""

    pod: str
    uid: str
    attempt: int
    profile: str
    at: float = 0.0  # seconds since the epoch
    nodes: int = 0
    feasible: int = 0
    node: str = ""  # the decision; empty when there is none
    message: str = ""
    tied: int = 0  # how many nodes shared the highest total
    rejected: dict[tuple[str, str], int] = field(default_factory=dict)  # (plugin, reason): nodes
    reused: bool = False  # built on an equal pod's judgement
    nominated: str = ""  # the node where preemption makes room
    victims: tuple[str, ...] = ()  # keys of the pods that preemption evicts there
    seconds: dict[str, float] = field(default_factory=dict)  # by stage
    detail: Detail | None = field(default=None, repr=False)

    @property
    def best(self) -> tuple[ScoredNode, ...]:
        """Return the chosen node and those next to it; none without scores or detail."""
        detail = self.detail  # read once: another thread may drop it
        if detail is None or not self.node:
            return ()
        return detail.best(self.node, BEST_SHOWN)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data, for JSON and tables."""
        return {
            "pod": self.pod,
            "uid": self.uid,
            "attempt": self.attempt,
            "profile": self.profile,
            "at": self.at,
            "nodes": self.nodes,
            "feasible": self.feasible,
            "node": self.node,
            "message": self.message,
            "tied": self.tied,
            "best": [{**each._asdict(), "raw": dict(each.raw)} for each in self.best],
            "rejected": [
                {"plugin": plugin, "reason": reason, "nodes": nodes}
                for (plugin, reason), nodes in self.rejected.items()
            ],
            "reused": self.reused,
            "nominated": self.nominated,
            "victims": list(self.victims),
            "seconds": dict(self.seconds),
            "detailed": self.detail is not None,
        }


class DetailBudget:
    """Time that may be spent on details: a share of all time, with some of it in advance.

    So details cost no more than this share of throughput, however large the cluster is. When the
    scheduler is calm, every attempt has its detail; under full load only some have. The others can
    be worked out again on request.

    ``_paid_until`` is when all that was spent so far is paid for; details may be taken up to
    ``_lead`` seconds before.
    """

    def __init__(self, share: float, advance: float) -> None:
        """``advance`` is how many seconds may be spent at once after a calm time."""
        self._share = share
        self._lead = advance / share
        self._paid_until = -math.inf
        self.affordable_from = -math.inf  # by ``perf_counter``

    def spend(self, start: float, end: float) -> None:
        """Pay for a detail."""
        self._paid_until = max(self._paid_until, start) + (end - start) / self._share
        self.affordable_from = self._paid_until - self._lead


def usual_budget() -> DetailBudget:
    """Return the budget of a scheduler: 0.5 % of its time, and 1 ms in advance."""
    return DetailBudget(0.005, 0.001)


def unlimited() -> DetailBudget:
    """Return a budget that pays for every detail."""
    return DetailBudget(1.0, math.inf)


class Records:
    """The latest records, oldest first. Details are dropped before records, also oldest first."""

    def __init__(
        self,
        most: int = KEPT_RECORDS,
        budget: DetailBudget | None = None,
        most_bytes: int = MOST_DETAIL_BYTES,
    ) -> None:
        """Keep the details that the budget allows; without a budget, those of every attempt."""
        self._ring: deque[Record] = deque(maxlen=most)
        self._budget = budget or unlimited()
        self._most_bytes = most_bytes
        self._detailed: deque[tuple[Record, int]] = (
            deque()
        )  # the records with a detail, and its size in bytes
        self._bytes = 0

    def add(
        self, record: Record, now: float, detail: Callable[[], Detail | None] | None = None
    ) -> None:
        """Keep a record; ``detail`` is called if there is time for it.

        ``now`` is the time by ``perf_counter``, which the caller has measured anyway.
        """
        self._forget_oldest()
        self._ring.append(record)
        if now < self._budget.affordable_from or detail is None:
            return
        record.detail = detail()
        if record.detail is not None:
            self._keep(record, record.detail.nbytes)
        self._budget.spend(now, perf_counter())

    def _forget_oldest(self) -> None:
        """Let a record that leaves the ring go with its detail."""
        ring, detailed = self._ring, self._detailed
        if len(ring) == ring.maxlen and detailed and detailed[0][0] is ring[0]:
            self._drop_oldest_detail()

    def _keep(self, record: Record, size: int) -> None:
        self._detailed.append((record, size))
        self._bytes += size
        while self._bytes > self._most_bytes:
            self._drop_oldest_detail()

    def _drop_oldest_detail(self) -> None:
        record, size = self._detailed.popleft()
        record.detail = None
        self._bytes -= size

    def latest(self, uid: str) -> Record | None:
        """Return the last attempt of this pod that is still remembered."""
        return next((record for record in reversed(self._ring) if record.uid == uid), None)

    def of_pod(self, key: str) -> list[Record]:
        """Return all remembered attempts of pods with this name, oldest first."""
        return [record for record in self._ring if record.pod == key]

    def newest(self, most: int) -> list[Record]:
        """Return at most this many records, the latest first."""
        return list(islice(reversed(self._ring), most))

    def __iter__(self) -> Iterator[Record]:
        return iter(self._ring)

    def __len__(self) -> int:
        return len(self._ring)

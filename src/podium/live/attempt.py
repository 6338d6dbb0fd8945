"""One try of one pod: what binding and failure must know of it, and a log line if it took long."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, Protocol

from podium.api.objects import Pod
from podium.cycle.outcome import Outcome
from podium.cycle.record import Record
from podium.framework.calls import Call
from podium.framework.queued_pod import QueuedPod
from podium.logs import get_logger


class Attempt(NamedTuple):
    """One attempt; ``start`` is when the pod was taken from the queue."""

    queued: QueuedPod
    profile: str
    start: float

    @property
    def pod(self) -> Pod:
        return self.queued.pod


class Tracer(Protocol):
    """Records spans of attempts; ``live/tracing.py`` sends them to a collector."""

    def cycle(
        self, attempt: Attempt, outcome: Outcome, calls: Iterable[Call], now: float
    ) -> None: ...

    def binding(self, attempt: Attempt, begin: float, now: float, error: str = "") -> None: ...


log = get_logger(__name__)

LONG_SECONDS: Final = 0.1
# kube-scheduler's names for the steps of its trace, and the extension points in each.
STEPS: Final = {
    "Computing predicates": frozenset(("PreFilter", "Filter")),
    "Prioritizing": frozenset(("PreScore", "Score", "ScoreExtensionNormalize")),
    "Preempting": frozenset(("PostFilter",)),
}


def trace(record: Record, calls: Iterable[Call]) -> None:
    """Log where the time went if the cycle took over a tenth of a second."""
    seconds = record.seconds.get("cycle", 0.0)
    if seconds < LONG_SECONDS:
        return
    made = list(calls)
    steps = {
        step: _rounded(call.seconds for call in made if call.point in points)
        for step, points in STEPS.items()
    }
    slowest = max(made, key=lambda call: call.seconds, default=None)
    log.info(
        "Trace of Scheduling", pod=record.pod, podUID=record.uid, attempt=record.attempt,
        nodes=record.nodes,
        seconds=round(seconds, 3), steps=steps,
        slowest=None if slowest is None else f"{slowest.plugin} at {slowest.point}",
    )  # fmt: skip


def _rounded(seconds: Iterable[float]) -> float:
    return round(sum(seconds), 3)

"""What a replay returns: figures, and samples over time. Plain values that JSON can hold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from podium.replay.lives import Fate, Life

_DIGITS = 6


class Waits(msgspec.Struct, frozen=True):
    """Seconds that pods waited until they were first bound."""

    mean: float = 0.0
    p50: float = 0.0
    p90: float = 0.0
    p99: float = 0.0
    max: float = 0.0

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Waits:
        if not seconds:
            return cls()
        waits = np.array(seconds)
        p50, p90, p99 = np.percentile(waits, (50, 90, 99)).tolist()
        found = (float(waits.mean()), p50, p90, p99, float(waits.max()))
        return cls(*(round(each, _DIGITS) for each in found))


class Sample(msgspec.Struct, frozen=True):
    """The cluster at one moment. ``bound`` and ``wait`` are about pods bound since the last sample.

    ``used`` is the share of each resource that is requested, and ``fragmentation`` the share of
    what is free that the pods of the trace cannot use; ``evictions`` counts from the beginning.
    """

    time: float
    pending: int
    running: int
    used: dict[str, float]
    fragmentation: dict[str, float]
    evictions: int
    bound: int = 0
    wait: float = 0.0  # mean seconds


class Figures(msgspec.Struct, frozen=True):
    """A replay in numbers. ``decisions`` is a digest: equal ones mean equal decisions and times."""

    arrivals: int
    bound: int
    pending: int
    running: int
    finished: int
    deleted: int
    withdrawn: int
    lost: int
    restarts: int
    evictions: int
    attempts: int
    errors: int
    seconds: float
    wait: Waits
    pending_wait: Waits
    used: dict[str, float]
    fragmentation: dict[str, float]
    decisions: str


class Result(msgspec.Struct, frozen=True):
    """The result of one variant."""

    trace: str
    configuration: str
    seed: int
    figures: Figures
    samples: list[Sample]

    @property
    def name(self) -> str:
        return f"{self.configuration}, seed {self.seed}"


class Counts(msgspec.Struct):
    """The counts of a running replay."""

    evictions: int = 0
    restarts: int = 0
    attempts: int = 0
    errors: int = 0


def figures(
    lives: Sequence[Life], counts: Counts, samples: Sequence[Sample], now: float
) -> Figures:
    """Sum up what became of the pods of a trace."""
    fates = [life.fate for life in lives]
    first_waits = [life.bound - life.arrived for life in lives if life.bound is not None]
    pending = [now - life.queued for life in lives if life.fate is Fate.PENDING]
    return Figures(
        arrivals=len(lives),
        bound=len(first_waits),
        pending=fates.count(Fate.PENDING),
        running=fates.count(Fate.RUNNING),
        finished=fates.count(Fate.FINISHED),
        deleted=fates.count(Fate.DELETED),
        withdrawn=fates.count(Fate.WITHDRAWN),
        lost=fates.count(Fate.LOST),
        restarts=counts.restarts,
        evictions=counts.evictions,
        attempts=counts.attempts,
        errors=counts.errors,
        seconds=round(now, _DIGITS),
        wait=Waits.of(first_waits),
        pending_wait=Waits.of(pending),
        used=_means(sample.used for sample in samples),
        fragmentation=_means(sample.fragmentation for sample in samples),
        decisions=_digest(lives),
    )


def _means(shares: Iterable[dict[str, float]]) -> dict[str, float]:
    sums: dict[str, list[float]] = {}
    for each in shares:
        for name, share in each.items():
            sums.setdefault(name, []).append(share)
    return {name: round(sum(values) / len(values), _DIGITS) for name, values in sums.items()}


def _digest(lives: Iterable[Life]) -> str:
    digest = hashlib.sha256()
    for life in lives:
        digest.update(f"{life.key} {life.node} {life.bound} {life.ended} {life.fate}\n".encode())
    return digest.hexdigest()[:16]


def row(result: Result) -> dict[str, object]:
    """Return the figures of a variant as one flat row, for tables."""
    cells: dict[str, object] = {
        "trace": result.trace,
        "configuration": result.configuration,
        "seed": result.seed,
    }
    for name, value in msgspec.to_builtins(result.figures).items():
        if isinstance(value, dict):
            cells |= {f"{name}.{part}": number for part, number in value.items()}
        else:
            cells[name] = value
    return cells

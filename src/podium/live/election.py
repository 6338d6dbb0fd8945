"""The protocol of leader election on a Lease, as client-go runs it: what to ask the API, and when.

No I/O and no waiting: `leader_election.py` carries out the steps that an `Elector` yields.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace

from podium.clock import Clock
from podium.config import LeaderElection
from podium.errors import (
    ApiError,
    ConfigError,
    Conflict,
    Forbidden,
    NotFound,
    Problem,
    Unauthorized,
)
from podium.logs import get_logger
from podium.metrics import Metrics

log = get_logger(__name__)

REMEDY = "grant get, create and update of this lease, or run with --leader-elect=false"
JITTER_FACTOR = 1.2
LEAST_REQUEST_SECONDS = 1.0
TOLERATED_SECONDS = 20.0  # what a leader may be late beyond its lease before it counts as sick
RELEASED_SECONDS = 1  # the lease that nobody holds


@dataclass(frozen=True, slots=True)
class Record:
    """What a Lease says; times are seconds since the epoch, ``None`` when it says nothing."""

    holder: str
    duration_seconds: int
    acquire_time: float | None
    renew_time: float | None
    transitions: int

    def same_as(self, other: Record | None) -> bool:
        """Whether nobody has written in between: as in client-go, to the second."""
        return other is not None and self._in_seconds() == other._in_seconds()

    def _in_seconds(self) -> Record:
        acquired, renewed = _whole(self.acquire_time), _whole(self.renew_time)
        return replace(self, acquire_time=acquired, renew_time=renewed)


def _whole(moment: float | None) -> float | None:
    return None if moment is None else math.floor(moment)


@dataclass(frozen=True, slots=True)
class Get:
    """Read the Lease; the answer is its `Record`."""

    timeout: float


@dataclass(frozen=True, slots=True)
class Create:
    record: Record
    timeout: float


@dataclass(frozen=True, slots=True)
class Update:
    """Write over the version last read or written; a newer one is a conflict."""

    record: Record
    timeout: float


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float


@dataclass(frozen=True, slots=True)
class Leading:
    """From now on this process leads."""


@dataclass(frozen=True, slots=True)
class Lost:
    """From now on it does not."""


Step = Get | Create | Update | Wait | Leading | Lost
Answer = Record | None


class Stopped(Exception):
    """Thrown into the steps to end them: the process is asked to stop."""


class Elector:
    """One candidate. The times in a Lease are other clocks' and never compared with ours: a lease
    has run out when it did not change for its duration since *we* first saw it so."""

    def __init__(
        self,
        identity: str,
        settings: LeaderElection,
        clock: Clock,
        metrics: Metrics,
        chance: Callable[[], float] = random.random,
    ) -> None:
        check(settings)
        self.identity = identity
        self.settings = settings
        self._clock = clock
        self._metrics = metrics
        self._chance = chance
        self._lock = f"{settings.resource_namespace}/{settings.resource_name}"
        self._observed: Record | None = None  # read or written last
        self._observed_at = 0.0
        self._told_holder = ""
        self._complaint = ""  # about the last request, if it failed
        self._read: Record | None = None  # read last: what a newly read one is compared with
        metrics.leading.set(0, settings.resource_name)

    @property
    def leader(self) -> str:
        """Who led when we last looked; "" before that, or when nobody did."""
        return self._observed.holder if self._observed else ""

    @property
    def is_leader(self) -> bool:
        return self.leader == self.identity

    def failing(self) -> str | None:
        """Why this candidate counts as sick: it believes that it leads, and renews no more."""
        late = self._clock.now() - self._observed_at
        if not self.is_leader or late <= self.settings.lease_duration + TOLERATED_SECONDS:
            return None
        return f"failed election to renew leadership on lease {self.settings.resource_name}"

    def run(self) -> Generator[Step, Answer, bool]:
        """Acquire the lease, renew it until that fails or `Stopped` is thrown in, release it.

        Faults of a request are thrown in too. Returns whether the lease was lost.
        """
        try:
            yield from self._acquire()
        except Stopped:
            return False
        self._metrics.leading.set(1, self.settings.resource_name)
        yield Leading()
        is_lost = True
        try:
            yield from self._renew()
        except Stopped:
            is_lost = False
        self._metrics.leading.set(0, self.settings.resource_name)
        if is_lost:
            yield Lost()  # before the release: it may take a while, or let another one lead
        yield from self._release()
        return is_lost

    def _acquire(self) -> Generator[Step, Answer, None]:
        log.info("Attempting to acquire leader lease...", lock=self._lock)
        while not (yield from self._attempt(math.inf)):
            log.v(4, "Failed to acquire lease", lock=self._lock, holder=self.leader)
            yield Wait(self.settings.retry_period * (1 + JITTER_FACTOR * self._chance()))
        log.info("Successfully acquired lease", lock=self._lock)

    def _renew(self) -> Generator[Step, Answer, None]:
        while (yield from self._round()):
            log.v(5, "Successfully renewed lease", lock=self._lock)
            yield Wait(self.settings.retry_period)
        log.warning("Failed to renew lease", lock=self._lock, holder=self.leader)

    def _round(self) -> Generator[Step, Answer, bool]:
        """Try to renew until it works, at most for the renew deadline."""
        start, period = self._clock.now(), self.settings.retry_period
        deadline = start + self.settings.renew_deadline
        tick = 0  # attempts begin at whole periods from the start, whatever they take
        while True:
            began = self._clock.now()
            if (yield from self._attempt(deadline)):
                return True
            tick = max(tick, math.floor((began - start) / period)) + 1
            now = self._clock.now()
            next_attempt = max(now, start + tick * period)
            if not self.is_leader or next_attempt >= deadline:
                return False
            yield Wait(next_attempt - now)

    def _attempt(self, deadline: float) -> Generator[Step, Answer, bool]:
        """Write ourselves into the Lease, if it is ours or free or has run out."""
        now = self._clock.now()
        mine = Record(self.identity, int(self.settings.lease_duration), now, now, 0)
        if self._observed and self.is_leader and self._is_valid(now):
            renewed = _renewed(mine, self._observed)
            if (yield from self._write(Update(renewed, self._timeout(deadline)))):
                return True
        try:
            found = yield Get(self._timeout(deadline))
        except NotFound:
            return (yield from self._write(Create(mine, self._timeout(deadline))))
        except ApiError as fault:
            self._complain("Error retrieving lease lock", fault)
            return False
        assert found is not None
        self._look_at(found)
        if found.holder and self._is_valid(now) and not self.is_leader:
            self._stand_by(found.holder)
            return False
        if self.is_leader:
            self._metrics.slow_renewals.inc(self.settings.resource_name)
            mine = _renewed(mine, found)
        else:
            mine = replace(mine, transitions=found.transitions + 1)
        return (yield from self._write(Update(mine, self._timeout(deadline))))

    def _stand_by(self, holder: str) -> None:
        """Each holder is told once: who wonders why nothing is scheduled looks there."""
        self._complaint = ""
        if holder != self._told_holder:
            self._told_holder = holder
            log.info("Standing by: another process leads", lock=self._lock, holder=holder)
        log.v(4, "Lease is held and has not yet expired", lock=self._lock, holder=holder)

    def _complain(self, event: str, fault: ApiError) -> None:
        """The same fault is told once, not every retry period."""
        data = {"lock": self._lock, "why": str(fault)}
        if str(fault) == self._complaint:
            log.v(4, event, **data)
        elif isinstance(fault, Forbidden):
            log.problem(event, **data, remedy=REMEDY)
        elif isinstance(fault, Unauthorized):
            log.problem(event, **data)
        else:
            log.warning(event, **data)
        self._complaint = str(fault)

    def _write(self, step: Create | Update) -> Generator[Step, Answer, bool]:
        try:
            yield step
        except ApiError as fault:
            self._complain("Failed to update lease", fault)
            return False
        self._complaint = ""
        self._observe(step.record)
        return True

    def _release(self) -> Generator[Step, Answer, None]:
        """Let others have the lease at once. One that another holds by now is left alone."""
        if not self.is_leader:
            return
        deadline = self._clock.now() + self.settings.renew_deadline
        try:
            try:
                yield from self._set_free(deadline)
            except Conflict:
                # A renewal that the stop cut off may still be carried out, just now. Left at that,
                # as client-go does, the next leader would wait until the lease runs out.
                yield from self._set_free(deadline)
        except ApiError as fault:
            log.warning("Failed to release lease", lock=self._lock, why=str(fault))

    def _set_free(self, deadline: float) -> Generator[Step, Answer, None]:
        found = yield Get(self._timeout(deadline))
        assert found is not None
        if found.holder == self.identity:
            now = self._clock.now()
            free = Record("", RELEASED_SECONDS, now, now, found.transitions)
            yield Update(free, self._timeout(deadline))
            self._observe(free)

    def _look_at(self, found: Record) -> None:
        if not found.same_as(self._read):
            self._observe(found)
            self._read = found

    def _observe(self, record: Record) -> None:
        self._observed = record
        self._observed_at = self._clock.now()

    def _is_valid(self, now: float) -> bool:
        return self._observed is not None and (
            self._observed_at + self._observed.duration_seconds > now
        )

    def _timeout(self, deadline: float) -> float:
        """No request may use up the time of all the others, nor pass the deadline of its round."""
        longest = max(LEAST_REQUEST_SECONDS, self.settings.renew_deadline / 2)
        return max(0.0, min(longest, deadline - self._clock.now()))


def _renewed(mine: Record, held: Record) -> Record:
    return replace(mine, acquire_time=held.acquire_time, transitions=held.transitions)


def check(settings: LeaderElection) -> None:
    """Refuse durations with which no leader could keep its lease; the words are client-go's."""
    problems = []
    if settings.lease_duration <= settings.renew_deadline:
        problems.append(("leaseDuration", "leaseDuration must be greater than renewDeadline"))
    if settings.renew_deadline <= JITTER_FACTOR * settings.retry_period:
        message = "renewDeadline must be greater than retryPeriod*JitterFactor"
        problems.append(("renewDeadline", message))
    if problems:
        raise ConfigError(
            "leader election",
            [Problem(f"leaderElection.{path}", text) for path, text in problems],
        )

"""The protocol of leader election on a Lease, as client-go runs it: what to ask the API, and when.

No I/O and no waiting: `leader_election.py` carries out the steps that an `Elector` yields.
"""

from __future__ import annotations

import math
import random
from collections import deque
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
TOLERATED_SECONDS = 20.0  # how late beyond its lease a leader may be and still be healthy
EXPIRY_JITTER = 0.02  # seconds; spreads standbys that wait for the same lease to expire
KEPT_OFFSETS = 32
RELEASED_SECONDS = 1  # the duration of a released lease


@dataclass(frozen=True, slots=True)
class Record:
    """The content of a Lease; times are seconds since the epoch, ``None`` where it has none.

    The API server sets the last two fields in a coordinated election: how it chooses the leader,
    and another candidate that is to lead next.
    """

    holder: str
    duration_seconds: int
    acquire_time: float | None
    renew_time: float | None
    transitions: int
    strategy: str = ""
    preferred_holder: str = ""


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
    """Replace the version last read or written; a newer version is a conflict."""

    record: Record
    timeout: float


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float


@dataclass(frozen=True, slots=True)
class Leading:
    """This process leads from now on."""


@dataclass(frozen=True, slots=True)
class Lost:
    """This process does not lead any more."""


Step = Get | Create | Update | Wait | Leading | Lost
Answer = Record | None


class Stopped(Exception):
    """Thrown into the steps to end them: the process is asked to stop."""


class Elector:
    """One candidate in an election.

    The times in a Lease come from other clocks, which may be hours away from ours. A lease has
    expired when its duration has passed by *our* clock since it was last renewed. That was between
    the last look that did not show the renewal and the first that did; `Offsets` says where.

    ``_observed`` is the record last read or written, and ``_observed_at`` when that was done by its
    writer; ``_read`` is the record last read, which the next one that is read is compared with, and
    ``_asked_at`` when it was asked for.
    """

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
        self._observed: Record | None = None
        self._observed_at = 0.0
        self._reported_holder = ""
        self._reported_error = ""  # of the last request, if it failed
        self._read: Record | None = None
        self._asked_at = 0.0
        self._offsets = Offsets()
        metrics.leading.set(0, settings.resource_name)

    @property
    def leader(self) -> str:
        """The leader when we last looked; "" before that, or if there was none."""
        return self._observed.holder if self._observed else ""

    @property
    def is_leader(self) -> bool:
        return self.leader == self.identity

    @property
    def holds_until(self) -> float:
        """The time until which no other process can take the lease; from any thread.

        Others begin to count after we began to write. client-go takes two renewals within one
        second for the same, and then counts from the first one.
        """
        held = self._observed
        if held is None or held.holder != self.identity or held.renew_time is None:
            return -math.inf
        return math.floor(held.renew_time) + held.duration_seconds

    def failing(self) -> str | None:
        """Return why the candidate is unhealthy: it leads, and does not renew its lease."""
        late = self._clock.now() - self._observed_at
        if not self.is_leader or late <= self.settings.lease_duration + TOLERATED_SECONDS:
            return None
        return f"failed election to renew leadership on lease {self.settings.resource_name}"

    def run(self) -> Generator[Step, Answer, bool]:
        """Acquire the lease, renew it until that fails or `Stopped` is thrown in, release it.

        Errors of requests are thrown in, too. Return whether the lease was lost.
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
            yield Lost()  # before the release, which may take a while or let another process lead
        yield from self._release()
        return is_lost

    def _acquire(self) -> Generator[Step, Answer, None]:
        log.info("Attempting to acquire leader lease...", lock=self._lock)
        while not (yield from self._attempt(math.inf)):
            log.v(4, "Failed to acquire lease", lock=self._lock, holder=self.leader)
            yield Wait(self._pause())
        log.info("Successfully acquired lease", lock=self._lock)

    def _pause(self) -> float:
        """Return the time until the next attempt: client-go's, but not beyond the lease's end.

        A lease that can be taken would stay without a leader meanwhile. Several standbys share a
        few milliseconds: one of them wins, the others see a conflict.
        """
        pause = self.settings.retry_period * (1 + JITTER_FACTOR * self._chance())
        if self._observed is None or not self._observed.holder:
            return pause
        left = self._observed_at + self._observed.duration_seconds - self._clock.now()
        return min(pause, left + EXPIRY_JITTER * self._chance()) if left > 0 else pause

    def _renew(self) -> Generator[Step, Answer, None]:
        while (yield from self._round()):
            log.v(5, "Successfully renewed lease", lock=self._lock)
            yield Wait(self.settings.retry_period)
        log.warning("Failed to renew lease", lock=self._lock, holder=self.leader)

    def _round(self) -> Generator[Step, Answer, bool]:
        """Try to renew until it works, at most for the renew deadline."""
        start, period = self._clock.now(), self.settings.retry_period
        deadline = start + self.settings.renew_deadline
        tick = 0  # attempts begin at whole periods, however long each takes
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
        """Write ourselves into the Lease if it is ours, free or expired."""
        now = self._clock.now()
        mine = Record(self.identity, int(self.settings.lease_duration), now, now, 0)
        if self._observed and self.is_leader and self._is_valid(now):
            renewed = _renewed(mine, self._observed)
            if (yield from self._write(Update(renewed, self._timeout(deadline)))):
                return True
        asked_at = self._clock.now()
        try:
            found = yield Get(self._timeout(deadline))
        except NotFound:
            return (yield from self._write(Create(mine, self._timeout(deadline))))
        except ApiError as fault:
            self._report_error("Error retrieving lease lock", fault)
            return False
        assert found is not None
        self._look_at(found, asked_at)
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
        """Log each holder once: it explains why this process schedules nothing."""
        self._reported_error = ""
        if holder != self._reported_holder:
            self._reported_holder = holder
            log.info("Standing by: another process leads", lock=self._lock, holder=holder)
        log.v(4, "Lease is held and has not yet expired", lock=self._lock, holder=holder)

    def _report_error(self, event: str, fault: ApiError) -> None:
        """Log the error, unless it is the one that was logged last."""
        data = {"lock": self._lock, "why": str(fault)}
        if str(fault) == self._reported_error:
            log.v(4, event, **data)
        elif isinstance(fault, Forbidden):
            log.problem(event, **data, remedy=REMEDY)
        elif isinstance(fault, Unauthorized):
            log.problem(event, **data)
        else:
            log.warning(event, **data)
        self._reported_error = str(fault)

    def _write(self, step: Create | Update) -> Generator[Step, Answer, bool]:
        try:
            yield step
        except ApiError as fault:
            self._report_error("Failed to update lease", fault)
            return False
        self._reported_error = ""
        self._observe(step.record)
        return True

    def _release(self) -> Generator[Step, Answer, None]:
        """Let others have the lease at once, unless another process holds it already."""
        if not self.is_leader:
            return
        deadline = self._clock.now() + self.settings.renew_deadline
        try:
            try:
                yield from self._set_free(deadline)
            except Conflict:
                # A renewal that the stop interrupted may have been carried out just now. Without
                # another try, as in client-go, the next leader would wait for the lease to expire.
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

    def _look_at(self, found: Record, asked_at: float) -> None:
        if found != self._read:
            self._observe(found)
            if found.holder != self.identity:
                renewed_at = self._offsets.renewed_at(found, self._observed_at)
                self._observed_at = max(self._asked_at, renewed_at)
            self._read = found
        self._asked_at = asked_at

    def _observe(self, record: Record) -> None:
        self._observed = record
        self._observed_at = self._clock.now()

    def _is_valid(self, now: float) -> bool:
        return self._observed is not None and (
            self._observed_at + self._observed.duration_seconds > now
        )

    def _timeout(self, deadline: float) -> float:
        """Return the timeout of a request: half of the renew deadline, or what is left of it."""
        longest = max(LEAST_REQUEST_SECONDS, self.settings.renew_deadline / 2)
        return max(0.0, min(longest, deadline - self._clock.now()))


class Offsets:
    """How far the clock of a lease's holder is from ours, to see when it has renewed the lease.

    A renewal is seen some time after it was made, so the smallest difference that was seen is the
    nearest to the real one, and never below it. A renewal at the holder's time ``t`` happened no
    later than that difference after ``t``.
    """

    def __init__(self) -> None:
        self._holder = ""
        self._differences: deque[float] = deque(maxlen=KEPT_OFFSETS)

    def renewed_at(self, found: Record, now: float) -> float:
        """Return when this renewal, which is seen now, was made at the latest, by our clock."""
        if found.renew_time is None:
            return now
        if found.holder != self._holder:
            self._holder = found.holder
            self._differences.clear()
        self._differences.append(now - found.renew_time)
        return found.renew_time + min(self._differences)


def _renewed(mine: Record, held: Record) -> Record:
    return replace(mine, acquire_time=held.acquire_time, transitions=held.transitions)


def check(settings: LeaderElection) -> None:
    """Refuse durations with which no leader could keep its lease, in client-go's words."""
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

"""Health checks and their answers, in kube-scheduler's words; and the watchdog of the event loop.

`serving.py` puts them on HTTP.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from podium.clock import Clock, sleep
from podium.logs import get_logger

Failing = Callable[[], str | None]  # returns why something is unhealthy, or None


class Check(NamedTuple):
    name: str
    failing: Failing


PING = Check("ping", lambda: None)


class Answer(NamedTuple):
    status: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The checks of the endpoints; they are called in the thread of the server.

    A standby is healthy and ready. The checks of watches and of the event loop are podium's own.
    """

    is_stopping: Callable[[], bool]
    is_synced: Callable[[], bool]
    watches: Failing
    event_loop: Failing
    election: Failing | None = None  # without leader election there is nothing to check

    def checks(self) -> Mapping[str, Sequence[Check]]:
        """Return the checks by endpoint, in the order in which they are shown."""
        election = [Check("leaderElection", self.election)] if self.election else []
        event_loop = Check("event-loop", self.event_loop)
        return {
            "healthz": [*(election or [PING]), event_loop],
            "livez": [PING, event_loop],
            "readyz": [
                *election,
                Check("shutdown", self._stopping),
                Check("sched-handler-sync", self._not_synced),
                Check("watches", self.watches),
            ],
        }

    def _stopping(self) -> str | None:
        return "process is shutting down" if self.is_stopping() else None

    def _not_synced(self) -> str | None:
        return None if self.is_synced() else "handlers are not fully synchronized"


def all_of(
    endpoint: str, checks: Sequence[Check], excluded: Sequence[str], verbose: bool
) -> Answer:
    """Return the answer of ``/readyz``: it names failed checks; their own paths say why."""
    reasons = {check.name: check.failing() for check in checks if check.name not in excluded}
    lines = [_line(check.name, reasons) for check in checks]
    unknown = sorted(set(excluded) - {check.name for check in checks})
    if unknown:
        names = ",".join(f'"{name}"' for name in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {names}\n")
    if any(reasons.values()):
        return Answer(500, f"{''.join(lines)}{endpoint} check failed\n")
    return Answer(200, f"{''.join(lines)}{endpoint} check passed\n" if verbose else "ok")


def _line(name: str, reasons: Mapping[str, str | None]) -> str:
    if name not in reasons:
        return f"[+]{name} excluded: ok\n"
    return f"[-]{name} failed: reason withheld\n" if reasons[name] else f"[+]{name} ok\n"


def one_of(check: Check) -> Answer:
    """Return the answer of a single check, such as ``/readyz/shutdown``."""
    reason = check.failing()
    return Answer(500, f"internal server error: {reason}\n") if reason else Answer(200, "ok")


log = get_logger(__name__)

STALL_SECONDS: Final = 10.0
LOOK_SECONDS: Final = 1.0


class Watchdog:
    """Notices when the scheduler's event loop stalls, and logs where it is.

    It runs in the side thread. ``ask`` hands a call to the watched loop, from any thread;
    ``thread`` is the identifier of that loop's thread.
    """

    def __init__(
        self,
        clock: Clock,
        ask: Callable[[Callable[[], None]], object],
        thread: int,
        limit: float = STALL_SECONDS,
    ) -> None:
        self._clock = clock
        self._ask = ask
        self._thread = thread
        self._limit = limit
        self._asked_at: float | None = None
        self._is_reported = False

    async def run(self) -> None:
        while True:
            self.look()
            await sleep(self._clock, LOOK_SECONDS)

    def look(self) -> None:
        if self._asked_at is None:
            self._asked_at = self._clock.now()
            self._is_reported = False
            self._ask(self._answer)
        elif self.failing() and not self._is_reported:
            self._is_reported = True
            log.warning(f"event loop stalled\n{stack_of(self._thread)}", seconds=self._silence())

    def failing(self) -> str | None:
        if self._silence() <= self._limit:
            return None
        return f"the event loop has not answered for {self._silence():.0f} s"

    def _answer(self) -> None:
        """Called on the watched loop."""
        if self._is_reported:
            log.warning("event loop runs again", seconds=self._silence())
        self._asked_at = None

    def _silence(self) -> float:
        asked_at = self._asked_at  # read once: the other thread may change it
        return 0.0 if asked_at is None else self._clock.now() - asked_at


def stack_of(thread: int) -> str:
    """Return the stack of a thread, innermost call last."""
    frame = sys._current_frames().get(thread)
    return "".join(traceback.format_stack(frame)) if frame else "its thread has ended\n"

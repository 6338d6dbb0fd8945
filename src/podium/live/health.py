"""Health checks and their answers, in kube-scheduler's words. `serving.py` puts them on HTTP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

Failing = Callable[[], str | None]  # why something is not well, None when it is


class Check(NamedTuple):
    name: str
    failing: Failing


PING = Check("ping", lambda: None)


class Answer(NamedTuple):
    status: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What the endpoints ask; all of it is called in the thread of the server.

    A standby is healthy and ready. The checks of watches and of the event loop are podium's own.
    """

    is_stopping: Callable[[], bool]
    is_synced: Callable[[], bool]
    watches: Failing
    event_loop: Failing
    election: Failing | None = None  # without leader election there is nothing to check

    def checks(self) -> Mapping[str, Sequence[Check]]:
        """By endpoint, in the order in which they are shown."""
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
    """The answer of ``/readyz``; what failed is named, and why is only told by its own path."""
    reasons = {check.name: check.failing() for check in checks if check.name not in excluded}
    lines = [_line(check.name, reasons) for check in checks]
    unknown = sorted(set(excluded) - {check.name for check in checks})
    if unknown:
        names = ", ".join(f'"{name}"' for name in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {names}\n")
    if any(reasons.values()):
        return Answer(500, f"{''.join(lines)}{endpoint} check failed\n")
    return Answer(200, f"{''.join(lines)}{endpoint} check passed\n" if verbose else "ok")


def _line(name: str, reasons: Mapping[str, str | None]) -> str:
    if name not in reasons:
        return f"[+]{name} excluded: ok\n"
    return f"[-]{name} failed: reason withheld\n" if reasons[name] else f"[+]{name} ok\n"


def one_of(check: Check) -> Answer:
    """The answer of ``/readyz/shutdown``."""
    reason = check.failing()
    return Answer(500, f"internal server error: {reason}\n") if reason else Answer(200, "ok")

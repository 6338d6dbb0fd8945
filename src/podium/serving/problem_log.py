"""A log of problems that clients cause: they choose how often, and must not fill it."""

from __future__ import annotations

from typing import Any, Final

from podium.clock import Clock
from podium.logs import Logger

REPORT_SECONDS: Final = 60.0
MOST_REPORTED: Final = 10


class ProblemLog:
    """Logs a problem, but one of a kind at most once a minute, and not too many kinds.

    The others are logged at verbosity 4. ``event`` and ``why`` are the kind, ``data`` are not.
    """

    def __init__(self, clock: Clock, log: Logger) -> None:
        self._clock = clock
        self._log = log
        self._reported: dict[tuple[str, str], float] = {}  # when each was logged, oldest first

    def report(self, event: str, why: str, **data: Any) -> None:
        now, reported = self._clock.now(), self._reported
        while reported and next(iter(reported.values())) <= now - REPORT_SECONDS:
            del reported[next(iter(reported))]
        if (event, why) in reported or len(reported) == MOST_REPORTED:
            self._log.v(4, event, why=why, **data)
        else:
            reported[event, why] = now
            self._log.warning(event, why=why, **data)

"""Compares this process's clock with the API server's, by the times in its answers.

Nothing that podium decides depends on it: waiting and leases count durations. But tokens and
certificates may seem expired, and the times in leases, events and conditions are wrong.
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import Final

from podium.clock import Clock
from podium.logs import get_logger

log = get_logger(__name__)

TOLERATED_SECONDS: Final = 60.0
LOOK_SECONDS: Final = 300.0  # between two comparisons


class ClockCheck:
    """Warns once when the clock is wrong, and again only after it was right."""

    def __init__(self, clock: Clock, server: str) -> None:
        self._clock = clock
        self._server = server
        self._due = 0.0
        self._is_off = False

    def look(self, sent_at: float, date: bytes) -> None:
        """Compare the time in an answer with that of its request and with the present one."""
        now = self._clock.now()
        if now < self._due:
            return
        self._due = now + LOOK_SECONDS
        try:
            theirs = parsedate_to_datetime(date.decode("ascii")).timestamp()
        except (ValueError, OverflowError):
            return
        # The answer may have been on its way for long, or have waited for us: only what is outside
        # of that time is a difference. A time in an answer has whole seconds.
        ahead, behind = sent_at - (theirs + 1), theirs - now
        self._report(ahead if ahead > 0 else -max(0.0, behind))

    def _report(self, ahead: float) -> None:
        was_off, self._is_off = self._is_off, abs(ahead) > TOLERATED_SECONDS
        if self._is_off and not was_off:
            way = "ahead of" if ahead > 0 else "behind"
            log.warning(
                f"this process's clock is {abs(ahead):.0f} s {way} the API server's: tokens and "
                "certificates may seem expired or not valid yet, and times in leases and events "
                "are wrong; scheduling and leader election go on. Set the machine's clock by NTP "
                "and restart this process, which keeps the time it started with",
                server=self._server,
            )

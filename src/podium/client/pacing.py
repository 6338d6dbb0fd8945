"""How fast requests may follow one another, and how long to wait after one that failed."""

from __future__ import annotations

import random

from podium.clock import Clock, sleep

# As client-go's reflectors.
FIRST_SECONDS = 0.8
MOST_SECONDS = 30.0


class Backoff:
    """The pause before the next try: it doubles from 0.8 to 30 seconds.

    Each pause is lengthened at random, up to twice, so that clients do not retry in step.
    """

    def __init__(self) -> None:
        self._seconds = FIRST_SECONDS

    def next(self) -> float:
        seconds = self._seconds * (1 + random.random())
        self._seconds = min(MOST_SECONDS, self._seconds * 2)
        return seconds

    def reset(self) -> None:
        self._seconds = FIRST_SECONDS


class TokenBucket:
    """Limits requests as client-go does: ``qps`` on average, ``burst`` at once, first come first.

    A negative ``qps`` switches the limit off.
    """

    def __init__(self, qps: float, burst: int, clock: Clock) -> None:
        if qps == 0:
            raise ValueError("qps must not be 0: no request would ever be sent")
        self._qps = qps
        self._burst = max(burst, 1)
        self._clock = clock
        self._tokens = float(self._burst)
        self._counted_at = clock.now()

    async def wait(self) -> None:
        if self._qps > 0 and (seconds := self.take()) > 0:
            await sleep(self._clock, seconds)

    def take(self) -> float:
        """Take the next token; return the seconds until it is there."""
        now = self._clock.now()
        earned = max(0.0, now - self._counted_at) * self._qps
        self._tokens = min(self._burst, self._tokens + earned) - 1
        self._counted_at = now
        return max(0.0, -self._tokens / self._qps)

"""How fast requests may follow one another, and how long to wait after one that failed."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from podium.clock import Clock, sleep
from podium.errors import ApiError

T = TypeVar("T")

# As client-go's reflectors.
FIRST_SECONDS = 0.8
MOST_SECONDS = 30.0


class Backoff:
    """The pause before the next try: it doubles from 0.8 to 30 seconds.

    Each pause is lengthened at random, up to twice, so that clients do not retry in step.
    """

    def __init__(self) -> None:
        self._seconds = FIRST_SECONDS

    def next(self, most: float = MOST_SECONDS) -> float:
        """Return the next pause; before it is lengthened it is at most ``most`` seconds."""
        seconds = min(self._seconds, most) * (1 + random.random())
        self._seconds = min(MOST_SECONDS, self._seconds * 2)
        return seconds

    def reset(self) -> None:
        self._seconds = FIRST_SECONDS


class Retries(NamedTuple):
    """How often to try what may succeed a moment later, and how long to wait before each try."""

    tries: int
    first_seconds: float
    factor: float
    jitter: float  # up to this share of a pause is added at random

    async def run(
        self,
        clock: Clock,
        attempt: Callable[[], Awaitable[T]],
        may_pass: Callable[[ApiError], bool],
    ) -> T:
        """Return what the first successful try returns; raise the error of the last one."""
        seconds, in_doubt = self.first_seconds, False
        for left in reversed(range(self.tries)):
            try:
                return await attempt()
            except ApiError as error:
                error.follows_doubt |= in_doubt
                if not left or not may_pass(error):
                    raise
                in_doubt = error.may_be_done
            await sleep(clock, seconds * (1 + random.random() * self.jitter))
            seconds *= self.factor
        raise AssertionError("unreachable: the last try returns or raises")


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

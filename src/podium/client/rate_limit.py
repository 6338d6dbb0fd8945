"""A token bucket, as client-go throttles its requests: `qps` on average, `burst` at once."""

from __future__ import annotations

from podium.clock import Clock, sleep


class TokenBucket:
    """Each request takes a token and waits until it is really there; who comes first goes first.

    A negative ``qps`` switches the limit off.
    """

    def __init__(self, qps: float, burst: int, clock: Clock) -> None:
        if qps == 0:
            raise ValueError("at 0 requests a second none would ever be sent")
        self._qps = qps
        self._burst = max(burst, 1)
        self._clock = clock
        self._tokens = float(self._burst)
        self._counted_at = clock.now()

    async def wait(self) -> None:
        if self._qps > 0 and (seconds := self.take()) > 0:
            await sleep(self._clock, seconds)

    def take(self) -> float:
        """Take a token, of the future if need be; returns the seconds until it is there."""
        now = self._clock.now()
        earned = max(0.0, now - self._counted_at) * self._qps
        self._tokens = min(self._burst, self._tokens + earned) - 1
        self._counted_at = now
        return max(0.0, -self._tokens / self._qps)

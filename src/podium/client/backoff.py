"""How long to wait before the next try: longer each time, and never two clients in step."""

from __future__ import annotations

import random

# As client-go's reflectors.
FIRST_SECONDS = 0.8
MOST_SECONDS = 30.0


class Backoff:
    """Doubles from 0.8 to 30 seconds; each wait is up to twice that, by chance."""

    def __init__(self) -> None:
        self._seconds = FIRST_SECONDS

    def next(self) -> float:
        seconds = self._seconds * (1 + random.random())
        self._seconds = min(MOST_SECONDS, self._seconds * 2)
        return seconds

    def reset(self) -> None:
        self._seconds = FIRST_SECONDS

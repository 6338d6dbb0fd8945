"""How many requests are in flight: events give way to bindings, evictions and statuses."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

# Each request in flight has a connection, and on a real server the handshake costs as much as ten
# requests: so a burst is spread over few. Watches have connections beside these.
IN_FLIGHT: Final = 64
# From this many requests in flight on, the server is busy, and events wait.
BUSY: Final = 8
# While the server is busy, events still get this many, so that they come late but come.
NOTES_WHEN_BUSY: Final = 2


class Lanes:
    """The requests in flight of the connections to one server.

    A note is a request that nothing depends on: an event. Any other request is a decision.
    """

    def __init__(self) -> None:
        self._decisions = 0
        self._notes = 0
        self._waiting_decisions: deque[asyncio.Future[None]] = deque()
        self._waiting_notes: deque[asyncio.Future[None]] = deque()

    async def enter(self, *, is_note: bool) -> None:
        """Wait until the request may be sent; ``leave`` must be called when it is answered."""
        waiting = self._waiting_notes if is_note else self._waiting_decisions
        if not waiting and self._has_room(is_note):
            self._count(is_note, 1)
            return
        turn = asyncio.get_running_loop().create_future()
        waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it had its turn already
                self.leave(is_note=is_note)
            raise

    def leave(self, *, is_note: bool) -> None:
        self._count(is_note, -1)
        self._admit(self._waiting_decisions, is_note=False)
        self._admit(self._waiting_notes, is_note=True)

    def _has_room(self, is_note: bool) -> bool:
        if not is_note:
            return self._decisions < IN_FLIGHT
        return self._notes < (NOTES_WHEN_BUSY if self._decisions >= BUSY else IN_FLIGHT)

    def _admit(self, waiting: deque[asyncio.Future[None]], *, is_note: bool) -> None:
        while waiting and self._has_room(is_note):
            turn = waiting.popleft()
            if not turn.done():  # else its task was cancelled
                self._count(is_note, 1)
                turn.set_result(None)

    def _count(self, is_note: bool, change: int) -> None:
        if is_note:
            self._notes += change
        else:
            self._decisions += change

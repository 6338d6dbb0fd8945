"""A watch whose events are delayed, lost, repeated, exchanged or cut off on their way."""

from __future__ import annotations

from typing import Final

import msgspec

from podium.apiserver.watching import Stream
from podium.chaos.faults import Faults
from podium.clock import Clock, sleep

_GONE: Final = {
    "kind": "Status",
    "apiVersion": "v1",
    "status": "Failure",
    "code": 410,
    "reason": "Expired",
    "message": "too old resource version",
}
GONE_LINE: Final = msgspec.json.encode({"type": "ERROR", "object": _GONE}) + b"\n"
_LIST_END: Final = b"k8s.io/initial-events-end"
_LONGEST_DELAY: Final = 20.0


class FaultyStream:
    """Writes the lines of a watch as the faults allow.

    A list that the watch begins with arrives whole or not at all: only later lines are lost,
    repeated or exchanged.
    """

    def __init__(self, stream: Stream, faults: Faults, clock: Clock, host: str, query: str) -> None:
        self._stream = stream
        self._faults = faults
        self._clock = clock
        self._host = host
        self._is_of_pods = query.startswith("/api/v1/pods?")
        self._is_listing = "sendInitialEvents=true" in query
        self._is_silent = False
        self._kept_back = b""

    def abort(self) -> None:
        self._stream.abort()

    async def gone(self) -> None:
        """Tell the client that its version is too old."""
        if not self._is_silent:
            await self._stream.write(GONE_LINE)

    async def write(self, data: bytes) -> None:
        for line in data.splitlines(keepends=True):
            await self._write(line)

    async def _write(self, line: bytes) -> None:
        if self._is_silent:
            return
        if chance := self._faults.strike("watch-delay", self._host):
            await sleep(self._clock, chance.uniform(0, _LONGEST_DELAY))
        if chance := self._faults.strike("watch-cut", self._host):
            await self._stream.write(line[: chance.randrange(len(line))])
            self.abort()
            return
        if self._faults.strike("watch-silence", self._host):
            self._is_silent = True
            return
        if self._is_listing:
            self._is_listing = _LIST_END not in line
            await self._stream.write(line)
            return
        await self._write_change(line)

    def _misinform(self) -> None:
        if self._is_of_pods:
            self._faults.misinformed.add(self._host)

    async def _write_change(self, line: bytes) -> None:
        if self._faults.strike("watch-drop", self._host):
            self._misinform()
            return
        if not self._kept_back and self._faults.strike("watch-reorder", self._host):
            self._kept_back = line
            self._misinform()
            return
        await self._stream.write(line + self._kept_back)
        self._kept_back = b""
        if self._faults.strike("watch-duplicate", self._host):
            await self._stream.write(line)

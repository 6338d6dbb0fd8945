"""Connections in memory between hosts and the API server: slow, held back, cut.

Both ends are the real ones: podium's client and the embedded server exchange bytes as over TCP.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any, Final, cast

from podium.clock import FakeClock, sleep

# How long bytes take from one end to the other, in seconds.
_FASTEST: Final = 0.0002
_SLOWEST: Final = 0.004
_LOOK_SECONDS: Final = 0.2

Factory = Callable[[], asyncio.BaseProtocol]


class Network:
    """All connections to one server; ``accept`` makes the server's end of a new one."""

    def __init__(self, clock: FakeClock, chance: Random, accept: Factory) -> None:
        self.clock = clock
        self._chance = chance
        self._accept = accept
        self._server_context = contextvars.Context()
        self._ends: dict[str, set[End]] = {}
        self._down: set[str] = set()
        self.partitioned: set[str] = set()
        self.frozen: set[str] = set()

    async def dial(self, host: str, factory: Factory) -> tuple[End, asyncio.BaseProtocol]:
        """Connect a host with the server; this waits while the host is partitioned."""
        while host in self.partitioned:
            await sleep(self.clock, _LOOK_SECONDS)
        if host in self._down:
            raise ConnectionRefusedError(f"{host} is down")
        latency = self._chance.uniform(_FASTEST, _SLOWEST)
        client = End(self, host, latency, contextvars.copy_context(), is_client=True)
        server = End(self, host, latency, self._server_context, is_client=False)
        client.peer, server.peer = server, client
        self._ends.setdefault(host, set()).update((client, server))
        server.begin(self._accept)
        return client, client.begin(factory)

    def start(self, host: str) -> None:
        self._down.discard(host)

    def kill(self, host: str) -> None:
        """Cut all connections of the host, and let it open no others."""
        self._down.add(host)
        self.cut(host)

    def cut(self, host: str) -> None:
        for end in self._ends_of(host):
            if end.is_client:
                end.abort()

    def _ends_of(self, host: str) -> list[End]:
        """Return the ends in the order in which they were opened, as every run of a script does."""
        return sorted(self._ends.get(host, ()), key=lambda end: end.number)

    def release(self, host: str) -> None:
        """Deliver what was held back, after a partition or a freeze has ended."""
        for end in self._ends_of(host):
            end.release()

    def holds(self, end: End) -> bool:
        is_frozen = end.is_client and end.host in self.frozen
        return is_frozen or end.host in self.partitioned

    def forget(self, end: End) -> None:
        self._ends[end.host].discard(end)


_numbers = iter(range(1 << 62))


class End(asyncio.Transport):
    """One end of a connection. What arrives is delivered in order, ``latency`` after it was sent.

    Invariant: while ``_held`` is not empty, everything that arrives waits behind it.
    """

    peer: End

    def __init__(
        self,
        network: Network,
        host: str,
        latency: float,
        context: contextvars.Context,
        *,
        is_client: bool,
    ) -> None:
        super().__init__()
        self.host = host
        self.is_client = is_client
        self.number = next(_numbers)
        self.wrote_at = 0.0
        self._network = network
        self._latency = latency
        self._context = context
        self._protocol: Any = None
        self._is_closing = False
        self._is_lost = False
        self._is_paused = False
        self._held: deque[Callable[[], None]] = deque()

    def begin(self, factory: Factory) -> asyncio.BaseProtocol:
        self._protocol = self._context.run(factory)
        self._context.run(self._protocol.connection_made, self)
        return cast(asyncio.BaseProtocol, self._protocol)

    # --- what arrives ----------------------------------------------------------------------------

    def _arrive(self, call: Callable[[], None]) -> None:
        if self._held or self._is_paused or self._network.holds(self):
            self._held.append(call)
        else:
            self._context.run(call)

    def release(self) -> None:
        while self._held and not self._is_paused and not self._network.holds(self):
            self._context.run(self._held.popleft())

    def _receive(self, data: bytes) -> None:
        if not self._is_lost:
            self._protocol.data_received(data)

    def _lose(self, error: Exception | None) -> None:
        if not self._is_lost:
            self._is_lost = self._is_closing = True
            self._network.forget(self)
            self._protocol.connection_lost(error)

    def _send(self, call: Callable[[], None]) -> None:
        self._network.clock.call_later(self._latency, lambda: self.peer._arrive(call))

    # --- what protocols call ---------------------------------------------------------------------

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_closing or not data:
            return
        self.wrote_at = self._network.clock.now()
        copied = bytes(data)
        self._send(lambda: self.peer._receive(copied))

    def close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._send(lambda: self.peer._lose(None))
            asyncio.get_running_loop().call_soon(self._lose, None)

    def abort(self) -> None:
        if self._is_lost:
            return
        self._is_closing = True
        self._held.clear()
        self._send(lambda: self.peer._lose(ConnectionResetError("connection reset by peer")))
        asyncio.get_running_loop().call_soon(self._lose, None)

    def is_closing(self) -> bool:
        return self._is_closing

    def pause_reading(self) -> None:
        self._is_paused = True

    def resume_reading(self) -> None:
        self._is_paused = False
        asyncio.get_running_loop().call_soon(self.release)

    def is_reading(self) -> bool:
        return not self._is_paused

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        return cast(asyncio.BaseProtocol, self._protocol)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", self.number) if name in ("peername", "sockname") else default

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing: this end has no buffer."""

    def can_write_eof(self) -> bool:
        return False

"""Requests and answers over connections that are kept open: every bind and every event.

Written by hand because the scheduler spends most of its time outside cycles here; a request costs
about half of what it does in aiohttp, which still carries the watches. Decision 0006 has the
figures. `http.py` calls it.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, cast
from urllib.parse import urlsplit

from podium.client.answer_parser import MOST_BODY_BYTES, Answer, AnswerParser, BadAnswer
from podium.client.endpoint import Endpoint
from podium.clock import Clock, give_way

# Less than servers wait before they hang up: no request may be sent just then.
IDLE_SECONDS: Final = 15.0


class CannotConnect(Exception):
    """No connection could be made, so nothing was sent; the cause says why."""


class Wire(asyncio.Protocol):
    """One connection; one request at a time, or several at once that are answered in order."""

    def __init__(self, most_bytes: int = MOST_BODY_BYTES) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._most_bytes = most_bytes  # of an answer's body
        self._parser = AnswerParser(most_bytes)
        self._waiter: asyncio.Future[list[Answer]] | None = None
        self._answers: list[Answer] = []
        self._expected = 0
        self._is_reusable = True
        self.used_at = 0.0

    def exchange(self, request: bytes, answers: int) -> asyncio.Future[list[Answer]]:
        """Send requests, and return a future for their answers."""
        assert self._transport is not None
        self._parser = AnswerParser(self._most_bytes)
        self._answers, self._expected = [], answers
        self._waiter = self._loop.create_future()
        self._transport.write(request)
        return self._waiter

    @property
    def is_reusable(self) -> bool:
        """Whether another request can be sent over it."""
        return self._is_reusable

    def close(self) -> None:
        self._is_reusable = False
        if self._transport is not None:
            self._transport.abort()

    # --- what the event loop calls ---------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's have another base class

    def data_received(self, data: bytes) -> None:
        if self._waiter is None:  # the server speaks without being asked
            self.close()
            return
        try:
            answer = self._parser.feed(data)
            while answer is not None:
                self._answers.append(answer)
                if len(self._answers) == self._expected:
                    self._is_reusable = self._is_reusable and self._parser.is_reusable
                    self._succeed()
                    return
                self._parser = self._parser.next()
                answer = self._parser.feed(b"")
        except BadAnswer as error:
            self._fail(error)
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_reusable = False
        if self._waiter is None:
            return
        try:
            self._answers.append(self._parser.end())
            if len(self._answers) < self._expected:
                raise BadAnswer("the server hung up before all answers came")
            self._succeed()
        except BadAnswer as error:
            self._fail(exc or error)

    def _succeed(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(self._answers)

    def _fail(self, error: Exception) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_exception(error)


class Wires:
    """The connections to one server, kept open while they are used."""

    def __init__(
        self,
        endpoint: Endpoint,
        tls: ssl.SSLContext | None,
        clock: Clock,
        most_bytes: int = MOST_BODY_BYTES,
    ) -> None:
        at = urlsplit(endpoint.server)
        self._host = at.hostname or ""
        self._port = at.port or (80 if tls is None else 443)
        self._tls = tls
        self._server_name = endpoint.tls.server_name
        self._dial = endpoint.dial
        self._new_wire = partial(Wire, most_bytes)
        self._clock = clock
        self._idle: list[Wire] = []  # the one used last is used next, so that others expire

    async def exchange(
        self, request: bytes, answers: int = 1, check: Callable[[], None] | None = None
    ) -> list[Answer]:
        """Send a request, or several at once, and return their answers.

        ``check`` is called at the last moment, and what it raises prevents the request. Raise
        ``CannotConnect``, ``BadAnswer`` or ``OSError`` if the exchange fails.
        """
        wire = self._take() or await self._connect()
        try:
            if check is not None:
                check()
            found = await wire.exchange(request, answers)
        except BaseException:
            wire.close()  # its answer may still come, and must not reach another request
            raise
        if wire.is_reusable:
            wire.used_at = self._clock.now()
            self._idle.append(wire)
        else:
            wire.close()
        return found

    async def close(self) -> None:
        while self._idle:
            self._idle.pop().close()
        await give_way()  # the loop closes the sockets in its next turn

    def _take(self) -> Wire | None:
        oldest = self._clock.now() - IDLE_SECONDS
        while self._idle and self._idle[0].used_at < oldest:
            self._idle.pop(0).close()
        while self._idle:
            wire = self._idle.pop()
            if wire.is_reusable:
                return wire
        return None

    async def _connect(self) -> Wire:
        try:
            if self._dial is not None:
                return cast(Wire, (await self._dial(self._new_wire))[1])
            *others, last = await self._addresses()
            for address in others:
                with suppress(OSError):
                    return await self._connect_to(address)
            return await self._connect_to(last)
        except OSError as error:
            raise CannotConnect(str(error)) from error

    async def _addresses(self) -> list[str]:
        """Look up the addresses of the server.

        ``create_connection`` would do that, too; but a task that is cancelled during its lookup
        leaves an exception that nothing retrieves, and the loop logs it.
        """
        if _is_ip(self._host):
            return [self._host]
        found = await asyncio.get_running_loop().getaddrinfo(
            self._host, self._port, type=socket.SOCK_STREAM
        )
        return [str(address[0]) for *_, address in found]

    async def _connect_to(self, address: str) -> Wire:
        name = (self._server_name or self._host) if self._tls is not None else None
        _, wire = await asyncio.get_running_loop().create_connection(
            self._new_wire, address, self._port, ssl=self._tls, server_hostname=name
        )
        return wire


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True

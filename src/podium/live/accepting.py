"""Accepts connections for a server, up to a limit."""

from __future__ import annotations

import asyncio
import socket
import ssl
import weakref
from contextlib import suppress
from typing import Final

from aiohttp import web

from podium.clock import Clock, sleep
from podium.live.connection import connect
from podium.logs import get_logger
from podium.serving.problem_log import ProblemLog

log = get_logger(__name__)

HANDSHAKE_SECONDS: Final = 10.0
SHUTDOWN_SECONDS: Final = 5.0
# asyncio keeps 300 KiB for a connection with TLS even before its handshake: without a limit,
# clients without any rights could fill the memory.
MOST_CONNECTIONS: Final = 250
PAUSE_SECONDS: Final = 1.0


class Acceptor:
    """Hands connections of a listening socket to a server, after the handshake if there is TLS.

    When there are too many connections, the oldest one is closed. Health probes are answered long
    before they become the oldest, however many other clients only keep connections open.
    """

    def __init__(
        self, listening: socket.socket, server: web.Server, tls: ssl.SSLContext | None, clock: Clock
    ) -> None:
        listening.setblocking(False)
        self._listening = listening
        self._server = server
        self._tls = tls
        self._clock = clock
        self._problems = ProblemLog(clock, log)
        # The oldest first; None during the handshake. Closed ones stay until there are too many.
        self._held: dict[asyncio.Task[None], weakref.ref[asyncio.Transport] | None] = {}

    async def run(self) -> None:
        """Accept connections until cancelled; then the socket is closed."""
        try:
            while True:
                try:
                    connection = await self._accept()
                except OSError as error:  # most likely there are too many open files
                    log.warning("cannot accept a connection; trying again", why=str(error))
                    await sleep(self._clock, PAUSE_SECONDS)
                    continue
                self._admit(connection)
        finally:
            self._listening.close()
            for task in self._held:
                task.cancel()

    async def _accept(self) -> socket.socket:
        """Return the next connection.

        ``loop.sock_accept`` would log an error if one arrives in the moment of cancelling.
        """
        loop = asyncio.get_running_loop()
        while True:
            with suppress(BlockingIOError):
                connection, _ = self._listening.accept()
                connection.setblocking(False)
                return connection
            has_some = asyncio.Event()
            loop.add_reader(self._listening, has_some.set)
            try:
                await has_some.wait()
            finally:
                loop.remove_reader(self._listening)

    def _admit(self, connection: socket.socket) -> None:
        if len(self._held) >= MOST_CONNECTIONS:
            self._make_room()
        self._held[asyncio.ensure_future(self._open(connection))] = None

    def _make_room(self) -> None:
        """Forget closed connections; if there are none, close the oldest one."""
        self._held = {task: one for task, one in self._held.items() if not _is_over(task, one)}
        if len(self._held) < MOST_CONNECTIONS:
            return
        task = next(iter(self._held))
        reference = self._held.pop(task)
        transport = reference() if reference is not None else None
        if transport is not None:
            transport.abort()
        task.cancel()

    async def _open(self, connection: socket.socket) -> None:
        is_secure = self._tls is not None
        client = _address_of(connection)
        try:
            transport, _ = await asyncio.get_running_loop().connect_accepted_socket(
                lambda: connect(self._server),
                connection,
                ssl=self._tls,
                ssl_handshake_timeout=HANDSHAKE_SECONDS if is_secure else None,
                ssl_shutdown_timeout=SHUTDOWN_SECONDS if is_secure else None,
            )
        except ssl.SSLError as error:
            self._problems.report("TLS refused a client", _why_refused(error), client=client)
            return
        except OSError as error:  # the client has gone, or takes too long
            log.v(4, "connection not opened", why=str(error), client=client)
            return
        task = asyncio.current_task()
        if task in self._held:
            self._held[task] = weakref.ref(transport)


def _is_over(task: asyncio.Task[None], one: weakref.ref[asyncio.Transport] | None) -> bool:
    transport = one() if one is not None else None
    return task.done() and (transport is None or transport.is_closing())


def _address_of(connection: socket.socket) -> str:
    try:
        return str(connection.getpeername()[0])
    except OSError:  # it has gone already
        return ""


def _why_refused(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"no known authority vouches for its certificate: {error.verify_message}"
    return (getattr(error, "reason", None) or str(error)).lower().replace("_", " ")

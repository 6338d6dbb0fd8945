"""Serves the endpoints: with TLS and authorization on the secure port, without on loopback.

It runs in the side thread, so that a stalled scheduler still answers.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from podium.errors import ServingError
from podium.live.accepting import Acceptor
from podium.live.answers import Answers
from podium.live.asking import Asking
from podium.live.endpoints import Endpoints, Shown
from podium.live.running import RunningScheduler
from podium.live.tasks import DRAIN_SECONDS
from podium.logs import get_logger
from podium.serving import statuses
from podium.serving.listening import listen
from podium.serving.options import ServingOptions
from podium.serving.secure_port import SecurePort

log = get_logger(__name__)

IDLE_SECONDS: Final = 90.0  # also for the headers of a request, so that slow clients do not pile up


class Site(Protocol):
    """Web pages that are served beside the endpoints, with a sign-in of their own."""

    def add_to(self, app: web.Application) -> None:
        """Add the routes."""

    def guarded(self, guard: Middleware | None) -> Middleware:
        """Return the middleware for all paths; ``guard`` is the port's own, if it has one."""

    async def close(self) -> None:
        """End the responses that are still being sent."""


MakeSite = Callable[[Shown, RunningScheduler, Asking], Site]


class Server:
    """An HTTP server; call ``start…`` and ``stop`` on one event loop.

    Every port serves the same paths. On the secure port a guard checks each request first.
    """

    def __init__(
        self, shown: Shown, answers: Answers | None = None, site: Site | None = None
    ) -> None:
        self._clock = shown.clock
        self._routes = Endpoints(shown).routes()
        self._answers = answers
        self._site = site
        self._stops: list[Callable[[], Awaitable[object]]] = []

    async def start(self, host: str, port: int) -> tuple[str, int]:
        """Serve plain HTTP on a loopback address; port 0 takes a free one."""
        require_loopback(host)
        return await self._serve(host, port)

    async def start_secure(self, options: ServingOptions) -> tuple[str, int]:
        """Serve HTTPS to authorized users; raise ``PodiumError`` if an option cannot be used."""
        secure = SecurePort(options, self._clock)
        self._stops.append(secure.close)
        await secure.open()
        keeping = asyncio.ensure_future(secure.run())
        self._stops.append(lambda: _cancelled(keeping))
        return await self._serve(
            options.bind_address,
            options.secure_port,
            secure=secure,
            shares_port=options.shares_port,
        )

    async def stop(self) -> None:
        while self._stops:
            await self._stops.pop()()

    async def _serve(
        self, host: str, port: int, *, secure: SecurePort | None = None, shares_port: bool = False
    ) -> tuple[str, int]:
        listening = listen(host, port, shares_port=shares_port)
        runner = web.AppRunner(
            self._app([_finish, *self._guards(secure)]),
            access_log=None,
            shutdown_timeout=DRAIN_SECONDS,
            keepalive_timeout=IDLE_SECONDS,
        )
        await runner.setup()
        self._stops.append(runner.cleanup)
        if self._site is not None:
            self._stops.append(self._site.close)  # before the cleanup, which waits for answers
        assert runner.server is not None
        tls = secure.context if secure is not None else None
        acceptor = asyncio.ensure_future(Acceptor(listening, runner.server, tls, self._clock).run())
        self._stops.append(lambda: _cancelled(acceptor))
        address = listening.getsockname()
        return address[0], address[1]

    def _guards(self, secure: SecurePort | None) -> list[Middleware]:
        guard = secure.guard.middleware() if secure is not None else None
        if self._site is not None:
            return [self._site.guarded(guard)]
        return [] if guard is None else [guard]

    def _app(self, middlewares: Sequence[Middleware]) -> web.Application:
        app = web.Application(middlewares=middlewares)
        app.router.add_routes(self._routes)
        if self._answers is not None:
            self._answers.add_to(app)
        if self._site is not None:
            self._site.add_to(app)
        app.on_response_prepare.append(_add_headers)
        return app


async def _cancelled(task: asyncio.Future[None]) -> None:
    task.cancel()
    await asyncio.wait({task})


@web.middleware
async def _finish(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer unknown paths with the text of Go's HTTP server."""
    try:
        return await handler(request)
    except (web.HTTPNotFound, web.HTTPMethodNotAllowed):
        return statuses.not_found()


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(statuses.HEADERS)
    response.headers.popall("Server", None)  # clients need not know the version of a library


def require_loopback(host: str) -> None:
    """Refuse other addresses: everyone who can connect to the plain port can read everything."""
    if host == "localhost":
        return
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        raise ServingError(f'"{host}" is not an IP address; use for example 127.0.0.1') from None
    if not is_loopback:
        raise ServingError(
            f"cannot serve plain HTTP on {host}: it has no authentication, "
            "so it is served only on a loopback address such as 127.0.0.1"
        )

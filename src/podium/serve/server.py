"""The HTTP server of `podium serve`: routes, the token, limits, and errors as JSON."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

import msgspec
from aiohttp import web

from podium.errors import PodiumError, ServingError
from podium.live.json_answers import Refused, internal_failure
from podium.live.serving import require_loopback
from podium.logs import get_logger
from podium.serve import operations, values
from podium.serve.cluster import Cluster
from podium.serve.openapi import document
from podium.serve.token import carries_token
from podium.serve.worker import Busy, Check, TooSlow, Worker
from podium.simulation import Simulation

log = get_logger(__name__)

R = TypeVar("R")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

OPEN: Final = ("/healthz", "/openapi.json")  # paths that need no token
_DESCRIBED: Final = "GET /openapi.json describes the request"
_CLOSE: Final = {"Connection": "close"}
_LAST_SECONDS: Final = 0.5  # grace for answers under way; aiohttp takes 0 as no limit


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a server: bytes and seconds of a request, and requests at the same time."""

    body_bytes: int = 1 << 20
    seconds: float = 30.0
    requests: int = 16


class Server:
    """Answers questions about one cluster; call ``start`` and ``stop`` on one event loop."""

    def __init__(self, cluster: Cluster, token: str, limits: Limits = Limits()) -> None:  # noqa: B008  # frozen
        self._cluster = cluster
        self._token = token
        self._limits = limits
        self._worker = Worker(limits.requests, limits.seconds)
        self._openapi = msgspec.json.encode(document())
        self._runner: web.AppRunner | None = None
        self._listener: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> tuple[str, int]:
        """Listen on a loopback address, and return it; port 0 takes a free one."""
        check_address(host)
        # Work ends when its client has gone, and soon after the server is stopped.
        self._runner = web.AppRunner(
            self.app(), access_log=None, handler_cancellation=True, shutdown_timeout=_LAST_SECONDS
        )
        await self._runner.setup()
        loop = asyncio.get_running_loop()
        try:
            self._listener = await loop.create_server(self._connection, host, port)
        except OSError as error:
            await self.stop()
            why, hint = os.strerror(error.errno or 0), "choose another with --port"
            raise PodiumError(f"{host}:{port} cannot be used: {why}; {hint}") from error
        address = self._listener.sockets[0].getsockname()
        return address[0], address[1]

    def _connection(self) -> web.RequestHandler:
        assert self._runner is not None
        assert self._runner.server is not None
        made = self._runner.server()
        made.__class__ = _Connection  # aiohttp offers no way to choose the class
        return made

    async def stop(self) -> None:
        if self._listener is not None:
            self._listener.close()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        self._worker.close()

    def app(self) -> web.Application:
        app = web.Application(
            client_max_size=self._limits.body_bytes, middlewares=[_as_json, self._guard]
        )
        app.router.add_get("/healthz", self._health)
        app.router.add_get("/openapi.json", self._describe)
        app.router.add_get("/v1/cluster", self._summary)
        app.router.add_get("/v1/pods/{namespace}/{name}", self._pod)
        app.router.add_get("/v1/nodes/{name}", self._node)
        app.router.add_post("/v1/explain", self._explain)
        app.router.add_post("/v1/fit", self._fit)
        app.router.add_post("/v1/simulate", self._simulate)
        return app

    # --- questions -------------------------------------------------------------------------------

    async def _health(self, request: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def _describe(self, request: web.Request) -> web.Response:
        return web.Response(body=self._openapi, content_type="application/json")

    async def _summary(self, request: web.Request) -> web.Response:
        cluster = self._cluster
        return await self._answer(
            lambda found: operations.summary(found, cluster.source(), cluster.release)
        )

    async def _pod(self, request: web.Request) -> web.Response:
        key = "{namespace}/{name}".format(**request.match_info)
        nodes = request.query.getall("node", [])
        return await self._answer(partial(operations.explain_existing, key=key, nodes=nodes))

    async def _node(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        return await self._answer(partial(operations.explain_one_node, name=name))

    async def _explain(self, request: web.Request) -> web.Response:
        asked = await self._read(request, values.ExplainRequest)
        return await self._answer(
            partial(operations.explain_manifest, manifest=asked.pod, nodes=asked.nodes)
        )

    async def _fit(self, request: web.Request) -> web.Response:
        asked = await self._read(request, values.FitRequest)
        return await self._answer(partial(operations.fit, request=asked))

    async def _simulate(self, request: web.Request) -> web.Response:
        asked = await self._read(request, values.SimulateRequest)
        return await self._answer(partial(operations.simulate, request=asked))

    async def _read(self, request: web.Request, shape: type[R]) -> R:
        """Return the body of a request, or refuse it."""
        if request.content_type != "application/json":
            raise Refused(415, "the body must be JSON", "send Content-Type: application/json")
        try:
            async with asyncio.timeout(self._limits.seconds):
                body = await request.read()
        except TimeoutError:
            hint = "send the whole body at once"
            raise Refused(408, "the body did not arrive in time", hint, _CLOSE) from None
        if not body.strip():
            raise Refused(400, "the body is empty", _DESCRIBED)
        try:
            return msgspec.json.decode(body, type=shape)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
            raise Refused(400, str(error) or "nested too deeply", _DESCRIBED) from error

    async def _answer(self, ask: Callable[[Simulation], msgspec.Struct]) -> web.Response:
        """Ask on the worker's thread, about the cluster as it is now."""

        def work(check: Check) -> bytes:
            simulation = self._cluster.simulation()
            with simulation.stoppable(check):
                return msgspec.json.encode(ask(simulation))

        return web.Response(body=await self._worker.run(work), content_type="application/json")

    # --- the token -------------------------------------------------------------------------------

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        sent = request.headers.get("Authorization", "")
        if request.path not in OPEN and not carries_token(sent, self._token):
            hint = "send the token of this server: Authorization: Bearer TOKEN"
            raise Refused(401, "no token, or a wrong one", hint)
        return await handler(request)


def check_address(host: str) -> None:
    """Raise ``ServingError`` unless this is a loopback address: the token must not be overheard."""
    try:
        require_loopback(host)
    except ServingError as error:
        text = "podium serve has no TLS, so it listens only on a loopback address such as 127.0.0.1"
        raise ServingError(f"{text}, not on {host}") from error


@web.middleware
async def _as_json(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn every error into a JSON answer that says what to do about it."""
    try:
        return await handler(request)
    except Refused as refused:
        return refused.response()
    except web.HTTPException as error:
        return _http_failure(error)
    except Busy:
        hint = "try again in a second"
        return Refused(429, "too many requests at once", hint, {"Retry-After": "1"}).response()
    except TooSlow:
        hint = "ask a smaller question: fewer replicas, or a fit with explain false"
        return Refused(504, "the answer took too long", hint).response()
    except operations.Unknown as error:
        return Refused(404, str(error)).response()
    except PodiumError as error:
        return Refused(422, str(error)).response()
    except ConnectionError:
        raise  # the client has gone
    except Exception:
        log.error("cannot answer", path=request.path)
        return internal_failure()


def _http_failure(error: web.HTTPException) -> web.Response:
    hints = {
        404: "GET /openapi.json lists the paths",
        405: f"allowed here: {error.headers.get('Allow', '')}",
        413: "send fewer or smaller objects",
    }
    allowed = {name: value for name, value in error.headers.items() if name == "Allow"}
    return Refused(error.status, error.reason, hints.get(error.status, ""), allowed).response()


class _Connection(web.RequestHandler):
    """A connection that answers in JSON even if a request is not HTTP, and logs no traceback."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if request.writer.output_size > 0:
            raise ConnectionError("a part of another answer was sent already")
        what = "not an HTTP request" if status == 400 else "podium failed"
        response = Refused(status, what, "GET /openapi.json describes how to ask").response()
        response.force_close()
        return response

"""The API server on a local port: aiohttp in front of `routes.py`.

Without TLS and tokens it listens on loopback only, and everybody who can connect may do everything.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
import ssl
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NoReturn
from urllib.parse import unquote

import msgspec
from aiohttp import web
from aiohttp.client_exceptions import ClientError
from aiohttp.http import HttpVersion11
from aiohttp.http_exceptions import HttpProcessingError

from podium.apiserver import statuses
from podium.apiserver.answers import Answer
from podium.apiserver.api import Api
from podium.apiserver.decoding import NotYaml, YamlReader, read_yaml
from podium.apiserver.documents import Documents
from podium.apiserver.patching import APPLY
from podium.apiserver.requests import find_target
from podium.apiserver.routes import YAML_MEDIA, Request, Routes, Watching
from podium.apiserver.statuses import Refusal
from podium.apiserver.watching import STUCK_SECONDS, Stream, WatchStream
from podium.clock import Clock, LoopClock
from podium.errors import NotOnLoopback
from podium.logs import get_logger

MAX_BODY_BYTES = 3 * 1024 * 1024
_MUCH_YAML = 32 * 1024
_MAX_LINE_BYTES = 64 * 1024
_SHUTDOWN_SECONDS = 1.0
_HEADERS = ("Host", "Authorization", "Accept", "Content-Type", "User-Agent")
_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Access:
    """Who may connect. By default everybody on loopback, without a token."""

    tls: ssl.SSLContext | None = None
    tokens: tuple[str, ...] = ()

    def check_address(self, host: str) -> None:
        if not _is_loopback(host) and not (self.tls and self.tokens):
            raise NotOnLoopback(
                f"{host} is no loopback address: give TLS and tokens, or listen on 127.0.0.1"
            )

    def check(self, headers: Mapping[str, str]) -> None:
        """Raise 401 without a valid token, and 403 for requests from web pages of other hosts."""
        if self.tokens:
            given = headers.get("Authorization", "").removeprefix("Bearer ")
            if not any(hmac.compare_digest(given.encode(), one.encode()) for one in self.tokens):
                raise statuses.unauthorized()
            return
        host = headers.get("Host", "localhost")
        name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
        if name not in _LOCAL_NAMES and not _is_loopback(name.strip("[]")):
            message = f'forbidden: "{host[:100]}" is not this machine'
            raise Refusal(403, statuses.FORBIDDEN, message, {})


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


Wrap = Callable[[Stream], Stream]


class EmbeddedServer:
    """The server: ``async with EmbeddedServer(api) as server: … server.url``.

    Port 0 takes any free port.
    """

    def __init__(
        self,
        api: Api,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        access: Access = Access(),  # noqa: B008  # frozen
        clock: Clock | None = None,
    ) -> None:
        access.check_address(host)
        self.api = api
        self.host = host
        self.port = port
        self._access = access
        self._clock = clock or LoopClock()
        self._routes = Routes(api)
        self._documents = Documents(api)
        self._runner: web.ServerRunner | None = None
        self._streams: set[asyncio.Task[None]] = set()
        self._reading = _reader()

    @property
    def url(self) -> str:
        scheme = "https" if self._access.tls else "http"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{self.port}"

    async def start(self) -> None:
        server = web.Server(
            self.handle,
            access_log=None,
            handler_cancellation=True,  # notices at once when a watcher disconnects
            auto_decompress=False,  # kube-apiserver does not read compressed bodies either
            logger=_http_log(),
            max_line_size=_MAX_LINE_BYTES,
            max_field_size=_MAX_LINE_BYTES,
            keepalive_timeout=3600,
        )
        self._reading = _reader()
        self._runner = web.ServerRunner(server, shutdown_timeout=_SHUTDOWN_SECONDS)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.host, self.port, ssl_context=self._access.tls)
        await site.start()
        self.port = self._runner.addresses[0][1]
        self._documents.address = f"{self.host}:{self.port}"

    async def stop(self) -> None:
        for stream in list(self._streams):
            stream.cancel()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        self._reading.shutdown(wait=False, cancel_futures=True)

    async def __aenter__(self) -> EmbeddedServer:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def handle(
        self, request: web.BaseRequest, wrap: Wrap | None = None
    ) -> web.StreamResponse:
        """Answer a request; ``wrap`` may put something between a watch and its connection."""
        try:
            headers = _headers(request)
            self._access.check(headers)
            found = await self._answer(request, headers)
            if isinstance(found, Watching):
                return await self._stream(request, found, wrap)
            return _response(found)
        except Refusal as error:
            return _response(_refusal(error))
        except (ConnectionError, ClientError):
            raise
        except Exception:  # one failing request must not end the server
            log.error("request failed", method=request.method, path=request.path)
            fault = Refusal(500, "InternalError", "Internal error occurred: see podium's log", {})
            return _response(_refusal(fault))

    async def _answer(
        self, request: web.BaseRequest, headers: Mapping[str, str]
    ) -> Answer | Watching:
        parts = _parts(request.rel_url.raw_path)
        target = find_target(self.api.kinds, parts)
        if target is None:
            return self._documents.answer(request.method, parts, headers)
        body = await self._body(request)
        read = await self._yaml_reader(body, headers.get("Content-Type", ""))
        return self._routes.handle(
            Request(
                "GET" if request.method == "HEAD" else request.method,
                target,
                dict(request.rel_url.query),
                body,
                headers.get("Content-Type", ""),
                headers.get("Accept", ""),
                headers.get("User-Agent", ""),
                read,
            )
        )

    async def _yaml_reader(self, body: bytes, content_type: str) -> YamlReader:
        """Return a reader that parses large YAML in a thread, since it can take seconds."""
        media = content_type.split(";")[0].strip().lower()
        if len(body) < _MUCH_YAML or media not in (*YAML_MEDIA, APPLY):
            return read_yaml
        loop = asyncio.get_running_loop()
        try:
            value = await loop.run_in_executor(self._reading, read_yaml, body)
        except NotYaml as error:
            fault = error

            def refuse(_: bytes) -> NoReturn:
                raise fault

            return refuse
        return lambda _: value

    async def _body(self, request: web.BaseRequest) -> bytes:
        """Read the whole body; raise 413 as soon as it is known to be too large."""
        timer = self._clock.call_later(STUCK_SECONDS, lambda: _abort(request))
        try:
            return await _body(request)
        finally:
            timer.cancel()

    async def _stream(
        self, request: web.BaseRequest, watching: Watching, wrap: Wrap | None
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        if request.version >= HttpVersion11:
            response.enable_chunked_encoding()
        else:  # the end of the connection is that of the watch
            response.force_close()
        stream: Stream = _ResponseStream(request, response)
        stream = stream if wrap is None else wrap(stream)
        watch = WatchStream(watching.request, watching.view, stream, self._clock)
        await response.prepare(request)
        task = asyncio.current_task()
        assert task is not None
        self._streams.add(task)
        try:
            await watch.run()
            await response.write_eof()
        except (ConnectionError, ClientError):
            log.debug("watcher left", path=request.path)
        finally:
            watch.close()
            self._streams.discard(task)
        return response


def _reader() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, "reading YAML")


class _ResponseStream:
    """The frames of a watch, written to a connection."""

    def __init__(self, request: web.BaseRequest, response: web.StreamResponse) -> None:
        self._request = request
        self._response = response

    async def write(self, data: bytes) -> None:
        await self._response.write(data)

    def abort(self) -> None:
        _abort(self._request)


def _abort(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.abort()


def _http_log() -> logging.Logger:
    """Return a logger for aiohttp that drops messages about requests that are not HTTP."""
    found = logging.getLogger(f"{__name__}.http")
    found.addFilter(_is_ours)
    return found


def _is_ours(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def _headers(request: web.BaseRequest) -> dict[str, str]:
    """Return the headers that are used, as text; any bytes can be sent back unchanged."""
    return {
        name: request.headers[name].encode(errors="replace").decode()
        for name in _HEADERS
        if name in request.headers
    }


def _parts(path: str) -> list[str]:
    parts = [unquote(part, errors="replace") for part in path.split("/")[1:]]
    return (parts[:-1] if len(parts) > 1 and parts[-1] == "" else parts) or ["*"]


async def _body(request: web.BaseRequest) -> bytes:
    """The whole body; 413 as soon as it is known to be too large."""
    length = request.content_length
    if length is not None and length > MAX_BODY_BYTES:
        raise statuses.too_large(MAX_BODY_BYTES)
    found = bytearray()
    try:
        async for chunk in request.content.iter_chunked(64 * 1024):
            found += chunk
            if len(found) > MAX_BODY_BYTES:
                raise statuses.too_large(MAX_BODY_BYTES)
    except web.RequestPayloadError as error:
        raise statuses.bad_request(f"the body cannot be read: {error}") from None
    return bytes(found)


def _refusal(error: Refusal) -> Answer:
    body = msgspec.json.encode(error.to_json())
    return Answer(body, error.code, warnings=error.warnings, retry_after=error.retry_after)


def _response(answer: Answer) -> web.Response:
    headers = {"Content-Type": answer.media, "Cache-Control": "no-cache, private"}
    if answer.retry_after:
        headers["Retry-After"] = str(answer.retry_after)
    response = web.Response(body=answer.body, status=answer.code, headers=headers)
    for warning in answer.warnings:
        text = warning.encode("ascii", "replace").decode().replace("\\", "\\\\").replace('"', '\\"')
        clean = "".join(char for char in text if char.isprintable())
        response.headers.add("Warning", f'299 - "{clean}"')
    return response

"""Requests to one API server: credentials, TLS, a rate limit, retries.

Watches use aiohttp, everything else `wire.py`. `api_client.py` and `reflector.py` call it; whatever
goes wrong is raised as one of podium's `ApiError`s.
"""

from __future__ import annotations

import random
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from podium.client.answer_parser import MOST_BODY_BYTES, Answer, BadAnswer
from podium.client.answers import error_of
from podium.client.clock_check import ClockCheck
from podium.client.dialing import connector
from podium.client.endpoint import Endpoint
from podium.client.failures import unauthorized, unreachable
from podium.client.lanes import Lanes
from podium.client.pacing import TokenBucket
from podium.client.trouble import Troubles
from podium.client.wire import CannotConnect, Wires
from podium.clock import Clock, TimeLimit, sleep
from podium.errors import (
    ApiError,
    CredentialsError,
    NotLeading,
    ReadOnly,
    Unauthorized,
    Unreachable,
)
from podium.tls import Certificate, use_certificate

_JSON = "application/json"
MOST_TRIES = 10
# A server that names a later time is asked again after this: a pod that waits holds room on a node.
MOST_RETRY_SECONDS = 60.0
RECONNECT_SECONDS = 0.1
RECONNECT_TRIES = 4
_NO_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=None)  # the clock measures time

# What connections fail with, before it becomes an ``Unreachable``.
_FAULTS = (aiohttp.ClientError, OSError, CannotConnect, BadAnswer)

# The next bytes of an answer, b"" at its end.
Read = Callable[[], Awaitable[bytes]]
# A request's method, its code (0 without an answer) and its seconds, for metrics.
Observe = Callable[[str, int, float], None]


@dataclass(frozen=True, slots=True)
class Options:
    """The rate and the user agent of requests, as in ``clientConnection``.

    ``streams_lists``: whether informers ask for lists as the beginning of a watch. ``reads_only``:
    every other request raises ``ReadOnly`` before anything is sent. ``most_bytes``: larger answers
    are refused, but for watches. ``checks_clock``: warn if our clock is not the server's.
    """

    qps: float = 50.0
    burst: int = 100
    user_agent: str = "podium"
    timeout_seconds: float = 60.0
    streams_lists: bool = True
    reads_only: bool = False
    most_bytes: int = MOST_BODY_BYTES
    checks_clock: bool = False


class Request(NamedTuple):
    """One request."""

    method: str
    path: str  # from the root, with its query, already quoted
    body: bytes | None = None
    content_type: str = _JSON
    is_fenced: bool = True  # a write that only the leader may send
    accept: str = _JSON

    @property
    def is_read(self) -> bool:
        return self.method == "GET"


class Fence:
    """Refuses writes while another process may lead; each write calls ``may_write`` first."""

    def __init__(self) -> None:
        self.may_write: Callable[[], bool] = lambda: True

    def check(self) -> None:
        if not self.may_write():
            raise NotLeading("not sent: this process does not lead, or not any more")


class _RetryLater(Exception):
    """The server said when to try again."""

    def __init__(self, seconds: float, refusal: ApiError) -> None:
        self.seconds = seconds
        self.refusal = refusal


class Connection:
    """A pool of connections to one API server; ``async with`` closes it.

    Built anywhere, used on one event loop.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        clock: Clock,
        options: Options = Options(),  # noqa: B008  # frozen
        observe: Observe | None = None,
        notes_of: Connection | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.clock = clock
        self.troubles = Troubles()
        self.streams_lists = options.streams_lists
        self._options = options
        self._observe = observe
        self._time_limit = TimeLimit(clock, options.timeout_seconds)
        self._limit = TokenBucket(options.qps, options.burst, clock)
        self._is_for_notes = notes_of is not None
        self._lanes: Lanes = Lanes() if notes_of is None else notes_of._lanes
        self.fence: Fence = Fence() if notes_of is None else notes_of.fence
        self._tls = self._tls_context()
        self._shown: Certificate | None = endpoint.tls.certificate
        self._wires = Wires(endpoint, self._tls, clock, options.most_bytes)
        self._clock_check: ClockCheck | None = None
        if options.checks_clock and notes_of is None:
            self._clock_check = ClockCheck(clock, endpoint.server)
        self._prefix = urlsplit(endpoint.server).path
        self._fixed_headers = {
            "Host": urlsplit(endpoint.server).netloc,
            "Accept-Encoding": "identity",
            "User-Agent": options.user_agent,
            **endpoint.impersonate,
        }
        self._head = _head_of(self._fixed_headers)
        self._session: aiohttp.ClientSession | None = None

    def _tls_context(self) -> ssl.SSLContext | None:
        if not self.endpoint.server.startswith("https:"):
            return None
        return self.endpoint.tls.context(self.endpoint.source)

    async def __aenter__(self) -> Connection:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def for_notes(self) -> Connection:
        """Return another connection to the same server; its requests give way to those of this one.

        It has its own rate limit and connections.
        """
        return Connection(self.endpoint, self.clock, self._options, self._observe, notes_of=self)

    async def close(self) -> None:
        await self._wires.close()
        if self._session is not None:
            await self._session.close()
            self._session = None

    # --- requests --------------------------------------------------------------------------------

    async def get(self, path: str) -> bytes:
        return await self.send(Request("GET", path))

    async def send(self, request: Request) -> bytes:
        """Send the request and return the body of the answer.

        Reads are sent again when the connection fails, and any request when the server asks for
        that.
        """
        reconnects, in_doubt = 0, False
        for attempt in range(1, MOST_TRIES + 1):
            try:
                return await self._once(request)
            except _RetryLater as later:
                later.refusal.follows_doubt = in_doubt
                if attempt == MOST_TRIES:
                    raise later.refusal from None
                in_doubt = later.refusal.may_be_done
                await sleep(self.clock, later.seconds)
            except ApiError as error:
                error.follows_doubt = in_doubt
                reconnects += 1
                is_lost = isinstance(error, Unreachable) and request.is_read
                if not is_lost or reconnects == RECONNECT_TRIES:
                    raise
                await sleep(self.clock, RECONNECT_SECONDS * (1 + random.random()))
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _once(self, request: Request) -> bytes:
        await self._limit.wait()
        await self._lanes.enter(is_note=self._is_for_notes)  # no timeout yet: it has not begun
        try:
            return (await self._in_time(request.method, self._exchange(request))).body
        finally:
            self._lanes.leave(is_note=self._is_for_notes)

    async def send_together(self, requests: Sequence[Request]) -> list[ApiError | None]:
        """Send requests over one connection, without waiting for an answer before the next one.

        Return for each why it failed, None if it succeeded. Nothing is sent again.
        """
        for _ in requests:
            await self._limit.wait()
        await self._lanes.enter(is_note=self._is_for_notes)
        begun = self.clock.now()
        try:
            answers = await self._time_limit.of(self._exchange_together(requests))
            found = [
                None if _is_success(one.code) else error_of(one.code, one.body) for one in answers
            ]
            codes = [one.code for one in answers]
        except (*_FAULTS, Unauthorized, NotLeading) as error:
            known = error if isinstance(error, ApiError) else self._unreachable(error)
            found, codes = [known] * len(requests), [0] * len(requests)
        finally:
            self._lanes.leave(is_note=self._is_for_notes)
        if self._observe is not None:
            for request, code in zip(requests, codes, strict=True):
                self._observe(request.method, code, self.clock.now() - begun)
        return found

    async def _exchange_together(self, requests: Sequence[Request]) -> list[Answer]:
        data = [await self._bytes_of(request) for request in requests]
        return await self._wires.exchange(b"".join(data), len(requests), self.fence.check)

    @asynccontextmanager
    async def stream(self, path: str) -> AsyncIterator[Read]:
        """Open an endless answer and yield a function that reads its next chunk."""
        await self._limit.wait()
        try:
            opened: list[aiohttp.ClientResponse] = []
            await self._in_time("GET", self._begin(path, opened))
        except _RetryLater as later:
            raise later.refusal from None
        (answer,) = opened
        try:
            yield partial(self._chunk, answer)
        finally:
            answer.close()

    async def _chunk(self, answer: aiohttp.ClientResponse) -> bytes:
        try:
            return await answer.content.readany()
        except _FAULTS as error:
            raise self._unreachable(error) from error

    # --- one exchange ----------------------------------------------------------------------------

    async def _in_time(self, method: str, work: Awaitable[Answer]) -> Answer:
        """Await an answer with a time limit; raise anything but success as podium's errors."""
        begun, code = self.clock.now(), 0
        try:
            answer = await self._time_limit.of(work)
            code = answer.code
        except _FAULTS as error:
            raise self._unreachable(error) from error
        finally:
            if self._observe is not None:
                self._observe(method, code, self.clock.now() - begun)
        if not _is_success(code):
            raise self._refusal(answer)
        return answer

    async def _exchange(self, request: Request) -> Answer:
        """Send the request, and once more with new credentials if the API refuses them."""
        check = self.fence.check if request.is_fenced and not request.is_read else None
        sent_at = self.clock.now()
        (answer,) = await self._wires.exchange(await self._bytes_of(request), check=check)
        if answer.code == 401 and self.endpoint.login.refuse():
            (answer,) = await self._wires.exchange(await self._bytes_of(request), check=check)
        if self._clock_check is not None:
            self._clock_check.look(sent_at, answer.headers.get(b"date", b""))
        return answer

    async def _bytes_of(self, request: Request) -> bytes:
        """Return what goes over the wire: nothing is sent that does not pass through here."""
        if self._options.reads_only and not request.is_read:
            where = f"{self.endpoint.source}: {self.endpoint.server}"
            raise ReadOnly(f"{where}: {request.method} {request.path}: this connection only reads")
        method, path, body, content_type, _, accept = request
        credentials = _head_of(await self._credentials())
        head = f"{method} {self._prefix}{path} HTTP/1.1\r\n{self._head}{credentials}"
        head += f"Accept: {accept}\r\n"
        if body is None:
            return f"{head}\r\n".encode()
        about = f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
        return f"{head}{about}".encode() + body

    async def _begin(self, path: str, opened: list[aiohttp.ClientResponse]) -> Answer:
        """Open a stream into ``opened``; a refusal is read to its end."""
        answer = await self._open_stream(path)
        if answer.status == 401 and self.endpoint.login.refuse():
            answer.release()
            answer = await self._open_stream(path)
        opened.append(answer)
        retry_after = answer.headers.get("Retry-After", "").encode()
        body = b"" if _is_success(answer.status) else await answer.read()
        return Answer(answer.status, {b"retry-after": retry_after}, body)

    async def _open_stream(self, path: str) -> aiohttp.ClientResponse:
        return await self._open().request(
            "GET",
            URL(self.endpoint.server + path, encoded=True),
            headers={"Accept": _JSON, **self._fixed_headers, **await self._credentials()},
            allow_redirects=False,
            server_hostname=self.endpoint.tls.server_name or None,
        )

    async def _credentials(self) -> dict[str, str]:
        try:
            token = await self.endpoint.login.token()
            self._show_certificate()
        except CredentialsError as error:
            raise Unauthorized(str(error)) from error
        if not token.isprintable():
            raise Unauthorized(f"{self.endpoint.source}: the token is not a line of text")
        return {"Authorization": f"Bearer {token}"} if token else {}

    def _show_certificate(self) -> None:
        """Present the certificate of an exec plugin, if it is new, on future connections."""
        certificate = self.endpoint.login.certificate()
        if certificate is not None and certificate != self._shown and self._tls is not None:
            use_certificate(self._tls, certificate, self.endpoint.source)
            self._shown = certificate

    def _open(self) -> aiohttp.ClientSession:
        """Return the session, made at the first use: it belongs to the loop that runs then."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=connector(self.endpoint, self._tls),
                timeout=_NO_TIMEOUT,
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    # --- what went wrong -------------------------------------------------------------------------

    def _refusal(self, answer: Answer) -> Exception:
        refusal = error_of(answer.code, answer.body)
        if isinstance(refusal, Unauthorized):
            refusal = unauthorized(self.endpoint, refusal)
        seconds = _retry_after(answer)
        return refusal if seconds is None else _RetryLater(seconds, refusal)

    def _unreachable(self, error: Exception) -> Unreachable:
        return unreachable(self.endpoint, error, self._options.timeout_seconds)


def _head_of(headers: Mapping[str, str]) -> str:
    return "".join([f"{name}: {value}\r\n" for name, value in headers.items()])


def _is_success(code: int) -> bool:
    """A redirection is not a success: it is not followed, so nothing was done."""
    return 200 <= code < 300


def _retry_after(answer: Answer) -> float | None:
    """Return the seconds until the next try, if the server asks for one."""
    text = answer.headers.get(b"retry-after", b"")
    if text.isdigit() and (answer.code == 429 or answer.code >= 500):
        return min(float(text), MOST_RETRY_SECONDS)
    return 1.0 if answer.code == 429 else None

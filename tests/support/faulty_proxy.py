"""A proxy between a client and the embedded server that spoils what it can.

What it does is drawn from a seed. All its waiting is by the test's FakeClock.
"""

import asyncio
import json
import random
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import aiohttp
from aiohttp import web

from podium.clock import FakeClock, sleep


@dataclass
class Faults:
    """How likely each fault is, at a request or at a line of a watch."""

    refuse: float = 0.0  # 429 and 500
    forget: float = 0.0  # 410
    close: float = 0.0  # before an answer, or in the middle of a line
    delay: float = 0.0
    repeat: float = 0.0  # this line, or one from long ago
    drop: float = 0.0
    silence: float = 0.0  # nothing more on this watch
    garbage: float = 0.0
    split: float = 0.0  # a line in two chunks


NO_FAULTS = Faults()
ALL_FAULTS = Faults(
    refuse=0.1,
    forget=0.05,
    close=0.1,
    delay=0.1,
    repeat=0.1,
    drop=0.05,
    silence=0.02,
    garbage=0.02,
    split=0.2,
)


class Seen(NamedTuple):
    """A request that came in."""

    at: float
    method: str
    path: str  # with its query
    headers: Any
    body: bytes


@dataclass
class FaultyProxy:
    """Forwards requests to ``target``, with the ``faults``; ``answers`` come instead, in turn."""

    target: str
    clock: FakeClock
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    faults: Faults = field(default_factory=Faults)
    answers: list = field(default_factory=list)  # (part of a path, handler)
    requests: list = field(default_factory=list)  # every Seen
    streams_lists: bool = True  # as kube-apiserver 1.36 does
    busy: int = 0
    activity: int = 0
    watches: list = field(default_factory=list)  # their transports
    ends: list = field(default_factory=list)  # what ends each watch in order

    async def __aenter__(self):
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
        self._runner = web.ServerRunner(
            web.Server(self._handle, access_log=None, handler_cancellation=True),
            shutdown_timeout=1.0,
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_):
        self.cut_watches()
        await self._session.close()
        await self._runner.cleanup()

    def instead(self, part, *handlers):
        """Answer the next requests whose path and query contain ``part`` by these handlers."""
        self.answers += [(part, handler) for handler in handlers]

    def cut_watches(self):
        for transport in self.watches:
            transport.abort()

    def end_watches(self):
        """In order, as a server does that has had enough."""
        for end in self.ends:
            end.set()

    def calm(self):
        self.faults = NO_FAULTS
        self.cut_watches()

    def _draws(self, fault):
        return self.chance.random() < getattr(self.faults, fault)

    async def _handle(self, request):
        self.busy += 1
        self.activity += 1
        try:
            body = await request.read()
            at = self.clock.now()
            self.requests.append(Seen(at, request.method, request.path_qs, request.headers, body))
            if "sendInitialEvents" in request.path_qs and not self.streams_lists:
                return status(422, "sendInitialEvents: Forbidden: the feature is disabled")
            if handler := self._planned(request.path_qs):
                return await handler(self, request)
            if answer := await self._spoil(request):
                return answer
            return await self.forward(request, body)
        finally:
            self.busy -= 1
            self.activity += 1

    def _planned(self, path):
        for place, (part, handler) in enumerate(self.answers):
            if part in path:
                del self.answers[place]
                return handler
        return None

    async def _spoil(self, request):
        if self._draws("delay"):
            await sleep(self.clock, self.chance.random() * 80)
        if self._draws("close"):
            return await hanging_up(self, request)
        if self._draws("refuse"):
            code = self.chance.choice([429, 500, 503])
            return status(code, "busy", **({"Retry-After": "1"} if code == 429 else {}))
        if self._draws("forget"):
            return status(410, "too old resource version")
        return None

    async def forward(self, request, body):
        headers = {
            name: request.headers[name]
            for name in ("Content-Type", "Accept")
            if name in request.headers
        }
        async with self._session.request(
            request.method, self.target + request.path_qs, data=body or None, headers=headers
        ) as answer:
            if "watch=true" in request.path_qs and answer.status == 200:
                return await self._stream(request, answer)
            found = web.Response(body=await answer.read(), status=answer.status)
            found.headers["Content-Type"] = answer.headers["Content-Type"]
            return found

    async def _stream(self, request, answer):
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        transport = request.transport
        self.watches.append(transport)
        end = asyncio.Event()
        self.ends.append(end)
        self.busy -= 1  # an open watch keeps nobody waiting
        try:
            passing = asyncio.ensure_future(self._pass_lines(request, answer, response))
            ended = asyncio.ensure_future(end.wait())
            try:
                await asyncio.wait({passing, ended}, return_when=asyncio.FIRST_COMPLETED)
                if passing.done():
                    passing.result()
            finally:
                passing.cancel()
                ended.cancel()
                await asyncio.gather(passing, ended, return_exceptions=True)
            await response.write_eof()
        except (ConnectionError, aiohttp.ClientError):
            pass
        finally:
            self.busy += 1
            self.watches.remove(transport)
            self.ends.remove(end)
        return response

    async def _pass_lines(self, request, answer, response):
        past = []
        is_listing = "sendInitialEvents" in request.path_qs
        async for line in answer.content:
            self.activity += 1
            past.append(line)
            if self._draws("silence"):
                await asyncio.Event().wait()  # until the client hangs up
            if self._draws("close"):
                await response.write(line[: self.chance.randrange(len(line))])
                request.transport.abort()
                return
            if self._draws("garbage"):
                await response.write(b'{"type":"ADDED","object":{"metadata":{]}\n')
            if self._draws("forget"):
                await response.write(_ERROR)
            # A list arrives whole or not at all; only events after it are lost or repeated.
            if is_listing or not self._draws("drop"):
                await self._write(response, line)
            if not is_listing and self._draws("repeat"):
                await response.write(self.chance.choice(past))
            if is_listing and b"initial-events-end" in line:
                is_listing, past = False, []

    async def _write(self, response, line):
        if self._draws("split"):
            place = self.chance.randrange(len(line))
            await response.write(line[:place])
            line = line[place:]
        await response.write(line)


def status(code, message, **headers):
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message}
    return web.json_response({**body, "code": code}, status=code, headers=headers)


_GONE = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
_ERROR = json.dumps({"type": "ERROR", "object": _GONE}).encode() + b"\n"


def answering(code, message="no", **headers):
    """A handler that refuses."""

    async def handler(proxy, request):
        return status(code, message, **headers)

    return handler


def saying(text, code=200):
    """A handler that answers with this body."""

    async def handler(proxy, request):
        return web.Response(text=text, status=code, content_type="application/json")

    return handler


async def hanging_up(proxy, request):
    request.transport.abort()
    return web.Response()  # which nobody gets


async def losing_the_answer(proxy, request):
    """The request is carried out, and nobody hears of it."""
    await proxy.forward(request, await request.read())
    return await hanging_up(proxy, request)


def done_but(code, **headers):
    """A handler that carries out the request, and says that it failed."""

    async def handler(proxy, request):
        await proxy.forward(request, await request.read())
        return status(code, "no", **headers)

    return handler


def holding(released):
    """A handler that lets the request through once the event is set."""

    async def handler(proxy, request):
        body = await request.read()
        await released.wait()
        return await proxy.forward(request, body)

    return handler


async def never(proxy, request):
    proxy.busy -= 1  # nobody need wait for it
    try:
        await asyncio.Event().wait()
    finally:
        proxy.busy += 1


async def silent(proxy, request):
    """A watch that is begun, and tells nothing."""
    response = web.StreamResponse()
    await response.prepare(request)
    await never(proxy, request)


def streaming(*lines):
    """A handler that answers with these lines, and then ends."""

    async def handler(proxy, request):
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        for line in lines:
            await response.write(line if isinstance(line, bytes) else json.dumps(line).encode())
            await response.write(b"\n")
        await response.write_eof()
        return response

    return handler

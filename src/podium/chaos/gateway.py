"""Stands in front of the embedded API server: refuses, delays, loses and spoils requests.

It also sees every request with the host that sent it, and reports writes to the invariants.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Final, NamedTuple, cast

import msgspec
from aiohttp import web

from podium.apiserver.server import EmbeddedServer
from podium.apiserver.watching import Stream
from podium.chaos.faults import Faults
from podium.chaos.network import End
from podium.chaos.watch_faults import FaultyStream
from podium.clock import Clock, sleep

_LONGEST_DELAY: Final = 8.0
_MOST_RETRY_AFTER: Final = 4
_KEPT_LISTS: Final = 200
_LIST_SECONDS: Final = 5.0  # until a host has read the list of pods that it asked for
_LEASES: Final = "/apis/coordination.k8s.io/"


class Write(NamedTuple):
    """A write that the API server has carried out."""

    host: str
    method: str
    path: str
    code: int
    sent_at: float


class Gateway:
    """Handles the requests of all hosts; ``on_write`` is called after each write."""

    def __init__(
        self,
        server: EmbeddedServer,
        faults: Faults,
        clock: Clock,
        on_write: Callable[[Write], None],
    ) -> None:
        self._server = server
        self._faults = faults
        self._clock = clock
        self._on_write = on_write
        self._watches: dict[FaultyStream, str] = {}
        self._lists: dict[tuple[str, str], web.Response] = {}
        self._oldest = 0  # watches from a version before this one are refused
        self.requests = 0
        self.http = web.Server(
            self._handle, access_log=None, handler_cancellation=True, keepalive_timeout=3600
        )

    def accept(self) -> asyncio.BaseProtocol:
        return self.http()

    async def expire_watches(self, hosts: frozenset[str]) -> None:
        """Tell every open watch of these hosts that its version is too old."""
        for watch, host in list(self._watches.items()):
            if host in hosts:
                await watch.gone()
                watch.abort()

    async def compact(self) -> None:
        """Expire all watches, and every version up to now for watches to come."""
        self._oldest = self._server.api.store.version
        for watch in list(self._watches):
            await watch.gone()
            watch.abort()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        end = cast(End, request.transport)
        self.requests += 1
        sent_at = end.peer.wrote_at
        spoiled = await self._spoil(request, end.host)
        if spoiled is not None:
            return spoiled
        if _lists_all_pods(request):
            inform = partial(self._faults.misinformed.discard, end.host)
            self._clock.call_later(_LIST_SECONDS, inform)
        if "watch=true" in request.path_qs:
            return await self._watch(request, end.host)
        answer = cast(web.Response, await self._server.handle(request))
        if request.method != "GET":
            self._on_write(Write(end.host, request.method, request.path, answer.status, sent_at))
        return await self._deliver(request, end, answer)

    async def _spoil(self, request: web.BaseRequest, host: str) -> web.StreamResponse | None:
        """Return another answer, if a fault strikes before the request is carried out."""
        strike = self._faults.strike
        if request.path.startswith(_LEASES) and (chance := strike("slow-lease", host)):
            await sleep(self._clock, chance.uniform(0.5, _LONGEST_DELAY))
        if chance := strike("delay", host):
            await sleep(self._clock, chance.uniform(0, _LONGEST_DELAY))
        if strike("reset", host):
            return _hang_up(request)
        if chance := strike("refuse", host):
            return _refusal(chance, request.method)
        if "watch=true" in request.path_qs and (self._is_too_old(request) or strike("gone", host)):
            return _status(410, "Expired", "too old resource version")
        return None

    def _is_too_old(self, request: web.BaseRequest) -> bool:
        return 0 < int(request.rel_url.query.get("resourceVersion") or 0) < self._oldest

    async def _watch(self, request: web.BaseRequest, host: str) -> web.StreamResponse:
        opened: list[FaultyStream] = []

        def wrap(stream: Stream) -> Stream:
            faulty = FaultyStream(stream, self._faults, self._clock, host, request.path_qs)
            self._watches[faulty] = host
            opened.append(faulty)
            return faulty

        try:
            return await self._server.handle(request, wrap)
        finally:
            for each in opened:
                self._watches.pop(each, None)

    async def _deliver(
        self, request: web.BaseRequest, end: End, answer: web.Response
    ) -> web.StreamResponse:
        if request.method == "GET" and answer.status == 200:
            answer = self._perhaps_stale(request, end.host, answer)
        if self._faults.strike("lost-answer", end.host):
            return _hang_up(request)
        if chance := self._faults.strike("half-answer", end.host):
            return await _half(request, answer, chance)
        return answer

    def _perhaps_stale(
        self, request: web.BaseRequest, host: str, answer: web.Response
    ) -> web.Response:
        """Keep the first answer to each list request, and repeat it while lists must be stale."""
        body = cast(bytes, answer.body)
        if b'List"' not in body[:200]:
            return answer
        asked = (request.path_qs, _accept(request))
        kept = self._lists.get(asked)
        if kept is not None and self._faults.strike("stale-list", host):
            return web.Response(body=kept.body, headers={"Content-Type": "application/json"})
        if kept is None or len(self._lists) < _KEPT_LISTS:
            self._lists[asked] = answer
        return answer


def _lists_all_pods(request: web.BaseRequest) -> bool:
    query = request.path_qs
    is_list = "sendInitialEvents=true" in query or "limit=" in query
    if "PartialObjectMetadata" in _accept(request):
        return False  # a list without specs does not show the nodes of pods
    return query.startswith("/api/v1/pods?") and is_list and "fieldSelector" not in query


def _accept(request: web.BaseRequest) -> str:
    """Return in which form the answer is wanted: a list may have names and versions only."""
    return request.headers.get("Accept", "")


def _status(code: int, reason: str, message: str, **headers: str) -> web.Response:
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": reason,
        "message": message,
        "code": code,
    }
    json = {"Content-Type": "application/json"}
    return web.Response(body=msgspec.json.encode(body), status=code, headers={**json, **headers})


def _refusal(chance: Random, method: str) -> web.Response:
    answers = [
        _status(500, "InternalError", "etcdserver: request timed out"),
        _status(503, "ServiceUnavailable", "the server is shutting down"),
        _status(
            429, "TooManyRequests", "too many requests, please try again later",
            **{"Retry-After": str(chance.randint(1, _MOST_RETRY_AFTER))},
        ),
    ]  # fmt: skip
    if method != "GET":
        answers.append(_status(409, "Conflict", "the object has been modified"))
    return chance.choice(answers)


def _hang_up(request: web.BaseRequest) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()  # which the client never gets


async def _half(
    request: web.BaseRequest, answer: web.Response, chance: Random
) -> web.StreamResponse:
    body = cast(bytes, answer.body)
    response = web.StreamResponse(status=answer.status, headers={"Content-Length": str(len(body))})
    await response.prepare(request)
    await response.write(body[: chance.randrange(len(body) or 1)])
    _hang_up(request)
    return response

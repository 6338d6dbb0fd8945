"""The dashboard's data over HTTP: JSON for each screen, and the live stream."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from aiohttp import web

from podium.dashboard.answering import Answer
from podium.dashboard.desk import Desk, Follower
from podium.dashboard.feed import Feed, TooManyReaders
from podium.dashboard.links import ROOT
from podium.dashboard.sign_in import HEADERS
from podium.dashboard.values import Failure
from podium.dashboard.workbench import Overloaded, Workbench
from podium.live.asking import SchedulerBusy
from podium.logs import get_logger
from podium.serve.sources import Source

log = get_logger(__name__)

Respond = Callable[[web.Request], Awaitable[web.StreamResponse]]

API: Final = f"{ROOT}api"
_USUAL_LIMIT: Final = 200
_MOST_LIMIT: Final = 1000
_SETTLED: Final = ("placed", "ended", "binding")


class Api:
    """The handlers. They read, and change nothing but what a browser is signed in to."""

    def __init__(self, desk: Desk, feed: Feed, workbench: Workbench, address: str) -> None:
        self._desk = desk
        self._feed = feed
        self._workbench = workbench
        self._address = address  # where the API server of the scheduler is

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get(f"{API}/stream", _reporting(self._stream)),
            web.get(f"{API}/overview", _reporting(self._overview)),
            web.get(f"{API}/map", _reporting(self._map)),
            web.get(f"{API}/labels", _reporting(self._labels)),
            web.get(f"{API}/pending", _reporting(self._pending)),
            web.get(f"{API}/queue", _reporting(self._queue)),
            web.get(f"{API}/pods/{{namespace}}/{{name}}", _reporting(self._pod)),
            web.get(f"{API}/nodes/{{name}}", _reporting(self._node)),
            web.get(f"{API}/configuration", _reporting(self._configuration)),
            web.get(f"{API}/search", _reporting(self._search)),
            web.post(f"{API}/what-if", _reporting(self._what_if)),
        ]

    # --- the stream ------------------------------------------------------------------------------

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        async with self._feed.reader() as reader:
            answer = web.StreamResponse(
                headers={
                    **HEADERS,
                    "Content-Type": "text/event-stream",
                    "Cache-Control": "no-store",
                }
            )
            await answer.prepare(request)
            try:
                while update := await reader.next():
                    await answer.write(update)
            except ConnectionError:
                pass  # the browser is gone
            return answer

    # --- the present state -----------------------------------------------------------------------

    async def _overview(self, request: web.Request) -> web.Response:
        return _json((await self._desk.look(Follower())).overview)

    async def _map(self, request: web.Request) -> web.Response:
        return _json(await self._desk.node_map())

    async def _labels(self, request: web.Request) -> web.Response:
        return _json(await self._desk.labels(request.query.get("key", "")))

    async def _pending(self, request: web.Request) -> web.Response:
        return _json(await self._desk.pending())

    async def _queue(self, request: web.Request) -> web.Response:
        return _json(await self._desk.queue(_limit(request)))

    async def _search(self, request: web.Request) -> web.Response:
        return _json(await self._desk.find(request.query.get("q", "")[:253]))

    async def _configuration(self, request: web.Request) -> web.Response:
        found = await self._desk.configuration()
        return _json({"configuration": found, "costs": self._desk.costs()})

    # --- questions -------------------------------------------------------------------------------

    async def _pod(self, request: web.Request) -> web.Response:
        """Answer as ``podium explain pod -o json`` does."""
        key = f"{request.match_info['namespace']}/{request.match_info['name']}"
        nodes = tuple(request.query.getall("node", []))[:4]
        records = await self._desk.pod(key, nodes[0] if nodes else "")
        last = records.attempts[-1] if records is not None and records.attempts else None
        if records is not None and records.state in _SETTLED and last is not None and last.detailed:
            return _json({"source": self._source(False), "explanation": None, "records": records})
        answer = await self._workbench.ask("pod", key, nodes)
        if answer.status != 200 and records is None:
            return _refusal(answer)
        if answer.status != 200:
            why = answer.body.decode(errors="replace")
            source = self._source(False, f"what would help cannot be worked out: {why}")
            return _json({"source": source, "explanation": None, "records": records})
        explanation = msgspec.Raw(answer.body)
        source = self._source(True)
        return _json({"source": source, "explanation": explanation, "records": records})

    async def _node(self, request: web.Request) -> web.Response:
        """Answer as ``podium explain node -o json`` does."""
        name = request.match_info["name"]
        records = await self._desk.node(name)
        answer = await self._workbench.ask("node", name)
        if answer.status != 200:
            return _refusal(answer)
        explanation = msgspec.Raw(answer.body)
        source = self._source(True)
        return _json({"source": source, "explanation": explanation, "records": records})

    async def _what_if(self, request: web.Request) -> web.Response:
        """Answer as ``podium simulate -o json`` does; nothing is written anywhere."""
        if request.content_type != "application/json":
            return _failure(415, Failure(error="the body must be JSON"))
        answer = await self._workbench.ask("what-if", await request.read())
        return _raw(answer.body) if answer.status == 200 else _refusal(answer)

    def _source(self, recomputed: bool, *notes: str) -> Source:
        return Source(kind="scheduler", name=self._address, recomputed=recomputed, notes=notes)


def _limit(request: web.Request) -> int:
    text = request.query.get("limit", "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else _USUAL_LIMIT
    return max(1, min(number, _MOST_LIMIT))


def _reporting(handler: Respond) -> Respond:
    """Turn every error into a JSON answer that says what to do about it."""

    async def answer(request: web.Request) -> web.StreamResponse:
        try:
            return await handler(request)
        except web.HTTPException as error:  # such as a body that is too large
            return _failure(error.status, Failure(error=error.reason))
        except TooManyReaders:
            hint = "close some of the pages that are open"
            return _failure(429, Failure(error="too many pages follow this scheduler", hint=hint))
        except SchedulerBusy as busy:
            return _failure(504, Failure(error=str(busy), hint="try again in a moment"))
        except Overloaded as overload:
            return _failure(503, Failure(error=str(overload), hint="try again in a moment"))
        except asyncio.CancelledError:
            raise
        except Exception:
            log.error("cannot answer", path=request.path)
            return _failure(500, Failure(error="podium failed; its log has the traceback"))

    return answer


def _refusal(answer: Answer) -> web.Response:
    return _failure(answer.status, Failure(error=answer.body.decode(errors="replace")))


def _failure(status: int, failure: Failure) -> web.Response:
    return _raw(msgspec.json.encode(failure), status)


def _json(value: object) -> web.Response:
    return _raw(msgspec.json.encode(value))


def _raw(body: bytes, status: int = 200) -> web.Response:
    return web.Response(status=status, body=body, content_type="application/json", headers=HEADERS)

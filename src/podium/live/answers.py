"""The endpoints under ``/debug/podium``: what the running scheduler knows, as JSON.

The server runs on a thread of its own. Each request makes one short call on the scheduler's thread,
so that it reads a consistent state and holds the scheduler up for microseconds. The answer is made
in a third thread: it can take 0.1 s, and the server's thread answers health probes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import msgspec
from aiohttp import web

from podium.errors import did_you_mean
from podium.live import answer_values as values
from podium.live.asking import Asking, SchedulerBusy
from podium.live.introspection import Introspection
from podium.live.json_answers import Refused, internal_failure, json_response
from podium.logs import get_logger

log = get_logger(__name__)

Handler = Callable[[web.Request], Awaitable[web.Response]]

ROOT: Final = "/debug/podium"
USUAL_LIMIT: Final = 100
MOST_LIMIT: Final = 1000
MOST_COMPARED: Final = 5000  # how many names a mistyped one is compared with


class Answers:
    """Answers requests about one scheduler, on whose thread it asks; ``add_to`` adds the routes."""

    def __init__(self, scheduler: Introspection, asking: Asking) -> None:
        self._scheduler = scheduler
        self._asking = asking
        # One answer at a time: more threads would take the interpreter from the scheduler.
        self._making = asyncio.Lock()

    def add_to(self, app: web.Application) -> None:
        for path, handler in (
            ("", self._identity),
            ("/configuration", self._configuration),
            ("/queue", self._queue),
            ("/pods/{namespace}/{name}", self._pod),
            ("/nodes/{name}", self._node),
        ):
            app.router.add_get(ROOT + path, _reporting(handler))

    async def _identity(self, request: web.Request) -> web.Response:
        return json_response(await self._asking.ask(self._scheduler.identity))

    async def _configuration(self, request: web.Request) -> web.Response:
        return json_response(await self._asking.ask(self._scheduler.configuration))

    async def _queue(self, request: web.Request) -> web.Response:
        limit = _number(request, "limit", USUAL_LIMIT, MOST_LIMIT)
        looked = await self._asking.ask(partial(self._scheduler.look_at_queue, limit))
        return await self._made(looked)

    async def _pod(self, request: web.Request) -> web.Response:
        namespace, name = request.match_info["namespace"], request.match_info["name"]
        key, on_node = f"{namespace}/{name}", request.query.get("node", "")
        answer = await self._asking.ask(partial(self._scheduler.look_at_pod, key, on_node))
        if answer is None:
            raise Refused(404, f"no pod {key}{await self._hint(namespace, name)}")
        if "attempt" in request.query:
            attempt = _number(request, "attempt", 1, 1 << 31)
            return await self._made(lambda: _only(answer(), attempt))
        return await self._made(answer)

    async def _hint(self, namespace: str, name: str) -> str:
        """Compare a name that is not known with those of all pods, which takes a while."""

        def compare() -> str:
            return did_you_mean(name, self._scheduler.names_in(namespace, MOST_COMPARED))

        async with self._making:
            return await asyncio.to_thread(compare)

    async def _node(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        answer = await self._asking.ask(partial(self._scheduler.look_at_node, name))
        if answer is None:
            names = await self._asking.ask(self._scheduler.node_names)
            hint = did_you_mean(name, names) if len(names) <= MOST_COMPARED else ""
            raise Refused(404, f"no node {name}{hint}")
        return await self._made(answer)

    async def _made(self, answer: Callable[[], msgspec.Struct]) -> web.Response:
        async with self._making:
            return await asyncio.to_thread(lambda: json_response(answer()))


def _reporting(handler: Handler) -> Handler:
    async def answer(request: web.Request) -> web.Response:
        try:
            return await handler(request)
        except Refused as refused:
            return refused.response()
        except SchedulerBusy as busy:
            return Refused(504, str(busy), "ask again; /livez says whether it is stuck").response()
        except Exception:
            log.error("cannot answer", path=request.path)
            return internal_failure()

    return answer


def _only(found: values.PodRecords, attempt: int) -> values.PodRecords:
    """Return the answer with one attempt only."""
    chosen = tuple(each for each in found.attempts if each.attempt == attempt)
    if not chosen:
        known = ", ".join(str(each.attempt) for each in found.attempts)
        there = f"remembered: {known}" if known else "none of its attempts is remembered"
        raise Refused(404, f"no record of attempt {attempt} of {found.pod}", there)
    return msgspec.structs.replace(found, attempts=chosen)


def _number(request: web.Request, name: str, usual: int, most: int) -> int:
    text = request.query.get(name, str(usual))
    if not (text.isascii() and text.isdigit() and 1 <= len(text) <= 10 and 1 <= int(text) <= most):
        raise Refused(400, f"{name} must be a number from 1 to {most}, not {text[:40]!r}")
    return int(text)

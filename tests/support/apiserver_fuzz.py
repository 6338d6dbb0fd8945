"""A seeded fuzz of the API server over HTTP: whatever comes, a proper answer goes back.

``python -m tests.support.apiserver_fuzz 20000 [seed]`` runs it by itself.
"""

import asyncio
import json
import sys

import aiohttp
from yarl import URL

from podium.apiserver.api import Call
from podium.apiserver.bootstrap import new_api
from podium.apiserver.server import EmbeddedServer
from podium.clock import LoopClock
from tests.support.apiserver_fuzz_requests import RequestGenerator

SHORT = ("1", "2", "3")
SPEED = 20
MANY = 30  # watches at a time
TWO_BUDGETS = "more than one PodDisruptionBudget"


def problem(request, status, body):
    """What is wrong with an answer; empty when it is as it should be."""
    if status == 500 and TWO_BUDGETS.encode() in body:
        return ""
    if status >= 500 and status != 504:
        return f"{status}"
    if status < 400 or request.method == "HEAD":
        return ""
    try:
        found = json.loads(body)
    except ValueError:
        return f"{status} without a Status: {body[:100]!r}"
    if found.get("kind") != "Status" or found.get("code") != status or not found.get("reason"):
        return f"{status} with {found}"
    return ""


FRAMES = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"}


def stream_problem(body):
    """What is wrong with the frames of a watch."""
    for line in body.splitlines():
        try:
            frame = json.loads(line)
            kind, obj = frame["type"], frame["object"]
        except (ValueError, KeyError, TypeError):
            return f"not a frame: {line[:100]!r}"
        if kind not in FRAMES or not obj.get("kind"):
            return f"an odd frame: {line[:200]!r}"
        if kind == "ERROR" and obj.get("code") != 410:
            return f"an error other than 410: {line[:200]!r}"
    return ""


class FuzzedServer:
    """A server whose seconds are short, so that watches end soon, and what it answered wrongly."""

    def __init__(self, seed):
        self.api = new_api(LoopClock(), history=200, seed=seed)
        self.failures, self.codes = [], {}
        self._watches = set()

    async def send_all(self, requests):
        timeout = aiohttp.ClientTimeout(total=20)
        server = EmbeddedServer(self.api, clock=LoopClock(SPEED))
        async with server, aiohttp.ClientSession(timeout=timeout) as session:
            for number, request in enumerate(requests):
                sending = self._send(session, server.url, number, request)
                if request.is_watch:
                    await self._in_background(sending)
                else:
                    await sending
                if number % 200 == 0:
                    self.api.store.check_invariants()
            await asyncio.gather(*self._watches)
            await self._forgotten()
        self.api.store.check_invariants()

    async def _in_background(self, sending):
        task = asyncio.create_task(sending)
        self._watches.add(task)
        task.add_done_callback(self._watches.discard)
        if len(self._watches) > MANY:
            await asyncio.wait(self._watches, return_when=asyncio.FIRST_COMPLETED)

    async def _send(self, session, url, number, request):
        status, body, is_stream = await send(session, url, request)
        code = "watch" if is_stream else status
        self.codes[code] = self.codes.get(code, 0) + 1
        wrong = stream_problem(body) if is_stream else problem(request, status, body)
        if wrong:
            self.failures.append((number, request, wrong))

    async def _forgotten(self):
        """Of watches that ended, and of clients that left, nothing stays."""
        async with asyncio.timeout(20):
            while any(self.api.store.watchers(kind.storage) for kind in self.api.kinds):
                await asyncio.sleep(0)


async def run_fuzz(count, seed):
    """Run the fuzz; returns what went wrong, and how often each code came."""
    found = FuzzedServer(seed)
    generator = RequestGenerator(seed, found.api.kinds)
    found.api.create(found.api.kind("namespaces"), "", {"metadata": {"name": "team"}}, Call())
    await found.send_all(generator.next() for _ in range(count))
    return found.failures, found.codes


async def send(session, url, request):
    target = URL(url + request.path, encoded=True).with_query(request.query)
    async with session.request(
        request.method,
        target,
        data=request.body,
        headers=request.headers,
        skip_auto_headers=["Content-Type"],
    ) as response:
        is_stream = response.headers.get("Transfer-Encoding") == "chunked"
        if is_stream and request.query["timeoutSeconds"] not in SHORT:
            response.close()  # it would not end soon: leave without a word
            return response.status, b"", True
        return response.status, await response.read(), is_stream


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    failures, codes = asyncio.run(run_fuzz(count, seed))
    print(f"{count} requests, seed {seed}: {dict(sorted(codes.items(), key=str))}")
    for number, request, wrong in failures[:8]:
        print(f"#{number} {request.method} {request.path} {request.query} {request.headers}")
        print(f"  {request.body[:300]!r}")
        print(f"  {wrong}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

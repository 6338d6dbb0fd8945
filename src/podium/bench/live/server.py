"""The API server of ``podium bench --embedded``: a separate process with nothing but the API."""

from __future__ import annotations

import asyncio
import sys

from podium.apiserver.bootstrap import new_api
from podium.apiserver.server import EmbeddedServer
from podium.clock import LoopClock
from podium.release import V1_37, Release

# A watch may fall behind by this many events before it must list again.
_HISTORY = 100_000


async def serve(release: Release) -> None:
    """Print the address, then serve until standard input ends, which it does with the benchmark.

    There are no controllers and kubelets, so that pods stay as the scheduler leaves them.
    Pod groups are served for any scheduler that has the gate on.
    """
    features = {"GenericWorkload"} if release >= V1_37 else set()
    api = new_api(LoopClock(), history=_HISTORY, release=release, features=frozenset(features))
    async with EmbeddedServer(api) as server:
        print(server.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)

"""The API server of ``podium bench --embedded``: a separate process with nothing but the API."""

from __future__ import annotations

import asyncio
import sys

from podium.apiserver.bootstrap import new_api
from podium.apiserver.server import EmbeddedServer
from podium.clock import LoopClock
from podium.release import Release

# A watch may fall behind by this many events before it must list again.
_HISTORY = 100_000


async def serve(release: Release) -> None:
    """Print the address, then serve until standard input ends, which it does with the benchmark.

    There are no controllers and kubelets, so that pods stay as the scheduler leaves them.
    """
    async with EmbeddedServer(new_api(LoopClock(), history=_HISTORY, release=release)) as server:
        print(server.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)

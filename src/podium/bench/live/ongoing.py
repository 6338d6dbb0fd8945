"""What an operation keeps doing for a while: churn, and replacing pods in a steady state."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Sequence

from podium.bench.live.manifests import Manifest
from podium.bench.live.watching import PodWatch
from podium.bench.live.writer import Writer, at_once
from podium.bench.ops import Churn, CreatePods
from podium.client.resources import PODS
from podium.clock import Clock, Deadline, sleep
from podium.errors import WorkloadFailed


async def churn(
    op: Churn, create: Callable[[], Awaitable[list[Manifest]]], writer: Writer, clock: Clock
) -> None:
    """Create an object of each template per interval; ``recreate`` also deletes them in turn."""
    existing: dict[int, list[Manifest]] = {}
    tick = 0
    while op.mode == "recreate" or not op.number or tick < op.number:
        await sleep(clock, op.interval_milliseconds / 1_000)
        if op.mode == "create":
            await create()
        elif old := existing.pop(tick % op.number, None):
            for manifest in old:
                await writer.delete(manifest.resource, manifest.key)
        else:
            existing[tick % op.number] = await create()
        tick += 1


class SteadyState:
    """Deletes each pod of an operation once it has a node, and creates the next one."""

    def __init__(
        self,
        op: CreatePods,
        writer: Writer,
        watch: PodWatch,
        clock: Clock,
        make_next: Callable[[], Awaitable[Manifest]],
    ) -> None:
        self._op = op
        self._writer = writer
        self._watch = watch
        self._clock = clock
        self._make_next = make_next
        self._bound: asyncio.Queue[str] = asyncio.Queue()

    async def run(
        self, pods: Sequence[Manifest], create: Callable[[Sequence[Manifest]], Awaitable[None]]
    ) -> list[str]:
        """Run until the time is over, beginning with these pods; return the keys of all pods."""
        all_keys = dict.fromkeys(pod.key for pod in pods)

        async def replace(_: None) -> None:
            key = await self._bound.get()
            if key in all_keys:
                await self._writer.delete(PODS, key)
                pod = await self._make_next()
                all_keys[pod.key] = None  # before it is created, as it may be bound meanwhile
                await create([pod])

        self._watch.on_bound = self._bound.put_nowait
        try:
            async with Deadline(self._clock, self._op.duration):
                await create(pods)
                await at_once(itertools.repeat(None), replace)
        except TimeoutError:
            pass
        finally:
            self._watch.on_bound = None
        if not any(key in self._watch.bound for key in all_keys):
            raise WorkloadFailed(f"createPods: no pod got a node for {self._op.duration:g} s")
        return list(all_keys)

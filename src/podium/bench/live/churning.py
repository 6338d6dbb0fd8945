"""Churn on a cluster: objects come, and with ``recreate`` go again, while pods are measured."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from podium.bench.live.manifests import Manifest
from podium.bench.live.writer import Writer
from podium.bench.ops import Churn
from podium.clock import Clock, sleep


async def churn(
    op: Churn, create: Callable[[], Awaitable[list[Manifest]]], writer: Writer, clock: Clock
) -> None:
    """An object of each template per interval; ``recreate`` deletes in the same order."""
    standing: dict[int, list[Manifest]] = {}
    tick = 0
    while op.mode == "recreate" or not op.number or tick < op.number:
        await sleep(clock, op.interval_milliseconds / 1_000)
        if op.mode == "create":
            await create()
        elif gone := standing.pop(tick % op.number, None):
            for manifest in gone:
                await writer.delete(manifest.resource, manifest.key)
        else:
            standing[tick % op.number] = await create()
        tick += 1

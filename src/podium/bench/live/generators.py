"""Creates measured pods from several processes, so that one process is not the limit.

``Generators`` is the side of the benchmark; ``generate`` is what each of the processes does.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from podium.bench.live.children import BENCH, Child, start
from podium.bench.live.manifests import Json, Manifest
from podium.bench.live.writer import Writer, at_once
from podium.client.http import Connection
from podium.client.resources import PODS
from podium.clock import Clock

GENERATE: Final = "--generate"


class _Share(msgspec.Struct):
    """The pods that one generator creates, as the file says that it gets."""

    pods: list[tuple[str, Json]]  # the namespace and the object


@dataclass(frozen=True)
class Generators:
    """So many processes, which are started for each operation."""

    count: int
    kubeconfig: Path
    folder: Path
    clock: Clock
    writer: Writer

    async def create(self, pods: Sequence[Manifest]) -> None:
        """Create the pods, dealt out in turn; raise ``WorkloadFailed`` if one cannot be created."""
        for pod in pods:
            self.writer.written[pod.resource, pod.namespace] = None
        async with AsyncExitStack() as stack:
            children = [
                await self._start(number, pods[number :: self.count], stack)
                for number in range(self.count)
            ]
            await at_once(children, Child.read_line)
            for child in children:
                await child.write(b"\n")
            await at_once(children, Child.read_line)

    async def _start(self, number: int, pods: Sequence[Manifest], stack: AsyncExitStack) -> Child:
        file = self.folder / f"generator-{number}.json"
        share = _Share([(pod.namespace, pod.body) for pod in pods])
        file.write_bytes(msgspec.json.encode(share))
        command = [*BENCH, GENERATE, str(file), "--kubeconfig", str(self.kubeconfig)]
        log = file.with_suffix(".log")
        child = await start(f"load generator {number}", command, log, self.clock, talks=True)
        stack.push_async_callback(child.stop)
        return child


async def generate(file: Path, connection: Connection) -> None:
    """Say that this process is ready, wait for a line, create the pods of the file, say so."""
    share = msgspec.json.decode(file.read_bytes(), type=_Share)
    writer = Writer(connection)
    pods = [Manifest(PODS, namespace, body) for namespace, body in share.pods]
    print("ready", flush=True)
    if not await asyncio.to_thread(sys.stdin.readline):
        return  # the benchmark has ended
    await at_once(pods, writer.create)
    print("done", flush=True)

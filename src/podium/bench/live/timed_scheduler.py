"""The scheduler that a run times: one that runs on the cluster already, or one that it starts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from podium.bench.live.children import Child, start
from podium.bench.live.programs import LeaseName, Program, Setup, configuration
from podium.bench.live.usage import Usage, usage_of, usage_of_children
from podium.clock import Clock
from podium.errors import WorkloadFailed

T = TypeVar("T")


class TimedScheduler:
    """A scheduler that is not ours; its usage is unknown if its process is unknown."""

    def __init__(self, pid: int | None = None) -> None:
        self._pid = pid
        self.total: Usage | None = None  # known once a scheduler that we started has ended

    def usage(self) -> Usage | None:
        return None if self._pid is None else usage_of(self._pid)

    async def unless_ended(self, work: Awaitable[T]) -> T:
        """Await ``work``; raise ``WorkloadFailed`` if a scheduler that we started ends before."""
        return await work

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Start it, if it is ours, and stop it at the end of the block."""
        yield


class StartedScheduler(TimedScheduler):
    """A scheduler that the benchmark starts. It may be stopped and started again meanwhile."""

    def __init__(
        self,
        program: Program,
        setup: Setup,
        kubeconfig: Path,
        folder: Path,
        clock: Clock,
    ) -> None:
        super().__init__()
        self._program = program
        self._setup = setup
        self._kubeconfig = kubeconfig
        self._folder = folder
        self._clock = clock
        self.starts = 0
        self._child: Child | None = None
        self._died: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        await self.start()
        try:
            yield
        finally:
            await self.stop()

    async def start(self, lease: LeaseName | None = None) -> None:
        """Start it; with a lease it waits until it holds this lease before it schedules."""
        self.starts += 1
        file = self._folder / "scheduler.json"
        file.write_bytes(configuration(self._kubeconfig, lease, self._setup.config))
        command = self._program.command(file, self._setup.gates)
        log = self._folder / "scheduler.log"
        child = await start(self._program.name, command, log, self._clock)
        self._child, self._pid = child, child.pid
        child.ended.add_done_callback(partial(self._on_end, child))

    def _on_end(self, child: Child, _: object) -> None:
        if child is self._child and not self._died.done():
            self._died.set_result(child.last_words())

    async def stop(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        before = usage_of_children()
        await child.stop()
        after = usage_of_children()
        self.total = Usage(after.cpu_seconds - before.cpu_seconds, after.peak_memory_bytes)

    async def unless_ended(self, work: Awaitable[T]) -> T:
        task = asyncio.ensure_future(work)
        both: set[asyncio.Future[Any]] = {task, self._died}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise WorkloadFailed(self._died.result())
            return task.result()
        finally:
            task.cancel()
            await asyncio.wait({task})

"""The processes that a benchmark starts: the timed scheduler, and the API server of ``--embedded``.

Each writes a log in the folder of the run, which error messages quote, and ends with the benchmark.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from podium.bench.live.usage import Usage, usage_of, usage_of_children
from podium.clock import Clock, Deadline
from podium.errors import WorkloadFailed

T = TypeVar("T")

SERVE: Final = "--serve"
_STOP_SECONDS: Final = 10.0
_TAIL_LINES: Final = 15
# The limit of scheduler_perf, so that the rate limit of the client is not what is measured.
_REQUESTS_PER_SECOND: Final = 5000


class Child:
    """One child process."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path, clock: Clock) -> None:
        self._process = process
        self._log = log
        self._clock = clock
        self._ended = asyncio.ensure_future(process.wait())
        self.pid = process.pid

    async def first_line(self) -> str:
        """Return the first line of its standard output; ``WorkloadFailed`` if it ends before."""
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            await self._ended
            raise WorkloadFailed(self._end_of_log())
        return line.decode().strip()

    async def unless_ended(self, work: Awaitable[T]) -> T:
        """Await ``work``; raise ``WorkloadFailed`` with the end of its log if it ends before."""
        task = asyncio.ensure_future(work)
        try:
            await asyncio.wait({task, self._ended}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise WorkloadFailed(self._end_of_log())
            return task.result()
        finally:
            task.cancel()
            await asyncio.wait({task})

    async def stop(self) -> None:
        if not self._ended.done():
            self._process.terminate()
        try:
            async with Deadline(self._clock, _STOP_SECONDS):
                await asyncio.shield(self._ended)
        except TimeoutError:
            self._process.kill()
            await self._ended

    def _end_of_log(self) -> str:
        lines = self._log.read_text(errors="replace").splitlines()[-_TAIL_LINES:]
        status = self._process.returncode
        return "\n  ".join([f"podium's process ended with status {status}:", *lines])


@asynccontextmanager
async def embedded_server(folder: Path, clock: Clock) -> AsyncIterator[Path]:
    """Run an API server without controllers and kubelets; yield its kubeconfig."""
    child = await _start(["bench", SERVE], folder / "server.log", clock)
    try:
        url = await child.first_line()
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_bytes(_kubeconfig(url))
        yield kubeconfig
    finally:
        await child.stop()


class TimedScheduler:
    """The scheduler that is timed; its usage is unknown if its process is unknown."""

    def __init__(self, pid: int | None = None, child: Child | None = None) -> None:
        self._pid = child.pid if child is not None else pid
        self._child = child
        self.total: Usage | None = None  # known once a scheduler that we started has ended

    def usage(self) -> Usage | None:
        return None if self._pid is None else usage_of(self._pid)

    async def unless_ended(self, work: Awaitable[T]) -> T:
        return await (work if self._child is None else self._child.unless_ended(work))

    async def stop(self) -> None:
        if self._child is not None:
            before = usage_of_children()
            await self._child.stop()
            after = usage_of_children()
            seconds = after.cpu_seconds - before.cpu_seconds
            self.total = Usage(seconds, after.peak_memory_bytes)


@asynccontextmanager
async def podium_scheduler(
    kubeconfig: Path, folder: Path, clock: Clock
) -> AsyncIterator[TimedScheduler]:
    """Run ``podium scheduler`` on this cluster."""
    configuration = folder / "scheduler.json"
    configuration.write_bytes(_configuration(kubeconfig))
    argv = ["scheduler", f"--config={configuration}"]
    argv += ["--leader-elect=false", "--secure-port=0", "--logging-format=text"]
    scheduler = TimedScheduler(child=await _start(argv, folder / "scheduler.log", clock))
    try:
        yield scheduler
    finally:
        await scheduler.stop()


async def _start(argv: list[str], log: Path, clock: Clock) -> Child:
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "podium", *argv),
            stdin=subprocess.PIPE,  # closed when this process ends, for whatever reason
            stdout=subprocess.PIPE if SERVE in argv else output,
            stderr=output,
            start_new_session=True,  # Ctrl-C goes to the benchmark only, which cleans up
        )
    return Child(process, log, clock)


def _configuration(kubeconfig: Path) -> bytes:
    limits = {"qps": _REQUESTS_PER_SECOND, "burst": _REQUESTS_PER_SECOND}
    return msgspec.json.encode(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(kubeconfig), **limits},
        }
    )


def _kubeconfig(url: str) -> bytes:
    """Return a kubeconfig as JSON, which is valid YAML."""
    return msgspec.json.encode(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "bench", "cluster": {"server": url}}],
            "users": [{"name": "bench", "user": {}}],
            "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}],
            "current-context": "bench",
        }
    )

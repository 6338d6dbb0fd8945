"""The processes that a benchmark starts: schedulers, load generators, an embedded API server.

Each writes a log in the folder of the run, which error messages quote, and is stopped when the run
ends. The API server also ends when the benchmark is killed; a scheduler does not notice that.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from podium.clock import Clock, Deadline
from podium.errors import WorkloadFailed
from podium.release import Release

SERVE: Final = "--serve"
BENCH: Final = (sys.executable, "-m", "podium", "bench")
_STOP_SECONDS: Final = 10.0
_TAIL_LINES: Final = 15


class Child:
    """One child process; ``ended`` is done when it has ended."""

    def __init__(
        self, name: str, process: asyncio.subprocess.Process, log: Path, clock: Clock
    ) -> None:
        self._name = name
        self._process = process
        self._log = log
        self._clock = clock
        self.ended: asyncio.Future[int] = asyncio.ensure_future(process.wait())
        self.pid = process.pid

    async def read_line(self) -> str:
        """Return the next line of its standard output; ``WorkloadFailed`` if it ends before."""
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            await asyncio.shield(self.ended)  # another child may fail first, and end this wait
            raise WorkloadFailed(self.last_words())
        return line.decode().strip()

    async def write(self, data: bytes) -> None:
        """Write to its standard input; a process that ended is noticed by who reads from it."""
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        try:
            await self._process.stdin.drain()
        except ConnectionError:
            return

    async def stop(self) -> None:
        """End it, and the processes that it started: a scheduler may be run by a script."""
        self._signal(signal.SIGTERM)
        try:
            async with Deadline(self._clock, _STOP_SECONDS):
                await asyncio.shield(self.ended)
        except TimeoutError:
            self._signal(signal.SIGKILL)
            await self.ended

    def _signal(self, number: signal.Signals) -> None:
        if not self.ended.done():
            with suppress(ProcessLookupError):  # it has just ended, and `ended` is not done yet
                os.killpg(self.pid, number)

    def last_words(self) -> str:
        """Say that it ended, with the end of its log."""
        lines = self._log.read_text(errors="replace").splitlines()[-_TAIL_LINES:]
        status = self._process.returncode
        return "\n  ".join([f"{self._name} ended with status {status}:", *lines])


async def start(
    name: str, command: Sequence[str], log: Path, clock: Clock, *, talks: bool = False
) -> Child:
    """Start a process, in a session of its own: Ctrl-C goes to the benchmark only, which cleans up.

    Its input is a pipe, which is closed when this process ends for whatever reason. With ``talks``
    its output is read, otherwise it goes to the log.
    """
    with log.open("wb") as output:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if talks else output,
                stderr=output,
                start_new_session=True,
            )
        except OSError as error:
            raise WorkloadFailed(f"cannot start {name}: {error}") from error
    return Child(name, process, log, clock)


@asynccontextmanager
async def embedded_server(folder: Path, clock: Clock, release: Release) -> AsyncIterator[Path]:
    """Run an API server without controllers and kubelets; yield its kubeconfig."""
    command = (*BENCH, SERVE, f"--kubernetes-version={release}")
    child = await start("the API server", command, folder / "server.log", clock, talks=True)
    try:
        url = await child.read_line()
        kubeconfig = folder / "kubeconfig"
        kubeconfig.write_bytes(_kubeconfig(url))
        yield kubeconfig
    finally:
        await child.stop()


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

"""What the scheduler writes during a replay, and the work that plugins start beside the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Final

from podium.api.objects import Pod
from podium.bench.bound_claims import BenchClient
from podium.errors import ReplayError

_QUIET_TURNS: Final = 20  # more than a task takes from one step to the next without waiting


class ReplayClient(BenchClient):
    """Collects what is written about pods; the replay takes it into the cluster afterwards."""

    def __init__(self) -> None:
        super().__init__()
        self.cleared: list[Pod] = []

    async def clear_nominated_node_name(self, pod: Pod) -> None:
        self.cleared.append(pod)

    def take_cleared(self) -> list[Pod]:
        """Return the pods whose nomination ended since the last call."""
        taken, self.cleared = self.cleared, []
        return taken


class Spawned:
    """Runs the coroutines of plugins on an event loop of its own, while no virtual time passes.

    Work that waits for the virtual clock continues in a later ``run``. If work fails, the replay
    ends, because its result would be wrong.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None  # made when the first work is added
        self._tasks: set[asyncio.Task[None]] = set()
        self._failed: list[asyncio.Task[None]] = []

    def add(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        task = self._loop.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._failed.append(task)

    def run(self) -> None:
        """Run until every task is done or waits for time to pass; raise what one has raised."""
        self._run()
        for task in self._failed:
            error = task.exception()
            what = f"{type(error).__name__}: {error}"
            raise ReplayError(f"the work of a plugin, {task.get_name()}, failed: {what}") from error

    def _run(self) -> None:
        quiet = 0
        while self._tasks and quiet < _QUIET_TURNS:
            before = len(self._tasks)
            self._turn()
            quiet = quiet + 1 if len(self._tasks) == before else 0

    def _turn(self) -> None:
        assert self._loop is not None
        self._loop.call_soon(self._loop.stop)
        self._loop.run_forever()

    def __enter__(self) -> Spawned:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._loop is not None:
            for task in self._tasks:
                task.cancel()
            self._run()
            self._loop.close()

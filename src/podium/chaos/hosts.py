"""Hosts that run a scheduler each, as `podium scheduler` does, and start it again when it ends."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import partial
from typing import Any, ClassVar, Final, TypeVar, cast

from podium.app.feature_gates import LiveOptions
from podium.app.process import ProcessOptions, SchedulerProcess
from podium.chaos.network import Network
from podium.chaos.simulated_time import HOST, HostClock, tasks_of
from podium.client.endpoint import Endpoint
from podium.clock import give_way, sleep
from podium.config import Configuration
from podium.config.feature_gates import NO_CHOICE, FeatureGates
from podium.framework.registry import Registry
from podium.live.leader_election import LeaderElection
from podium.live.running import RunningScheduler
from podium.live.slices import Collector, Slices
from podium.serving.options import ServingOptions

T = TypeVar("T")

RESTART_SECONDS: Final = 1.0
_MOST_TURNS: Final = 10_000


class _SameLoop:
    """Runs work on the event loop of the process that in reality has its own thread."""

    def spawn(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return cast("Future[T]", asyncio.get_running_loop().create_task(work))

    def call(self, function: Callable[[], object]) -> None:
        asyncio.get_running_loop().call_soon(function)


class _NoCollector(Collector):
    """Leaves garbage to Python: the process that runs the simulation is not a scheduler."""

    def start(self) -> None:
        """Do nothing."""

    def between_slices(self) -> None:
        """Do nothing."""


class SimulatedProcess(SchedulerProcess):
    """A scheduler process in a simulation: its network and its time are those of its host."""

    scheduler: RunningScheduler | None = None
    _checks_clock: ClassVar[bool] = False  # simulated requests are answered at the real time

    def __init__(self, host: Host, clock: HostClock, identity: str) -> None:
        options = ProcessOptions(configz={}, serving=ServingOptions(secure_port=0), live=host.live)
        super().__init__(host.configuration, options, host.registry, _SameLoop(), clock)
        self._dial = partial(host.network.dial, host.name)
        self._collector = _NoCollector(clock)
        self._identity = identity

    def stop(self) -> None:
        """End gracefully, as at a signal."""
        self._over.set()

    def _endpoint(self) -> Endpoint:
        return Endpoint("http://127.0.0.1:1", "the simulated network", dial=self._dial)

    def _slices(self) -> Slices:
        return Slices(timer=self._clock.now)

    def _handle_signals(self, scheduler: RunningScheduler) -> None:
        """Do nothing: no signals are sent here."""

    async def _schedule(self, scheduler: RunningScheduler, election: LeaderElection | None) -> int:
        self.scheduler = scheduler
        return await super()._schedule(scheduler, election)


class Host:
    """One machine with a scheduler on it; ``lives`` counts how often that was started."""

    def __init__(
        self,
        name: str,
        network: Network,
        configuration: Configuration,
        registry: Registry,
        gates: FeatureGates = NO_CHOICE,
    ) -> None:
        self.name = name
        self.network = network
        self.configuration = configuration
        self.registry = registry
        self.live = LiveOptions(gates)
        self.lives = 0
        self.skew = 0.0  # how much its clock is ahead; a process notices when it starts
        self.process: SimulatedProcess | None = None
        self._clock: HostClock | None = None
        self._pause = RESTART_SECONDS
        self._is_ending = False

    @property
    def is_troubled(self) -> bool:
        """Whether the host is partitioned or frozen, or its process is not running."""
        network = self.network
        is_cut_off = self.name in network.partitioned or self.name in network.frozen
        return is_cut_off or self.process is None

    async def run(self) -> None:
        """Run scheduler processes one after the other until ``stop``."""
        while not self._is_ending:
            await self._live()
            await sleep(self.network.clock, self._pause)
            self._pause = RESTART_SECONDS
            self.network.start(self.name)

    async def _live(self) -> None:
        self.lives += 1
        self._clock = HostClock(self.network.clock, self.name, self.skew)
        context = contextvars.copy_context()
        context.run(HOST.set, self.name)
        identity = f"{self.name}_{self.lives}"
        self.process = context.run(SimulatedProcess, self, self._clock, identity)
        task = asyncio.get_running_loop().create_task(self.process.run(), context=context)
        await asyncio.wait({task})
        self.process = None
        await self._end_tasks()
        if not task.cancelled() and task.exception() is not None:
            raise RuntimeError(f"{identity} has failed") from task.exception()

    async def _end_tasks(self) -> None:
        """End what the process has left behind, as the operating system would."""
        for _ in range(_MOST_TURNS):
            left = tasks_of(self.name)
            if not left:
                return
            for task in left:
                task.cancel()
            await give_way()
        raise RuntimeError(f"tasks of {self.name} do not end: {tasks_of(self.name)}")

    async def stop(self) -> None:
        self._is_ending = True
        if self.process is not None:
            self.process.stop()

    def kill(self, seconds: float) -> None:
        """End the process at once; another one starts after this time."""
        if self.process is not None:
            self._pause = seconds
            self.network.kill(self.name)
            for task in tasks_of(self.name):
                task.cancel()

    async def freeze(self, seconds: float, *, timers_first: bool) -> None:
        """Let nothing happen on the host for this time, as SIGSTOP does."""
        clock = self._clock
        if clock is None or self.name in self.network.frozen:
            return
        clock.freeze()
        self.network.frozen.add(self.name)
        await sleep(self.network.clock, seconds)
        self.network.frozen.discard(self.name)
        wake: list[Callable[[], None]] = [clock.thaw, partial(self.network.release, self.name)]
        for call in wake if timers_first else reversed(wake):
            call()

    async def partition(self, seconds: float, *, cuts: bool) -> None:
        """Let no byte in or out for this time; then it arrives, or the connections are cut."""
        if self.name in self.network.partitioned:
            return
        self.network.partitioned.add(self.name)
        await sleep(self.network.clock, seconds)
        self.network.partitioned.discard(self.name)
        if cuts:
            self.network.cut(self.name)
        self.network.release(self.name)

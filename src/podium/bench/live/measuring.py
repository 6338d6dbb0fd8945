"""How pods are measured: while they are created, or as a backlog that a new scheduler finds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final

from podium.bench.live.leases import LeaseWatch
from podium.bench.live.manifests import Manifest
from podium.bench.live.programs import LeaseName
from podium.bench.live.timed_scheduler import StartedScheduler, TimedScheduler
from podium.bench.live.timing import Times
from podium.bench.live.watching import PodWatch
from podium.bench.live.writer import Writer
from podium.bench.ops import CreatePods, CreatePodSets, Op, StartCollectingMetrics
from podium.client.http import Connection
from podium.client.resources import LEASES
from podium.errors import WorkloadFailed

NAMESPACE: Final = "podium-bench"  # of the objects that the benchmark itself needs

Create = Callable[[Sequence[Manifest]], Awaitable[None]]


@dataclass(frozen=True)
class Measurement:
    """Measures pods while they are created: each from its creation to its binding."""

    times: Times
    watch: PodWatch
    timeout: float
    scheduler: TimedScheduler
    create: Create

    async def run(self, pods: Sequence[Manifest]) -> None:
        """Create these pods, and wait until all are bound."""
        keys = [pod.key for pod in pods]
        with self.times.measuring(keys, self.watch, self.scheduler):
            await self.create(pods)
            await self.watch.settled(keys, self.timeout)


@dataclass(frozen=True)
class Drain(Measurement):
    """Measures how fast a scheduler binds pods that all exist when it begins.

    The scheduler is stopped, the pods are created, and a new one is started with leader election.
    It acquires its Lease when it has read all objects and its queue is full: so kube-scheduler and
    podium start. The time runs from that moment to the last binding.
    """

    scheduler: StartedScheduler
    writer: Writer
    connection: Connection

    async def run(self, pods: Sequence[Manifest]) -> None:
        """Create these pods while no scheduler runs; measure the one that is started then."""
        keys = [pod.key for pod in pods]
        await self.scheduler.stop()
        await self.create(pods)
        begun = await self._start_scheduler()
        with self.times.measuring(keys, self.watch, self.scheduler, begun):
            await self.watch.settled(keys, self.timeout)

    @staticmethod
    def check(ops: Iterable[Op]) -> None:
        """Raise ``WorkloadFailed`` if pods are measured in a way that has no backlog."""
        for op in ops:
            if isinstance(op, StartCollectingMetrics):
                raise WorkloadFailed(f"--drain is for pods with collectMetrics, not {op.opcode}")
            if isinstance(op, CreatePodSets):
                op = op.create_pods_op
            if isinstance(op, CreatePods) and op.steady_state and op.collect_metrics:
                raise WorkloadFailed(f"--drain: {op.opcode} with steadyState has no backlog")

    async def _start_scheduler(self) -> float:
        """Start a scheduler; return when it began to schedule."""
        lease = LeaseName(NAMESPACE, f"drain-{self.scheduler.starts}")
        self.writer.written[LEASES, NAMESPACE] = None
        async with LeaseWatch(self.connection, lease).running() as watch:
            await self.scheduler.start(lease)
            return await watch.acquired(self.timeout)


@dataclass(frozen=True)
class Collection:
    """The measurement between ``startCollectingMetrics`` and ``stopCollectingMetrics``."""

    op: StartCollectingMetrics
    bound_before: frozenset[str]
    keys: list[str] = field(default_factory=list)
    measuring: ExitStack = field(default_factory=ExitStack)

    def covers(self, key: str, labels: Mapping[str, str] | None) -> bool:
        """Whether a bound pod counts; ``labels`` is ``None`` for a pod of churn."""
        return (
            labels is not None
            and key not in self.bound_before
            and key.partition("/")[0] in self.op.namespaces
            and self.op.label_selector.items() <= labels.items()
        )

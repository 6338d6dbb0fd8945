"""Runs one workload once on a cluster: its operations in order, each object through the API."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from podium.api.objects import Node
from podium.bench.live.children import TimedScheduler, embedded_server, podium_scheduler
from podium.bench.live.cleanup import check_nodes, tidied
from podium.bench.live.manifests import Marking
from podium.bench.live.operations import LiveContext, Operations
from podium.bench.live.timing import Times
from podium.bench.live.usage import Usage
from podium.bench.live.watching import PodWatch
from podium.bench.live.writer import Writer
from podium.bench.load import Workload
from podium.bench.measure import Reference
from podium.bench.ops import CreateNodes
from podium.bench.result import LiveResult
from podium.client.endpoints import find_endpoint
from podium.client.http import Connection, Options
from podium.clock import Clock, LoopClock

# Is called with what the run is doing.
OnProgress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveOptions:
    """Which cluster and which scheduler; without a kubeconfig, an embedded cluster per run."""

    kubeconfig: Path | None = None
    is_external: bool = False  # a scheduler is running already, so none is started
    scheduler_pid: int | None = None
    timeout: float = 120.0


async def run(workload: Workload, options: LiveOptions, report: OnProgress) -> LiveResult:
    """Run the workload once, and leave the cluster as it was, whatever happens.

    ``WorkloadFailed`` if pods find no node, or if the cluster has objects of the same names.
    """
    reference = Reference(_nodes(workload))
    reference.measure()
    times = Times()
    clock = LoopClock()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="podium-bench-")))
        kubeconfig = options.kubeconfig
        if kubeconfig is None:
            kubeconfig = await stack.enter_async_context(embedded_server(folder, clock))
        connection = await stack.enter_async_context(_connection(kubeconfig, clock))
        context = await _prepare(stack, connection, workload, options)
        starting = _scheduler(kubeconfig, folder, clock, options)
        async with starting as scheduler, context.watch.running():
            report("waiting for the scheduler")
            operations = Operations(context, scheduler, times, report)
            await scheduler.unless_ended(operations.run(workload.ops))
            used = scheduler.usage()
    return times.result(
        workload.name, _nodes(workload), _used(times, used, scheduler.total), reference
    )


def _used(times: Times, used: Usage | None, total: Usage | None) -> Usage | None:
    """Return the usage while pods were measured, or in total if the system reports no more."""
    if times.cpu_seconds is None or used is None:
        return total
    return Usage(times.cpu_seconds, used.peak_memory_bytes)


async def _prepare(
    stack: AsyncExitStack, connection: Connection, workload: Workload, options: LiveOptions
) -> LiveContext:
    writer = Writer(connection)
    marking = Marking(secrets.token_hex(4))
    if options.kubeconfig is not None:
        await check_nodes(writer, set(_node_names(workload)))
        await stack.enter_async_context(tidied(writer, connection, marking.run_id))
    watch = PodWatch(connection)
    return LiveContext(
        workload.templates, writer, marking, watch, connection.clock, options.timeout
    )


@asynccontextmanager
async def _scheduler(
    kubeconfig: Path, folder: Path, clock: Clock, options: LiveOptions
) -> AsyncIterator[TimedScheduler]:
    if options.is_external:
        yield TimedScheduler(options.scheduler_pid)
        return
    async with podium_scheduler(kubeconfig, folder, clock) as ours:
        yield ours


def _connection(kubeconfig: Path, clock: Clock) -> Connection:
    endpoint = find_endpoint(clock, kubeconfig)
    return Connection(endpoint, clock, Options(qps=-1, user_agent="podium/bench"))


def _nodes(workload: Workload) -> int:
    return sum(op.count for op in workload.ops if isinstance(op, CreateNodes))


def _node_names(workload: Workload) -> Iterator[str]:
    """Return the names that the operations will give to nodes."""
    serials = itertools.count()
    for op in workload.ops:
        if isinstance(op, CreateNodes):
            template = workload.templates.get(op.node_template_path, Node)
            yield from map(template.name, itertools.islice(serials, op.count))

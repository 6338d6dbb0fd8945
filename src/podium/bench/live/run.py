"""Runs one workload once on a cluster: its operations in order, each object through the API."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from podium.api.objects import Node
from podium.bench.live.children import embedded_server
from podium.bench.live.claim_operations import ClaimOperations
from podium.bench.live.cleanup import check_nodes, tidied
from podium.bench.live.generators import Generators
from podium.bench.live.manifests import Manifest, Marking
from podium.bench.live.measuring import Create, Drain, Measurement
from podium.bench.live.operations import LiveContext, Operations
from podium.bench.live.programs import PODIUM, Program, Setup
from podium.bench.live.timed_scheduler import StartedScheduler, TimedScheduler
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
from podium.devices import DeviceRules

# Is called with what the run is doing.
OnProgress = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveOptions:
    """The cluster and scheduler of a run, and how the load is made.

    Without a kubeconfig, each run has an embedded cluster of its own.
    """

    kubeconfig: Path | None = None
    program: Program | None = PODIUM  # None if a scheduler is running already
    scheduler_pid: int | None = None
    timeout: float = 120.0
    is_drain: bool = False  # the pods exist before the scheduler that is timed begins
    generators: int = 0  # processes that create the measured pods; with 0 this one does


async def run(workload: Workload, options: LiveOptions, report: OnProgress) -> LiveResult:
    """Run the workload once, and leave the cluster as it was, whatever happens.

    ``WorkloadFailed`` if pods find no node, or if the cluster has objects of the same names.
    """
    if options.is_drain:
        Drain.check(workload.ops)
    reference = Reference(_nodes(workload))
    reference.measure()
    clock = LoopClock()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="podium-bench-")))
        kubeconfig = options.kubeconfig
        if kubeconfig is None:
            server = embedded_server(folder, clock, workload.gates.release)
            kubeconfig = await stack.enter_async_context(server)
        connection = await stack.enter_async_context(connect(kubeconfig, clock))
        context = await _prepare(stack, connection, workload, options)
        place = _Place(kubeconfig, folder, connection)
        setup = Setup(workload.gates, workload.scheduler_config)
        measurement = _measurement(context, options, place, setup)
        scheduler, times = measurement.scheduler, measurement.times
        async with scheduler.running(), context.watch.running():
            report("waiting for the scheduler")
            operations = Operations(context, measurement, report)
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
    rules = DeviceRules.of(workload.gates.release, workload.gates.enabled)
    claims = ClaimOperations(writer, marking, rules)
    return LiveContext(
        workload.templates, writer, marking, watch, connection.clock, options.timeout, claims
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """The cluster in which a run happens."""

    kubeconfig: Path
    folder: Path
    connection: Connection


def _measurement(
    context: LiveContext, options: LiveOptions, place: _Place, setup: Setup
) -> Measurement:
    clock, writer = place.connection.clock, context.writer
    create: Create = writer.create_all
    if options.generators:
        at = (place.kubeconfig, place.folder, clock)
        create = Generators(options.generators, *at, writer).create
    rest = (Times(), context.watch, options.timeout)
    if options.program is None:
        return Measurement(*rest, TimedScheduler(options.scheduler_pid), create)
    scheduler = StartedScheduler(options.program, setup, place.kubeconfig, place.folder, clock)
    if options.is_drain:

        async def create_with_claims(pods: Sequence[Manifest]) -> None:
            await create(pods)
            await context.claims.wait_for_claims(pods)

        return Drain(*rest, scheduler, create_with_claims, writer, place.connection)
    return Measurement(*rest, scheduler, create)


def connect(kubeconfig: Path, clock: Clock) -> Connection:
    """Return a connection without a rate limit."""
    endpoint = find_endpoint(clock, kubeconfig)
    return Connection(endpoint, clock, Options(qps=-1, user_agent="podium/bench"))


def _nodes(workload: Workload) -> int:
    return sum(op.count for op in workload.ops if isinstance(op, CreateNodes))


def _node_names(workload: Workload) -> Iterator[str]:
    """Return the names that the operations will give to nodes."""
    serials = itertools.count()
    for op in workload.ops:
        if isinstance(op, CreateNodes):
            template = workload.templates.get(
                op.node_template_path, Node, op.template_params, op.count
            )
            for index, serial in enumerate(itertools.islice(serials, op.count)):
                yield template.name(serial, index)

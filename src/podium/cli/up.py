"""``podium up``: run an embedded cluster, in the foreground or detached."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from podium.apiserver.embedded_cluster import (
    ClusterOptions,
    EmbeddedCluster,
    NodeGroup,
    read_template,
)
from podium.apiserver.features import features_of
from podium.apiserver.kubelet_devices import checked_group
from podium.app.embedded import Embedded, Schedule, embedded_scheduler
from podium.cli import detached, kubeconfig, state_file, up_from
from podium.cli.arguments.cluster import DEFAULT_NODES, MOST_NODES
from podium.cli.arguments.parser import BAD_INPUT
from podium.cli.log_lines import write_warnings
from podium.cli.messages import FAILED, prefixed, print_error
from podium.cli.next_steps import down_command, nodes_of, open_dashboard, print_next_steps
from podium.cli.state_file import RunningCluster, StateFile
from podium.config import Configuration, feature_gates
from podium.config.feature_gates import FeatureGates
from podium.dashboard import links
from podium.dashboard.site import site
from podium.errors import AlreadyRunning, PodiumError
from podium.framework.registry import Registry
from podium.live import event_loop
from podium.live.running import RunningScheduler

# Returns whether the cluster is to run on.
Work: TypeAlias = Callable[[EmbeddedCluster, RunningCluster], Coroutine[Any, Any, bool]]


def run(args: argparse.Namespace) -> int:
    path = args.state_file or state_file.default_path(args.name)
    try:
        context_file = (args.kubeconfig or kubeconfig.default_path()).absolute()
        if context_file.resolve() == path.resolve():
            raise PodiumError(f"{path}: cannot be both the kubeconfig and the state file")
        # Check all input before anything starts.
        snapshot = up_from.load_snapshot(args)
        release = up_from.release_of(args, snapshot)
        gates = feature_gates.parse(args.feature_gates, release, "--kubernetes-version")
        options = replace(
            _cluster_options(args),
            release=release,
            restored=up_from.state_of(args, snapshot),
            features=features_of(gates, args.feature_gates),
        )
        kubeconfig.read(context_file)
        schedule = _schedule(args, up_from.configure(args, snapshot, gates), gates)
        if schedule is not None:
            options = replace(options, definitions=tuple(schedule.definitions()))
        if args.detach:
            return detached.start(args, path)
        with StateFile(path) as file:
            files = ClusterFiles(args.name, context_file, file, args.ready_fd, args.open)
            return event_loop.run(serve(options, schedule, files), fast=False)
    except PodiumError as error:
        return refuse(error)


def refuse(error: PodiumError) -> int:
    """Print why no cluster was started, and return the exit status."""
    print_error(error)
    return FAILED if isinstance(error, AlreadyRunning) else BAD_INPUT


def _cluster_options(args: argparse.Namespace) -> ClusterOptions:
    """Read the node templates, and divide the nodes among them.

    A template without a count is for the nodes of ``--nodes``; without such a template these are
    ordinary nodes.
    """
    uncounted = [each for each in args.node_template if each.nodes is None]
    counted = [each for each in args.node_template if each.nodes is not None]
    if len(uncounted) > 1:
        files = " and ".join(str(each.file) for each in uncounted)
        raise PodiumError(f"{files}: give each a count, as in --node-template FILE=COUNT")
    default = 0 if args.source or (counted and not uncounted) else DEFAULT_NODES
    options = ClusterOptions(
        default if args.nodes is None else args.nodes,
        read_template(uncounted[0].file) if uncounted else {},
        args.port,
        args.speed,
        tuple(NodeGroup(each.nodes, read_template(each.file)) for each in counted),
        devices=tuple(checked_group(*each) for each in args.devices),
    )
    drivers = Counter(group.driver for group in options.devices)
    for driver in [driver for driver, count in drivers.items() if count > 1]:
        raise PodiumError(f"--devices {driver} is given twice; add up its devices")
    if options.node_count > MOST_NODES:
        raise PodiumError(f"{options.node_count} nodes are too many; at most {MOST_NODES}")
    prefixes = Counter(group.name_prefix for group in options.node_groups if group.nodes)
    for prefix, groups in prefixes.items():
        if groups > 1:
            hint = "give each template its own metadata.name"
            raise PodiumError(f"{groups} groups of nodes would have names like {prefix}0; {hint}")
    return options


def _schedule(
    args: argparse.Namespace, read: Callable[[Registry], Configuration], gates: FeatureGates
) -> Schedule | None:
    """Return how to schedule, ``None`` for not at all."""
    if args.no_scheduler:
        given = {"--plugin": args.plugin, "--config": args.config, "--watch": args.watch,
                 "--open": args.open}  # fmt: skip
        for option in [option for option, value in given.items() if value]:
            raise PodiumError(f"{option} is for the scheduler: leave it out beside --no-scheduler")
        return None
    return Schedule(read, tuple(args.plugin), args.watch, gates, args.config)


class ClusterFiles(NamedTuple):
    """A cluster's name, and where it is recorded once it is ready."""

    name: str
    kubeconfig: Path
    state_file: StateFile
    ready_fd: int | None
    opens: bool = False  # whether to open the dashboard in a browser


async def serve(
    options: ClusterOptions,
    schedule: Schedule | None,
    files: ClusterFiles,
    work: Work | None = None,
) -> int:
    """Run a cluster until a signal arrives; ``work`` is started once the cluster is ready.

    The work then speaks to the user, and may end the cluster.
    """
    write_warnings()
    key = ""
    if schedule is not None:
        key = links.new_key()
        schedule = replace(schedule, site=site(key, schedule.sources))
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with EmbeddedCluster(options) as cluster, _scheduler(cluster, schedule) as embedded:
        if embedded is not None:  # a cluster that no longer schedules must not look healthy
            embedded.scheduler.failure.add_done_callback(lambda _: stopped.set())
        context = kubeconfig.context_of(files.name)
        kubeconfig.add_context(files.kubeconfig, cluster.url, context)
        try:
            running = RunningCluster(
                os.getpid(),
                cluster.url,
                str(files.kubeconfig),
                options.node_count,
                embedded.address if embedded else "",
                files.name,
                key,
            )
            files.state_file.write(running)
            if work is None:
                _announce(running, files)
                await stopped.wait()
            elif await unless(stopped, work(cluster, running)):
                await stopped.wait()
        finally:
            kubeconfig.remove_context(files.kubeconfig, cluster.url, context)
    if files.ready_fd is None:
        print()  # below the terminal's ^C
    _log(f"the cluster at {cluster.url} has ended")
    return FAILED if embedded is not None and _has_failed(embedded.scheduler) else 0


@asynccontextmanager
async def _scheduler(
    cluster: EmbeddedCluster, schedule: Schedule | None
) -> AsyncIterator[Embedded | None]:
    if schedule is None:
        yield None
        return
    async with embedded_scheduler(schedule, cluster.url, cluster.clock, _log) as embedded:
        yield embedded


def _has_failed(scheduler: RunningScheduler) -> bool:
    """Tell whether the scheduling loop has failed, and if so print why."""
    if not scheduler.failure.done():
        return False
    fault = scheduler.failure.exception()
    print_error(f"scheduling has stopped: {fault!r}; the log above has the traceback")
    return True


def _log(text: str) -> None:
    """Print a line with the time, at once, for readers of a detached cluster's log."""
    print(f"{datetime.now():%Y-%m-%d %H:%M:%S} {prefixed(text)}", flush=True)


async def unless(stopped: asyncio.Event, work: Coroutine[Any, Any, bool]) -> bool:
    """Run this work and return its result, but cancel it when the signal arrives."""
    task, end = asyncio.ensure_future(work), asyncio.ensure_future(stopped.wait())
    await asyncio.wait({task, end}, return_when=asyncio.FIRST_COMPLETED)
    is_done = task.done()
    task.cancel()
    end.cancel()
    await asyncio.wait({task, end})
    return is_done and task.result()


def _announce(running: RunningCluster, files: ClusterFiles) -> None:
    if files.ready_fd is None:
        print_next_steps(running, f"Ctrl-C, or {down_command(running)}")
        if files.opens and running.key:
            open_dashboard(running)
        return
    _log(f"the cluster at {running.url} is ready, with {nodes_of(running)}")
    with os.fdopen(files.ready_fd, "w") as pipe:
        pipe.write("ready")

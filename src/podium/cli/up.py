"""``podium up``: run an embedded cluster, in the foreground or detached."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from podium import config
from podium.apiserver.embedded_cluster import (
    ClusterOptions,
    EmbeddedCluster,
    NodeGroup,
    read_template,
)
from podium.apiserver.kubelet_devices import checked_group
from podium.app.embedded import Embedded, Schedule, embedded_scheduler
from podium.cli import detached, kubeconfig, state_file
from podium.cli.arguments.cluster import DEFAULT_NODES, MOST_NODES
from podium.cli.arguments.parser import BAD_INPUT
from podium.cli.messages import FAILED, prefixed, print_error
from podium.cli.next_steps import down_command, nodes_of, print_next_steps
from podium.cli.state_file import RunningCluster, StateFile
from podium.errors import AlreadyRunning, PodiumError
from podium.live import event_loop
from podium.live.running import RunningScheduler
from podium.logs import TextFormatter

Work: TypeAlias = Callable[[EmbeddedCluster, RunningScheduler], Coroutine[Any, Any, None]]


def run(args: argparse.Namespace) -> int:
    path = args.state_file or state_file.default_path(args.name)
    try:
        context_file = (args.kubeconfig or kubeconfig.default_path()).absolute()
        if context_file.resolve() == path.resolve():
            raise PodiumError(f"{path}: cannot be both the kubeconfig and the state file")
        # Check all input before anything starts.
        options = _cluster_options(args)
        kubeconfig.read(context_file)
        schedule = _schedule(args)
        if args.detach:
            return detached.start(args, path)
        with StateFile(path) as file:
            files = ClusterFiles(args.name, context_file, file, args.ready_fd)
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
    default = 0 if counted and not uncounted else DEFAULT_NODES
    options = ClusterOptions(
        default if args.nodes is None else args.nodes,
        read_template(uncounted[0].file) if uncounted else {},
        args.port,
        args.speed,
        tuple(NodeGroup(each.nodes, read_template(each.file)) for each in counted),
        args.kubernetes_version,
        tuple(checked_group(*each) for each in args.devices),
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


def _schedule(args: argparse.Namespace) -> Schedule | None:
    """Return how to schedule, ``None`` for not at all."""
    if args.no_scheduler:
        given = {"--plugin": args.plugin, "--config": args.config, "--watch": args.watch}
        for option in [option for option, value in given.items() if value]:
            raise PodiumError(f"{option} is for the scheduler: leave it out beside --no-scheduler")
        return None
    path = args.config
    read = partial(config.load_file, path) if path else config.default
    schedule = Schedule(read, tuple(args.plugin), args.watch, args.kubernetes_version)
    schedule.load()  # raises what is wrong before anything starts
    return schedule


class ClusterFiles(NamedTuple):
    """A cluster's name, and where it is recorded once it is ready."""

    name: str
    kubeconfig: Path
    state_file: StateFile
    ready_fd: int | None


async def serve(
    options: ClusterOptions,
    schedule: Schedule | None,
    files: ClusterFiles,
    work: Work | None = None,
) -> int:
    """Run a cluster until a signal arrives; ``work`` is started once the cluster is ready."""
    _write_warnings()
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
            )
            files.state_file.write(running)
            _announce(running, files.ready_fd)
            if work is not None and embedded is not None:
                await unless(stopped, work(cluster, embedded.scheduler))
            await stopped.wait()
        finally:
            kubeconfig.remove_context(files.kubeconfig, cluster.url, context)
    if files.ready_fd is None:
        print()  # below the terminal's ^C
    _log(f"the cluster at {cluster.url} has ended")
    return FAILED if embedded is not None and _has_failed(embedded.scheduler) else 0


def _write_warnings() -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(TextFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


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


async def unless(stopped: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Run this work, but cancel it when the signal arrives."""
    task, end = asyncio.ensure_future(work), asyncio.ensure_future(stopped.wait())
    await asyncio.wait({task, end}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
    task.cancel()
    end.cancel()
    await asyncio.wait({task, end})


def _announce(running: RunningCluster, ready_fd: int | None) -> None:
    if ready_fd is None:
        print_next_steps(running, f"Ctrl-C, or {down_command(running)}")
        return
    _log(f"the cluster at {running.url} is ready, with {nodes_of(running)}")
    with os.fdopen(ready_fd, "w") as pipe:
        pipe.write("ready")

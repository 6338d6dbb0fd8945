"""``podium up``: run an embedded cluster, in the foreground or detached."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from rich.console import Console

from podium import config
from podium.apiserver import kubeconfig, state_file
from podium.apiserver.kubeconfig import CONTEXT
from podium.apiserver.state_file import RunningCluster, StateFile
from podium.cli import plugin_options
from podium.cli.complaint import BAD_INPUT, FAILED, complain, signed
from podium.cli.parser import Subparsers
from podium.errors import AlreadyRunning, PodiumError

if TYPE_CHECKING:
    from podium.apiserver.embedded_cluster import ClusterOptions, EmbeddedCluster
    from podium.app.embedded import Embedded, Schedule
    from podium.live.running import RunningScheduler

    Visit = Callable[[EmbeddedCluster, RunningScheduler], Coroutine[Any, Any, None]]

_MOST_NODES = 60_000  # as many as there are ranges of pod addresses
_LOG_LINES = 20
_NAME = "podium"


_EXAMPLES = """\
examples:
  podium up                                   3 nodes, until Ctrl-C
  podium up --nodes 100 --detach              100 nodes in the background; end with: podium down
  podium up --node-template big.yaml          nodes made after the Node in a file
  podium up --kubeconfig ./podium.yaml        leave kubectl's own file alone
  podium up --config scheduler.yaml           schedule as a KubeSchedulerConfiguration says
  podium up --plugin rack.py --watch          with your own plugin, loaded again on save
  podium up --no-scheduler                    pods wait for a scheduler of your own
  podium up --speed 60                        a minute of the cluster's time passes each second
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "up",
        help="run a cluster on this machine: API server, scheduler, simulated kubelets",
        description="Run a Kubernetes API server on loopback, with a scheduler, controllers for "
        "workloads and simulated kubelets: pods run without containers. Everything is kept in "
        f"memory. A context named {CONTEXT} is written into a kubeconfig while the cluster runs.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "--nodes", metavar="N", type=_nodes, default=3, help="how many (default: %(default)s)"
    )
    parser.add_argument(
        "--node-template", metavar="FILE", type=Path, help="YAML of one Node to make them after"
    )
    parser.add_argument(
        "--port", metavar="PORT", type=_port, default=0, help="0, the default, is any free one"
    )
    parser.add_argument(
        "--speed", metavar="X", type=_speed, default=1.0, help="how fast time passes (default: 1)"
    )
    parser.add_argument(
        "--config", metavar="FILE", type=Path, help="the scheduler's KubeSchedulerConfiguration"
    )
    parser.add_argument(
        "--no-scheduler", action="store_true", help="leave pods to a scheduler of your own"
    )
    plugin_options.add(parser)
    plugin_options.add_watch(parser)
    parser.add_argument("--detach", action="store_true", help="return when the cluster is ready")
    add_kubeconfig(parser)
    add_state_file(parser)
    # What --detach gives to the process it starts: where to say that the cluster is ready.
    parser.add_argument("--ready-fd", type=int, help=argparse.SUPPRESS)


def add_kubeconfig(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kubeconfig", metavar="FILE", type=Path, help="default: the file that kubectl uses"
    )


def add_state_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--state-file", metavar="FILE", type=Path, help="default: in the user's state directory"
    )


def run(args: argparse.Namespace) -> int:
    # Loaded here: all other commands would start half a second later with the API server.
    from podium.apiserver.embedded_cluster import ClusterOptions, read_template
    from podium.live import event_loop

    path = args.state_file or state_file.default_path()
    try:
        template = read_template(args.node_template) if args.node_template else {}
        context_file = (args.kubeconfig or kubeconfig.default_path()).absolute()
        if context_file.resolve() == path.resolve():
            raise PodiumError(f"{path}: cannot be kubeconfig and state file at once")
        kubeconfig.read(context_file)  # what is wrong with it is told before anything starts
        schedule = _schedule(args)
        if args.detach:
            return _detach(args, path)
        options = ClusterOptions(args.nodes, template, args.port, args.speed)
        with StateFile(path) as file:
            place = Place(context_file, file, args.ready_fd)
            return event_loop.run(serve(options, schedule, place), fast=False)
    except PodiumError as error:
        return refuse(error)


def refuse(error: PodiumError) -> int:
    """Say why there is no cluster; the exit status."""
    complain(error)
    return FAILED if isinstance(error, AlreadyRunning) else BAD_INPUT


def _schedule(args: argparse.Namespace) -> Schedule | None:
    """How to schedule; ``None`` for not at all."""
    from podium.app.embedded import Schedule  # see run()

    if args.no_scheduler:
        return None
    path = args.config
    read = partial(config.load_file, path) if path else config.default
    schedule = Schedule(read, tuple(args.plugin), args.watch)
    schedule.load()  # what is wrong is told before anything starts
    return schedule


class Place(NamedTuple):
    """Where a cluster is announced."""

    kubeconfig: Path
    state_file: StateFile
    ready_fd: int | None


async def serve(
    options: ClusterOptions,
    schedule: Schedule | None,
    place: Place,
    visit: Visit | None = None,
) -> int:
    """Run a cluster until a signal comes; ``visit`` is taken there once it is ready."""
    from podium.apiserver.embedded_cluster import EmbeddedCluster  # see run()

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s %(message)s")
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with EmbeddedCluster(options) as cluster, _scheduler(cluster, schedule) as embedded:
        kubeconfig.add_context(place.kubeconfig, cluster.url)
        try:
            running = RunningCluster(
                os.getpid(),
                cluster.url,
                str(place.kubeconfig),
                options.nodes,
                embedded.address if embedded else "",
            )
            place.state_file.write(running)
            _say_ready(running, place.ready_fd)
            if visit is not None and embedded is not None:
                await unless(stopped, visit(cluster, embedded.scheduler))
            await stopped.wait()
        finally:
            kubeconfig.remove_context(place.kubeconfig, cluster.url)
    _say("\n" + signed(f"the cluster at {cluster.url} has ended"))
    return 0


@asynccontextmanager
async def _scheduler(
    cluster: EmbeddedCluster, schedule: Schedule | None
) -> AsyncIterator[Embedded | None]:
    if schedule is None:
        yield None
        return
    from podium.app.embedded import embedded_scheduler  # see run()

    def say(text: str) -> None:
        _say(signed(text))

    async with embedded_scheduler(schedule, cluster.url, cluster.clock, say) as embedded:
        yield embedded


def _say(text: str) -> None:
    print(text, flush=True)  # for whoever follows the log of a detached cluster


async def unless(stopped: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Do this work, but end it when the signal comes."""
    task, end = asyncio.ensure_future(work), asyncio.ensure_future(stopped.wait())
    await asyncio.wait({task, end}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
    task.cancel()
    end.cancel()
    await asyncio.wait({task, end})


def _say_ready(running: RunningCluster, ready_fd: int | None) -> None:
    if ready_fd is None:
        say_next(running, f"Ctrl-C, or {program()} down")
        return
    with os.fdopen(ready_fd, "w") as pipe:
        pipe.write("ready")


def _detach(args: argparse.Namespace, path: Path) -> int:
    """Start the same command in a process of its own, and wait until it is ready or gone."""
    state_file.check_ours(path)
    if running := state_file.find_running(path):
        raise state_file.already_running(running)
    log = path.with_name(f"{path.name}.log")
    process, is_ready = _started(args, path, log)
    running = state_file.find_running(path)
    if is_ready and running is not None:
        say_next(running, f"{program()} down")
        return 0
    status = process.wait()
    told = log.read_text(errors="replace").splitlines()[-_LOG_LINES:]
    print("\n".join(told) or signed(f"the cluster did not start; see {log}"), file=sys.stderr)
    return status or FAILED


def _started(
    args: argparse.Namespace, path: Path, log: Path
) -> tuple[subprocess.Popen[bytes], bool]:
    """The process, and whether it has said that it is ready."""
    read_end, write_end = os.pipe()
    with open(read_end) as pipe:
        try:
            with _opened(log) as output:
                process = subprocess.Popen(
                    _command(args, path, write_end),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    pass_fds=(write_end,),
                    start_new_session=True,  # a Ctrl-C here is not meant for it
                )
        finally:
            os.close(write_end)
        return process, pipe.read() == "ready"  # ends with the process, if that ends early


def _opened(log: Path) -> TextIO:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        return log.open("w")
    except OSError as error:
        hint = "give another place with --state-file"
        raise PodiumError(f"{log}: cannot be written: {error.strerror}; {hint}") from error


def _command(args: argparse.Namespace, path: Path, ready_fd: int) -> list[str]:
    command = [sys.executable, "-m", "podium", "up", f"--ready-fd={ready_fd}"]
    command += [f"--nodes={args.nodes}", f"--port={args.port}", f"--speed={args.speed}"]
    command += [f"--state-file={path.absolute()}"]
    if args.node_template:
        command.append(f"--node-template={args.node_template.absolute()}")
    if args.config:
        command.append(f"--config={args.config.absolute()}")
    command += [f"--plugin={plugin_options.absolute(source)}" for source in args.plugin]
    if args.watch:
        command.append("--watch")
    if args.no_scheduler:
        command.append("--no-scheduler")
    if args.kubeconfig:
        command.append(f"--kubeconfig={args.kubeconfig.absolute()}")
    return command


def say_next(running: RunningCluster, end: str) -> None:
    """What runs, and what to type now."""
    console = Console(highlight=False, soft_wrap=True)
    nodes = "1 node" if running.nodes == 1 else f"{running.nodes} nodes"
    console.print(f"[bold green]podium is up[/]: {nodes}, {running.url}")
    config = Path(running.kubeconfig)
    console.print(f"kubeconfig: {_short(config)}, context {CONTEXT}", markup=False)
    is_usual = config == kubeconfig.default_path().absolute()
    elsewhere = "" if is_usual else f" --kubeconfig {shlex.quote(running.kubeconfig)}"
    console.print("\n[bold]next[/]")
    for command in (
        f"kubectl{elsewhere} --context {CONTEXT} get nodes",
        f"kubectl{elsewhere} --context {CONTEXT} create deployment shop --image nginx --replicas 3",
        f"{program()} get pods{elsewhere}",
    ):
        console.print(f"  {command}", markup=False)
    console.print(f"\nTo end it: {end}", markup=False)


def program() -> str:
    """How to type this command: where a shell does not find it, as it was typed just now."""
    typed = sys.argv[0]
    is_lost = Path(typed).name == _NAME and shutil.which(_NAME) is None
    return shlex.quote(typed) if is_lost else _NAME


def _short(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _nodes(text: str) -> int:
    return _number(text, 0, _MOST_NODES)


def _port(text: str) -> int:
    return _number(text, 0, 65535)


def _number(text: str, least: int, most: int) -> int:
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise argparse.ArgumentTypeError(f"must be a number from {least} to {most}, not {text!r}")
    return int(text)


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed <= 1000:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 1000, not {text!r}")
    return speed

"""``podium bench``: run workloads and print what they cost."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from podium import app, config, durations
from podium.bench.load import Workload, load_file
from podium.bench.progress import Bar
from podium.bench.repeat import repeat
from podium.bench.report import IN_PROCESS, LIVE, Table
from podium.bench.result import Figures, LiveResult, median_of
from podium.bench.run import run as run_workload
from podium.cli.complaint import BAD_INPUT, FAILED, complain, signed
from podium.cli.parser import Subparsers
from podium.clock import Clock
from podium.errors import ConfigError, PodiumError, WorkloadFailed
from podium.framework.handle import Client

if TYPE_CHECKING:
    from podium.bench.live.run import LiveOptions

_DEFAULT_RUNS = 5
_EXAMPLES = """examples:
  podium bench benchmarks/basic.yaml                          all sizes, the median of five runs
  podium bench benchmarks/*.yaml --workload '*/500Nodes'      one size of everything
  podium bench benchmarks/spread.yaml --runs 1 -o json        one object per workload
  podium bench --embedded benchmarks/basic.yaml               a whole scheduler, over an API
  podium bench --kubeconfig F benchmarks/basic.yaml           podium scheduler on a cluster
  podium bench --kubeconfig F --scheduler external FILE       the scheduler that runs there
"""

T = TypeVar("T")
F = TypeVar("F", bound=Figures)
Chosen: TypeAlias = tuple[str, Workload]  # with its file


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "bench",
        help="measure how fast pods are scheduled",
        description="Run workloads in scheduler_perf's shape and print what scheduling costs: the "
        "cycle alone in this machine's memory, or a whole scheduler on a cluster.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="a YAML file of workloads")
    parser.add_argument(
        "--workload",
        metavar="GLOB",
        action="append",
        help="only these, such as 'Basic/*'; may be given several times",
    )
    parser.add_argument(
        "--runs",
        metavar="N",
        type=_positive,
        help=f"print the median of this many runs (default: {_DEFAULT_RUNS}, on a cluster 1)",
    )
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text")
    _add_live(parser)
    # What ``repeat`` calls in a process of its own: one run, its result as JSON.
    parser.add_argument("--run-once", metavar="NAME", help=argparse.SUPPRESS)
    # What --embedded starts in a process of its own: the API server.
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)


def _add_live(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("on a cluster", "timed from outside, by a watch")
    where = group.add_mutually_exclusive_group()
    where.add_argument("--embedded", action="store_true", help="an API server of its own each run")
    where.add_argument("--kubeconfig", metavar="FILE", type=Path, help="any cluster")
    group.add_argument(
        "--scheduler",
        choices=("podium", "external"),
        default="podium",
        help="start podium scheduler, the default, or time the one that runs there",
    )
    group.add_argument(
        "--scheduler-pid", metavar="PID", type=_positive, help="whose CPU and memory to tell"
    )
    group.add_argument(
        "--timeout",
        metavar="2m",
        type=_duration,
        default=120.0,
        help="give up when no pod gets a node for so long (default: 2m)",
    )


def run(args: argparse.Namespace) -> int:
    if args.serve:
        return _serve()
    try:
        _check(args)
        patterns = [args.run_once] if args.run_once else args.workload or ["*"]
        chosen = choose(args.files, patterns, exactly=bool(args.run_once))
    except PodiumError as error:
        complain(error)
        return BAD_INPUT
    if args.run_once:
        return _run_once(chosen[0][1])
    if args.embedded or args.kubeconfig:
        return _run_live(chosen, args)
    runs = args.runs or _DEFAULT_RUNS
    return _run_all(
        chosen,
        args,
        runs,
        Table([workload.name for _, workload in chosen], IN_PROCESS),
        lambda path, workload, bar: repeat(workload.name, path, runs, bar.step),
    )


def _check(args: argparse.Namespace) -> None:
    """What the parser cannot see."""
    if not args.files:
        raise PodiumError("name a file of workloads, such as benchmarks/basic.yaml")
    if args.scheduler == "external" and not args.kubeconfig:
        raise PodiumError("--scheduler external needs the --kubeconfig of its cluster")
    if args.scheduler_pid and args.scheduler != "external":
        raise PodiumError("--scheduler-pid is for --scheduler external")


def choose(files: Sequence[str], patterns: Sequence[str], *, exactly: bool) -> list[Chosen]:
    """The wanted workloads of all files; ``PodiumError`` says everything that is wrong."""
    found: list[Chosen] = []
    faults: list[str] = []
    for path in files:
        try:
            found += [(path, workload) for workload in load_file(path)]
        except ConfigError as error:
            faults.append(str(error))
    if faults:
        raise PodiumError("\n".join(faults))
    chosen = [
        (path, workload)
        for path, workload in found
        if any(_is_named(workload.name, pattern, exactly) for pattern in patterns)
    ]
    if not chosen:
        names = "".join(f"\n  {workload.name}" for _, workload in found)
        wanted = " or ".join(f'"{pattern}"' for pattern in patterns)
        raise PodiumError(f"no workload matches {wanted}; there are:{names}")
    return chosen


def _is_named(name: str, pattern: str, exactly: bool) -> bool:
    return name == pattern if exactly else fnmatchcase(name, pattern)


def _run_once(workload: Workload) -> int:
    try:
        result = run_workload(workload, build_core)
    except WorkloadFailed as error:
        complain(error)
        return FAILED
    print(msgspec.json.encode(result).decode())
    return 0


def build_core(clock: Clock, client: Client) -> app.OfflineCore:
    """The core as an empty configuration builds it."""
    return app.build(config.default(app.in_tree()), clock=clock, client=client)


def _run_live(chosen: Sequence[Chosen], args: argparse.Namespace) -> int:
    from podium.bench.live.run import LiveOptions  # loads the client, as few commands need

    options = LiveOptions(
        kubeconfig=args.kubeconfig,
        is_external=args.scheduler == "external",
        scheduler_pid=args.scheduler_pid,
        timeout=args.timeout,
    )
    runs = args.runs or 1
    return _run_all(
        chosen,
        args,
        runs,
        Table([workload.name for _, workload in chosen], LIVE),
        lambda path, workload, bar: _live_runs(workload, options, runs, bar),
    )


def _live_runs(workload: Workload, options: LiveOptions, runs: int, bar: Bar) -> LiveResult:
    from podium.bench.live.run import run as run_live

    def tell(what: str) -> None:
        bar.tell(f"{workload.name}: {what}")

    results = []
    for number in range(runs):
        bar.step(f"{workload.name} run {number + 1}")
        results.append(_on_a_loop(run_live(workload, options, tell)))
    return median_of(results)


def _on_a_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run it so that SIGTERM ends it as Ctrl-C does: tidily."""
    from podium.live import event_loop

    async def heeding() -> T:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work

    try:
        return event_loop.run(heeding())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def _serve() -> int:
    from podium.bench.live.server import serve
    from podium.live import event_loop

    event_loop.run(serve())
    return 0


def _run_all(
    chosen: Sequence[Chosen],
    args: argparse.Namespace,
    runs: int,
    table: Table[F],
    measure: Callable[[str, Workload, Bar], F],
) -> int:
    as_text = args.output == "text"
    has_header, status = False, 0
    with Bar(len(chosen) * runs) as bar:
        for path, workload in chosen:
            try:
                result = measure(path, workload, bar)
            except PodiumError as error:
                bar.print(signed(f"{workload.name}: {error}"), sys.stderr)
                status = FAILED
                continue
            if as_text and not has_header:  # only above something
                bar.print(table.header())
                has_header = True
            bar.print(table.row(result) if as_text else msgspec.json.encode(result).decode())
    return status


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _duration(text: str) -> float:
    try:
        seconds = durations.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    if seconds <= 0:
        raise argparse.ArgumentTypeError(f"must be above 0, not {text!r}")
    return seconds

"""``podium bench``: run workloads and print what they cost."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from podium import app, config
from podium.bench.load import Workload, load_file
from podium.bench.repeat import repeat
from podium.bench.report import IN_PROCESS, LIVE, ProgressBar, Table
from podium.bench.result import Figures, LiveResult, median_of
from podium.bench.run import run as run_workload
from podium.cli.arguments.measurement import DEFAULT_RUNS
from podium.cli.arguments.parser import BAD_INPUT
from podium.cli.messages import FAILED, prefixed, print_error
from podium.clock import Clock
from podium.errors import ConfigError, PodiumError, WorkloadFailed
from podium.framework.handle import Client

if TYPE_CHECKING:
    from podium.bench.live.run import LiveOptions

T = TypeVar("T")
F = TypeVar("F", bound=Figures)
Chosen: TypeAlias = tuple[str, Workload]  # its file comes first


def run(args: argparse.Namespace) -> int:
    if args.serve:
        return _serve()
    try:
        _check(args)
        patterns = [args.run_once] if args.run_once else args.workload or ["*"]
        chosen = choose(args.files, patterns, exactly=bool(args.run_once))
    except PodiumError as error:
        print_error(error)
        return BAD_INPUT
    if args.run_once:
        return _run_once(chosen[0][1])
    if args.embedded or args.kubeconfig:
        return _run_live(chosen, args)
    runs = args.runs or DEFAULT_RUNS
    return _run_all(
        chosen,
        args,
        runs,
        Table([workload.name for _, workload in chosen], IN_PROCESS),
        lambda path, workload, bar: repeat(workload.name, path, runs, bar.step),
    )


def _check(args: argparse.Namespace) -> None:
    """Check what the parser cannot."""
    if not args.files:
        raise PodiumError("name a file of workloads, such as benchmarks/basic.yaml")
    if args.scheduler == "external" and not args.kubeconfig:
        raise PodiumError("--scheduler external needs the --kubeconfig of its cluster")
    if args.scheduler_pid and args.scheduler != "external":
        raise PodiumError("--scheduler-pid is for --scheduler external")


def choose(files: Sequence[str], patterns: Sequence[str], *, exactly: bool) -> list[Chosen]:
    """Return the wanted workloads of all files; all mistakes are collected into one error."""
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
        print_error(error)
        return FAILED
    print(msgspec.json.encode(result).decode())
    return 0


def build_core(clock: Clock, client: Client) -> app.OfflineCore:
    """Build the core with the default configuration."""
    return app.build(config.default(app.in_tree()), clock=clock, client=client)


def _run_live(chosen: Sequence[Chosen], args: argparse.Namespace) -> int:
    from podium.bench.live.run import LiveOptions  # not loaded for a benchmark in process

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


def _live_runs(workload: Workload, options: LiveOptions, runs: int, bar: ProgressBar) -> LiveResult:
    from podium.bench.live.run import run as run_live

    def tell(what: str) -> None:
        bar.show(f"{workload.name}: {what}")

    results = []
    for number in range(runs):
        bar.step(f"{workload.name} run {number + 1}")
        results.append(_on_a_loop(run_live(workload, options, tell)))
    return median_of(results)


def _on_a_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run it so that SIGTERM ends it as Ctrl-C does, with all cleanup."""
    from podium.live import event_loop

    async def until_signal() -> T:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await work

    try:
        return event_loop.run(until_signal())
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
    measure: Callable[[str, Workload, ProgressBar], F],
) -> int:
    as_text = args.output == "text"
    has_header, status = False, 0
    with ProgressBar(len(chosen) * runs) as bar:
        for path, workload in chosen:
            try:
                result = measure(path, workload, bar)
            except PodiumError as error:
                bar.print(prefixed(f"{workload.name}: {error}"), sys.stderr)
                status = FAILED
                continue
            if as_text and not has_header:  # no header where every workload fails
                bar.print(table.header())
                has_header = True
            bar.print(table.row(result) if as_text else msgspec.json.encode(result).decode())
    return status

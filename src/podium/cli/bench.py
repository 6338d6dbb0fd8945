"""``podium bench``: run workloads and print what they cost."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Protocol, TypeAlias, TypeVar

import msgspec

from podium import app
from podium.bench.load import LoadOptions, Workload, load_file, problem_line
from podium.bench.repeat import repeat
from podium.bench.report import IN_PROCESS, LIVE, ComparisonTable, Table
from podium.bench.run import run as run_workload
from podium.bench.thresholds import with_threshold
from podium.cli.arguments.measurement import DEFAULT_RUNS
from podium.cli.arguments.parser import BAD_INPUT
from podium.cli.messages import FAILED, prefixed, print_error
from podium.cli.progress import RunsBar
from podium.clock import Clock
from podium.config.load import read, read_default, text_of
from podium.cycle.record import Records, usual_budget
from podium.errors import ConfigError, PodiumError, WorkloadFailed
from podium.framework.handle import Client

R = TypeVar("R", contravariant=True)
Chosen: TypeAlias = tuple[str, Workload]  # its file comes first


class Lines(Protocol[R]):
    """Formats results as lines of text."""

    def header(self) -> str: ...

    def row(self, result: R) -> str: ...


def run(args: argparse.Namespace) -> int:
    if args.serve or args.bind_loop or args.generate:
        from podium.cli.bench_live import run_child

        return run_child(args)
    try:
        _check(args)
        patterns = [args.run_once] if args.run_once else args.workload or ["*"]
        options = LoadOptions(params=dict(args.param), release=args.kubernetes_version)
        chosen = choose(args.files, patterns, options, exactly=bool(args.run_once))
    except PodiumError as error:
        print_error(error)
        return BAD_INPUT
    if args.run_once:
        return _run_once(chosen[0][1])
    if args.compare:
        return _run_comparison(chosen, args)
    if args.embedded or args.kubeconfig:
        return _run_live(chosen, args)
    runs = args.runs or DEFAULT_RUNS
    others = [f"--kubernetes-version={args.kubernetes_version}"]
    others += [f"--param={name}={json.dumps(value)}" for name, value in args.param]
    return _run_all(
        chosen,
        args,
        runs,
        Table(_runnable_names(chosen), IN_PROCESS),
        lambda path, workload, bar: with_threshold(
            repeat([workload.name, path, *others], runs, bar.step), workload.threshold
        ),
    )


def _check(args: argparse.Namespace) -> None:
    """Check what the parser cannot."""
    if not args.files:
        raise PodiumError("name a file of workloads, such as benchmarks/basic.yaml")
    if args.scheduler == "external" and not args.kubeconfig:
        raise PodiumError("--scheduler external needs the --kubeconfig of its cluster")
    if args.scheduler_pid and args.scheduler != "external":
        raise PodiumError("--scheduler-pid is for --scheduler external")
    for option in ("drain", "generators", "compare"):
        if getattr(args, option) and not (args.embedded or args.kubeconfig):
            raise PodiumError(f"--{option} needs a cluster: --embedded or --kubeconfig")
    for option in ("drain", "compare"):
        if getattr(args, option) and args.scheduler == "external":
            raise PodiumError(f"--{option} starts schedulers itself: omit --scheduler external")
    if args.plot and not args.compare:
        raise PodiumError("--plot draws a comparison: name a scheduler with --compare")
    if args.plot and not args.plot.parent.is_dir():
        raise PodiumError(f"--plot: there is no folder {args.plot.parent}")


def choose(
    files: Sequence[str], patterns: Sequence[str], options: LoadOptions, *, exactly: bool
) -> list[Chosen]:
    """Return the wanted workloads of all files; all mistakes are collected into one error."""
    found: list[Chosen] = []
    faults: list[str] = []
    for path in files:
        try:
            found += [(path, workload) for workload in load_file(path, options)]
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
    _check_params(options.params, {name for _, each in chosen for name in each.params})
    return chosen


def _check_params(given: Iterable[str], known: Collection[str]) -> None:
    unknown = ", ".join(name for name in given if name not in known)
    if unknown:
        names = ", ".join(sorted(known)) or "none"
        raise PodiumError(f"--param: no chosen workload has {unknown}; there are: {names}")


def _is_named(name: str, pattern: str, exactly: bool) -> bool:
    return name == pattern if exactly else fnmatchcase(name, pattern)


def _run_once(workload: Workload) -> int:
    try:
        if workload.problems:
            raise WorkloadFailed(str(workload.problems[0]))
        result = run_workload(workload, partial(build_core, workload))
    except (ConfigError, WorkloadFailed) as error:
        print_error(error)
        return FAILED
    print(msgspec.json.encode(result).decode())
    return 0


def build_core(workload: Workload, clock: Clock, client: Client) -> app.OfflineCore:
    """Build the core with the configuration and the feature gates of a workload."""
    gates = workload.gates
    registry = app.in_tree_with_legacy(gates)
    path = workload.scheduler_config
    if path is None:
        reading = read_default(registry, gates=gates)
    else:
        reading = read(text_of(path), registry, source=str(path), gates=gates)
    return app.build(
        reading.configuration,
        registry=registry,
        clock=clock,
        client=client,
        reuses=gates.enabled("OpportunisticBatching"),
        records=Records(budget=usual_budget()),  # as a running scheduler keeps them
    )


def _run_live(chosen: Sequence[Chosen], args: argparse.Namespace) -> int:
    from podium.cli.bench_live import live_options, median_run  # not loaded for a run in process

    options, runs = live_options(args), args.runs or 1
    return _run_all(
        chosen,
        args,
        runs,
        Table(_runnable_names(chosen), LIVE),
        lambda path, workload, bar: with_threshold(
            median_run(workload, options, runs, bar), workload.threshold
        ),
    )


def _run_comparison(chosen: Sequence[Chosen], args: argparse.Namespace) -> int:
    from podium.cli.bench_live import Comparing, live_options

    rounds = args.runs or 1
    try:
        comparing = Comparing(live_options(args), args.compare, rounds)
    except PodiumError as error:
        print_error(error)
        return BAD_INPUT
    names = _runnable_names(chosen)
    status = _run_all(
        chosen,
        args,
        rounds * len(comparing.schedulers),
        ComparisonTable(names, comparing.schedulers),
        lambda path, workload, bar: comparing.compare(workload, bar),
    )
    if args.plot and comparing.found:
        try:
            args.plot.write_text(comparing.plot())
        except OSError as error:
            print_error(PodiumError(f"cannot write the plot: {error}"))
            return FAILED
    return FAILED if comparing.has_failures else status


def _run_all(
    chosen: Sequence[Chosen],
    args: argparse.Namespace,
    runs: int,
    table: Lines[R],
    measure: Callable[[str, Workload, RunsBar], R],
) -> int:
    as_text = args.output == "text"
    runnable = [(path, workload) for path, workload in chosen if not workload.problems]
    status = _report_problems(chosen)
    has_header = False
    with RunsBar(len(runnable) * runs) as bar:
        for path, workload in runnable:
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


def _runnable_names(chosen: Sequence[Chosen]) -> list[str]:
    return [workload.name for _, workload in chosen if not workload.problems]


def _report_problems(chosen: Sequence[Chosen]) -> int:
    """Print one line per case that cannot run; return the exit status."""
    lines = {
        f"{path}: {problem_line(workload.problems)}": None
        for path, workload in chosen
        if workload.problems
    }
    for line in lines:
        print_error(line)
    return FAILED if lines else 0

"""``podium bench``: run workloads and print what they cost."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

import msgspec

from podium import app, config
from podium.bench.load import Workload, load_file
from podium.bench.progress import Bar
from podium.bench.repeat import repeat
from podium.bench.report import Table
from podium.bench.run import run as run_workload
from podium.clock import Clock
from podium.errors import ConfigError, PodiumError, WorkloadFailed
from podium.framework.handle import Client

BAD_INPUT = 2
FAILED = 1
_DEFAULT_RUNS = 5
_EXAMPLES = """examples:
  podium bench benchmarks/basic.yaml                          all sizes, the median of five runs
  podium bench benchmarks/*.yaml --workload '*/500Nodes'      one size of everything
  podium bench benchmarks/spread.yaml --runs 1 -o json        one object per workload
"""

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
Chosen: TypeAlias = tuple[str, Workload]  # with its file


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "bench",
        help="measure how fast pods are scheduled",
        description="Run workloads in scheduler_perf's shape in this machine's memory and print "
        "what a scheduling cycle costs, beside a fixed reference computation.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a YAML file of workloads")
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
        default=_DEFAULT_RUNS,
        help="print the median of this many runs (default: %(default)s)",
    )
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text")
    # What ``repeat`` calls in a process of its own: one run, its result as JSON.
    parser.add_argument("--run-once", metavar="NAME", help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    try:
        patterns = [args.run_once] if args.run_once else args.workload or ["*"]
        chosen = choose(args.files, patterns, exactly=bool(args.run_once))
    except PodiumError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    if args.run_once:
        return _run_once(chosen[0][1])
    return _run_all(chosen, args)


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
        raise PodiumError(f"podium: no workload matches {wanted}; there are:{names}")
    return chosen


def _is_named(name: str, pattern: str, exactly: bool) -> bool:
    return name == pattern if exactly else fnmatchcase(name, pattern)


def _run_once(workload: Workload) -> int:
    try:
        result = run_workload(workload, build_core)
    except WorkloadFailed as error:
        print(error, file=sys.stderr)
        return FAILED
    print(msgspec.json.encode(result).decode())
    return 0


def build_core(clock: Clock, client: Client) -> app.OfflineCore:
    """The core as an empty configuration builds it."""
    return app.build(config.default(app.in_tree()), clock=clock, client=client)


def _run_all(chosen: Sequence[Chosen], args: argparse.Namespace) -> int:
    table = Table([workload.name for _, workload in chosen])
    as_text = args.output == "text"
    if as_text:
        print(table.header(), flush=True)
    status = 0
    with Bar(len(chosen) * args.runs) as bar:
        for path, workload in chosen:
            try:
                result = repeat(workload.name, path, args.runs, bar.step)
            except WorkloadFailed as error:
                bar.print(f"podium: {workload.name}: {error}", sys.stderr)
                status = FAILED
            else:
                bar.print(table.row(result) if as_text else msgspec.json.encode(result).decode())
    return status


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number

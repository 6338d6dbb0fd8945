"""The options of `podium bench` and `podium conformance`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, Final

from podium.cli.arguments.options import add_kubernetes_version
from podium.cli.arguments.parser import Subparsers, duration

DEFAULT_RUNS: Final = 5

_BENCH_EXAMPLES = """examples:
  podium bench benchmarks/basic.yaml                          all sizes, the median of five runs
  podium bench benchmarks/*.yaml --workload '*/500Nodes'      one size of everything
  podium bench benchmarks/spread.yaml --runs 1 -o json        one object per workload
  podium bench FILE --param measurePods=1000                  fewer pods than the file says
  podium bench --embedded benchmarks/basic.yaml               a whole scheduler, over an API
  podium bench --kubeconfig F benchmarks/basic.yaml           podium scheduler on a cluster
  podium bench --kubeconfig F --scheduler external FILE       the scheduler that runs there
  podium bench --kubeconfig F --drain FILE                    pods that all exist before
  podium bench --kubeconfig F --generators 3 FILE             pods from three processes
  podium bench --kubeconfig F --compare kube-scheduler=PATH --compare bind-loop \\
      --runs 3 --plot speed.svg FILE                          several schedulers, in turns
"""
_CONFORMANCE_EXAMPLES = """examples:
  podium conformance tests/data/golden/1.37                               everything recorded
  podium conformance tests/data/golden/1.36 --kubernetes-version 1.36     of another release
  podium conformance tests/data/golden/1.37 --family preemption           one family
  podium conformance tests/data/golden/1.37 --name '*/reprieve-*' -o json
"""


def add_bench(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "bench",
        help="measure how fast pods are scheduled",
        description="Run workloads in the format of scheduler_perf and print what scheduling "
        "costs: the cycle alone in this machine's memory, or a whole scheduler on a cluster.",
        epilog=_BENCH_EXAMPLES,
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="a YAML file of workloads")
    parser.add_argument(
        "--workload",
        metavar="GLOB",
        action="append",
        help="only workloads with such a name, for example 'Basic/*'; may be repeated",
    )
    parser.add_argument(
        "--runs",
        metavar="N",
        type=_positive,
        help=f"print the median of this many runs (default: {DEFAULT_RUNS}, on a cluster 1)",
    )
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json"),
        default="text",
        help="output format (default: text)",
    )
    parser.add_argument(
        "--param",
        metavar="NAME=VALUE",
        action="append",
        type=_param,
        default=[],
        help="use this value for a parameter of the workloads, for example measurePods=1000; "
        "may be repeated",
    )
    add_kubernetes_version(parser)
    _add_live(parser)
    _add_load(parser)
    # bench.repeat runs this in another process: one run, with its result as JSON.
    parser.add_argument("--run-once", metavar="NAME", help=argparse.SUPPRESS)
    # --embedded starts this in another process: the API server.
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    # --generators and --compare bind-loop start these in other processes.
    parser.add_argument("--generate", metavar="FILE", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--bind-loop", metavar="FILE", type=Path, help=argparse.SUPPRESS)


def _add_live(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("on a cluster", "timed from outside, by a watch")
    where = group.add_mutually_exclusive_group()
    where.add_argument("--embedded", action="store_true", help="start an API server for each run")
    where.add_argument("--kubeconfig", metavar="FILE", type=Path, help="use this cluster")
    group.add_argument(
        "--scheduler",
        choices=("podium", "external"),
        default="podium",
        help="start podium scheduler (the default), or time the one that runs on the cluster",
    )
    group.add_argument(
        "--scheduler-pid",
        metavar="PID",
        type=_positive,
        help="report CPU and memory of this process",
    )
    group.add_argument(
        "--timeout",
        metavar="2m",
        type=_duration,
        default=120.0,
        help="give up when no pod gets a node for this long (default: 2m)",
    )


def _add_load(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("load and comparison", "with --embedded or --kubeconfig")
    group.add_argument(
        "--drain",
        action="store_true",
        help="create the measured pods while no scheduler runs, then time one that finds them all",
    )
    group.add_argument(
        "--generators",
        metavar="N",
        type=_positive,
        default=0,
        help="create the measured pods from this many processes (default: from this one)",
    )
    group.add_argument(
        "--compare",
        metavar="NAME=PATH",
        action="append",
        default=[],
        help="time this scheduler, too, in turns with podium; bind-loop is a built-in loop that "
        "only binds; may be repeated",
    )
    group.add_argument(
        "--plot", metavar="FILE", type=Path, help="draw the comparison into this SVG file"
    )


def add_conformance(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "conformance",
        help="replay recorded decisions of kube-scheduler",
        description="Replay recorded attempts, sequences, queueing hints and update events through "
        "podium's own core and print each difference. The exit status is 0 when nothing differs "
        "and something was compared in full, 1 otherwise, 2 when the input cannot be used.",
        epilog=_CONFORMANCE_EXAMPLES,
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="recorded cases, plain or .gz; or a folder of them"
    )
    parser.add_argument(
        "--family",
        action="append",
        default=[],
        metavar="NAME",
        help="only cases of this family; may be repeated",
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        metavar="GLOB",
        help="only cases with such a name; may be repeated",
    )
    add_kubernetes_version(parser)
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json"),
        default="text",
        help="output format (default: text)",
    )


def _param(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, not {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value  # a string without quotes, such as a duration


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _duration(text: str) -> float:
    seconds = duration(text)
    if seconds <= 0:
        raise argparse.ArgumentTypeError(f"must be above 0, not {text!r}")
    return seconds

"""The options of `podium replay`."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Final

from podium.cli.arguments.options import add_kubernetes_version, add_plugin
from podium.cli.arguments.parser import Parser, Subparsers, duration, non_empty, number_between

FORMATS: Final = ("alibaba-gpu-2023", "google-2019", "simkube")
_MOST_SEEDS: Final = 1_000_000
_LONGEST_ATTEMPT: Final = 3600.0

_EXAMPLES = """examples:
  podium replay trace.jsonl                                     the default configuration
  podium replay trace.jsonl --config a.yaml --config b.yaml     side by side
  podium replay trace.jsonl --seed 0-31 --jobs 8 -o csv         how much depends on ties
  podium replay trace.jsonl --config a.yaml --plot waits.svg
  podium replay trace.jsonl --seed 0-999 --dask tcp://10.0.0.5:8786 -o json > results.jsonl
  podium replay convert --help                                  published traces
"""
_CONVERT_EXAMPLES = """examples:
  podium replay convert --from alibaba-gpu-2023 openb_node_list_gpu_node.csv \\
      openb_pod_list_default.csv -o alibaba.jsonl
  podium replay convert --from google-2019 machine_events.json.gz instance_events.json.gz \\
      collection_events.json.gz -o google.jsonl
  podium replay convert --from simkube trace.sktrace nodes.yaml -o simkube.jsonl
"""


def add_replay(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "replay",
        help="replay arrivals and departures of pods on a virtual clock",
        description="Replay a trace: pods arrive, wait in the scheduler's own queue, run and "
        "depart, in virtual time. The same trace, configuration and seed always give the same "
        "result. The exit status is 0 when every variant was replayed, 1 when one failed, 2 when "
        "the input cannot be used or no Dask cluster answers.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "trace",
        metavar="FILE",
        type=Path,
        help="a trace, plain or .gz; docs/replay.md has the format",
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="replay with this configuration; may be repeated (default: the default configuration)",
    )
    parser.add_argument(
        "--seed",
        metavar="N|N-M",
        type=seeds,
        default=range(1),
        help="decides between equally good nodes; a range replays with each (default: 0)",
    )
    add_plugin(parser)
    add_kubernetes_version(parser)
    parser.add_argument(
        "--attempt-time",
        metavar="1ms",
        type=_attempt_duration,
        default=0.0,
        help="how long an attempt to schedule a pod takes (default: no time)",
    )
    _add_running(parser)
    _add_output(parser)
    _add_convert(parser)


def _add_running(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("many variants", "each configuration with each seed")
    where = group.add_mutually_exclusive_group()
    where.add_argument(
        "--jobs",
        metavar="N",
        type=partial(number_between, 1, 1024),
        help="how many processes to use (default: one for each core)",
    )
    where.add_argument(
        "--dask",
        metavar="ADDRESS",
        type=non_empty,
        help="run on this Dask cluster, such as tcp://10.0.0.5:8786",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json", "csv"),
        default="text",
        help="json: one object for each variant, with samples over time; csv: one line for each "
        "(default: text, which shows configurations side by side)",
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        type=Path,
        help="draw waits, use, fragmentation and preemptions over time: .svg or .png",
    )


def _add_convert(parser: argparse.ArgumentParser) -> None:
    assert isinstance(parser, Parser)
    convert = parser.add_alternative(
        "convert",
        summary="make a trace from published tables",
        description="Make a trace from the tables of Alibaba's GPU trace of 2023, of Google's "
        "trace of 2019, or from a trace of SimKube. What a trace cannot express is reported.",
        epilog=_CONVERT_EXAMPLES,
    )
    convert.add_argument(
        "files", nargs="+", metavar="FILE", type=Path, help="the tables; .gz is read as well"
    )
    convert.add_argument(
        "--from", dest="source", choices=FORMATS, required=True, help="which tables they are"
    )
    convert.add_argument(
        "-o", "--output", metavar="FILE", type=Path, required=True, help="the trace to write"
    )


def seeds(text: str) -> range:
    """Read ``7`` or ``0-31``."""
    first, dash, last = text.partition("-")
    number = partial(number_between, 0, 2**32 - 1)
    begin = number(first)
    end = number(last) if dash else begin
    if not begin <= end < begin + _MOST_SEEDS:
        raise argparse.ArgumentTypeError(f"must be a number or a range such as 0-31, not {text!r}")
    return range(begin, end + 1)


def _attempt_duration(text: str) -> float:
    seconds = duration(text)
    if not 0 <= seconds <= _LONGEST_ATTEMPT:
        raise argparse.ArgumentTypeError(f"must be from 0s to 1h, not {text!r}")
    return seconds

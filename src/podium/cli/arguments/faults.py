"""The options of `podium chaos`."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Final

from podium.cli.arguments.parser import Subparsers, number_between

DEFAULT_MINUTES: Final = 2.0
_EXAMPLES = """examples:
  podium chaos                                two simulated minutes of faults, seed 1
  podium chaos --seed 17 --minutes 30         half an hour of another seed
  podium chaos --seed 1 --seeds 200           two hundred seeds, one after the other
  podium chaos --groups --minutes 60          an hour with gangs and quotas
  podium chaos --script chaos-17.json         replay what broke an invariant
"""


def add_chaos(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "chaos",
        help="run schedulers under faults and check what must always hold",
        description="Run two schedulers under leader election on an embedded cluster in simulated "
        "time. Watches are delayed, lose events and break, requests fail, leaders are "
        "partitioned, frozen and killed, clocks are wrong, plugins raise and hang. What must hold "
        "is checked all the time. A seed decides everything; a seed that breaks an invariant is "
        "shortened to a script that reproduces it. The exit status is 1 if an invariant broke.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=partial(number_between, 0, 2**32 - 1),
        help="seed that decides the faults (default: 1)",
    )
    parser.add_argument(
        "--seeds",
        metavar="COUNT",
        type=partial(number_between, 1, 1_000_000),
        help="run this many seeds, from --seed on",
    )
    parser.add_argument(
        "--minutes",
        metavar="M",
        type=_minutes,
        help=f"simulated minutes of faults for each seed (default: {DEFAULT_MINUTES:g})",
    )
    parser.add_argument(
        "--groups",
        action="store_true",
        help="with gangs and quotas: GenericWorkload, Coscheduling and CapacityScheduling",
    )
    parser.add_argument("--script", metavar="FILE", type=Path, help="replay this script instead")
    parser.add_argument(
        "--save",
        metavar="DIR",
        type=Path,
        default=Path(),
        help="directory for the script of a seed that fails (default: the current one)",
    )


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{text}" must be a number of minutes') from None
    if not 0 < minutes <= 24 * 60:
        raise argparse.ArgumentTypeError(f"{text} must be above 0 and at most 1440, a day")
    return minutes

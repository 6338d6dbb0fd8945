"""``podium scheduler``: the scheduler process, for any cluster."""

from __future__ import annotations

import argparse
import dataclasses
import logging
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from podium import config, durations
from podium.app import plugin_loading
from podium.cli import plugin_options
from podium.config import Configuration
from podium.errors import PodiumError
from podium.framework.registry import Registry
from podium.logs import level_of

BAD_INPUT = 2

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

_EXAMPLES = """\
examples:
  podium scheduler --kubeconfig ~/.kube/config          schedule that cluster, under leader election
  podium scheduler --config scheduler.yaml              in a pod: with its service account
  podium scheduler --kubeconfig F --leader-elect=false  alone, without a lease
  podium scheduler --kubeconfig F --plugin ./rack.py    with a plugin of your own
  podium scheduler --kubeconfig F -v 3                  tell the story of each attempt
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "scheduler",
        help="run the scheduler process on a cluster",
        description="Watch a cluster and bind its pods, as kube-scheduler does. Without "
        "--kubeconfig and --master it uses the service account of the pod it runs in.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser)


def add_options(parser: argparse.ArgumentParser) -> None:
    """What ``podium.main`` shares with the command."""
    parser.add_argument("--config", metavar="FILE", type=Path, help="a KubeSchedulerConfiguration")
    parser.add_argument("--kubeconfig", metavar="FILE", type=Path, help="how to reach the cluster")
    parser.add_argument("--master", metavar="URL", default="", help="the API server's address")
    parser.add_argument(
        "--bind-address", metavar="IP", default="127.0.0.1", help="of health and metrics"
    )
    parser.add_argument(
        "--secure-port", metavar="PORT", type=int, default=10259, help="0 serves nothing"
    )
    parser.add_argument(
        "-v", "--v", metavar="LEVEL", type=int, default=0, help="how much to log (default: 0)"
    )
    plugin_options.add(parser)
    _add_election(parser)


def _add_election(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("leader election", "what is given here wins over the file")
    group.add_argument(
        "--leader-elect", metavar="BOOL", type=_boolean, nargs="?", const=True, help="default: true"
    )
    for name in ("lease-duration", "renew-deadline", "retry-period"):
        group.add_argument(f"--leader-elect-{name}", metavar="15s", type=_duration)
    for name in ("resource-lock", "resource-name", "resource-namespace"):
        group.add_argument(f"--leader-elect-{name}", metavar="NAME")


def run(args: argparse.Namespace, plugins: Iterable[object] = ()) -> int:
    """``plugins`` are those of a program that calls ``podium.main``."""
    from podium.app import process  # loads the client and the server, as few commands need

    level = level_of(args.v)
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        options = process.ProcessOptions(
            kubeconfig=args.kubeconfig,
            master=args.master,
            bind_address=args.bind_address,
            secure_port=args.secure_port,
        )
        registry = plugin_loading.registry(args.plugin, plugins)
        return process.run(_configuration(args, registry), options, registry)
    except PodiumError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT


def _configuration(args: argparse.Namespace, registry: Registry) -> Configuration:
    found = config.load_file(args.config, registry) if args.config else config.default(registry)
    election = dataclasses.replace(found.leader_election, **_election(args))
    return dataclasses.replace(found, leader_election=election)


def _election(args: argparse.Namespace) -> dict[str, Any]:
    """The fields that flags set; the flags are named after them."""
    given = {
        name.removeprefix("leader_elect_"): value
        for name, value in vars(args).items()
        if name.startswith("leader_elect_") and value is not None
    }
    return given if args.leader_elect is None else {"leader_elect": args.leader_elect, **given}


def _boolean(text: str) -> bool:
    values = {"true": True, "1": True, "t": True, "false": False, "0": False, "f": False}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"must be true or false, not {text!r}")
    return values[text.lower()]


def _duration(text: str) -> float:
    try:
        return durations.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None

"""The options of `podium up`, `podium down` and `podium demo`."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from podium.cli.arguments.options import (
    add_kubeconfig,
    add_kubernetes_version,
    add_name,
    add_plugin,
    add_state_file,
    add_watch,
)
from podium.cli.arguments.parser import Subparsers, number_between

DEFAULT_NODES: Final = 3
MOST_NODES: Final = 60_000  # as many as there are ranges of pod addresses
MOST_DEVICES: Final = 128  # as many as a slice may have

_UP_EXAMPLES = """\
examples:
  podium up                                   3 nodes, until Ctrl-C
  podium up --nodes 100 --detach              100 nodes in the background; end with: podium down
  podium up --name test --detach              a second cluster; end with: podium down --name test
  podium up --node-template big.yaml          3 nodes like the Node in a file
  podium up --nodes 10 --node-template gpu.yaml=2
                                              10 ordinary nodes and 2 like the Node in gpu.yaml
  podium up --devices gpu.example.com=8       each node has 8 devices, for resource claims
  podium up --kubeconfig ./podium.yaml        leave kubectl's own file alone
  podium up --config scheduler.yaml           configure the scheduler
  podium up --plugin rack.py --watch          run your own plugin, and reload it on save
  podium up --no-scheduler                    pods wait for another scheduler
  podium up --speed 60                        one minute of cluster time passes per second
  podium up --kubernetes-version 1.36         an older cluster
"""
_DEMO_EXAMPLES = """\
examples:
  podium demo                                 watch 1,000 pods being placed on 100 nodes
  podium demo --kubeconfig ./podium.yaml      leave kubectl's own file alone
"""
_DOWN_EXAMPLES = """\
examples:
  podium up --detach && podium get nodes && podium down
  podium down --name test                     stop the cluster of: podium up --name test
"""


class NodeTemplate(NamedTuple):
    """One `--node-template`: a file, and how many nodes to make from it.

    Without a count it is for the nodes that `--nodes` asks for.
    """

    file: Path
    nodes: int | None


class Devices(NamedTuple):
    """One `--devices`: a driver, and how many devices it has on each node."""

    driver: str
    devices: int


def add_up(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "up",
        help="run a cluster on this machine: API server, scheduler, simulated kubelets",
        description="Run a Kubernetes API server on loopback, with a scheduler, controllers for "
        "workloads and simulated kubelets: pods run without containers. Everything is kept in "
        "memory. While the cluster runs, a kubeconfig has a context for it.",
        epilog=_UP_EXAMPLES,
    )
    _add_nodes(parser)
    _add_devices(parser)
    parser.add_argument(
        "--port",
        metavar="PORT",
        type=partial(number_between, 0, 65535),
        default=0,
        help="port of the API server (default: any free one)",
    )
    parser.add_argument(
        "--speed",
        metavar="X",
        type=_speed,
        default=1.0,
        help="how many times faster than real time the cluster runs (default: 1)",
    )
    parser.add_argument(
        "--config", metavar="FILE", type=Path, help="the scheduler's KubeSchedulerConfiguration"
    )
    parser.add_argument(
        "--no-scheduler", action="store_true", help="leave pods to another scheduler"
    )
    add_plugin(parser)
    add_watch(parser)
    add_kubernetes_version(parser)
    parser.add_argument("--detach", action="store_true", help="return when the cluster is ready")
    add_name(parser)
    add_kubeconfig(parser)
    add_state_file(parser)
    # --detach starts this command again and passes a pipe that tells it when the cluster is ready.
    parser.add_argument("--ready-fd", type=int, help=argparse.SUPPRESS)


def _add_nodes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--nodes",
        metavar="N",
        type=partial(number_between, 0, MOST_NODES),
        help=f"how many nodes (default: {DEFAULT_NODES}; 0 if every --node-template has a COUNT)",
    )
    parser.add_argument(
        "--node-template",
        metavar="FILE[=COUNT]",
        type=_node_template,
        action="append",
        default=[],
        help="YAML of one Node: make COUNT nodes like it, or without COUNT those of --nodes; may "
        "be repeated",
    )


def _add_devices(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--devices",
        metavar="DRIVER=COUNT",
        type=_devices,
        action="append",
        default=[],
        help="give each node COUNT devices of a simulated driver, and make a DeviceClass named "
        "DRIVER; may be repeated",
    )


def add_demo(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "demo",
        help="watch 1,000 pods being placed on 100 simulated nodes",
        description="Start a cluster as podium up does, create workloads, show where their pods "
        "are placed and why some stay pending, and keep the cluster running until Ctrl-C.",
        epilog=_DEMO_EXAMPLES,
    )
    add_name(parser)
    add_kubeconfig(parser)
    add_state_file(parser)


def add_down(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "down",
        help="stop a cluster that podium up runs",
        description="Stop a running cluster, discard everything in it, and remove its context from "
        "the kubeconfig. It is not an error if no cluster runs.",
        epilog=_DOWN_EXAMPLES,
    )
    add_name(parser)
    add_state_file(parser)


def _node_template(text: str) -> NodeTemplate:
    file, equals, count = text.rpartition("=")
    if not equals:
        return NodeTemplate(Path(text), None)
    if not file:
        raise argparse.ArgumentTypeError(f"must be FILE or FILE=COUNT, not {text!r}")
    return NodeTemplate(Path(file), number_between(0, MOST_NODES, count))


def _devices(text: str) -> Devices:
    driver, equals, count = text.rpartition("=")
    if not (equals and driver):
        raise argparse.ArgumentTypeError(f"must be DRIVER=COUNT, not {text!r}")
    return Devices(driver, number_between(1, MOST_DEVICES, count))


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed <= 1000:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 1000, not {text!r}")
    return speed

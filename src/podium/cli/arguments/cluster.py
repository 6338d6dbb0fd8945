"""The options of `podium up`, `podium down`, `podium top`, `podium dashboard` and `podium demo`."""

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
from podium.release import LATEST

DEFAULT_NODES: Final = 3
MOST_NODES: Final = 60_000  # as many as there are ranges of pod addresses
MOST_DEVICES: Final = 128  # as many as a slice may have

_UP_EXAMPLES = """\
examples:
  podium up                                   3 nodes, until Ctrl-C
  podium up --nodes 100 --detach              100 nodes in the background; end with: podium down
  podium up --nodes 50 --open                 and open the dashboard in a browser
  podium up --name test --detach              a second cluster; end with: podium down --name test
  podium up --node-template big.yaml          3 nodes like the Node in a file
  podium up --nodes 10 --node-template gpu.yaml=2
                                              10 ordinary nodes and 2 like the Node in gpu.yaml
  podium up --devices gpu.example.com=8       each node has 8 devices, for resource claims
  podium up --kubeconfig ./podium.yaml        leave kubectl's own file alone
  podium up --config scheduler.yaml           configure the scheduler
  podium up --plugin rack.py --watch          run your own plugin, and reload it on save
  podium up --no-scheduler                    pods wait for another scheduler
  podium up --feature-gates GenericWorkload=true
                                              pods of a PodGroup are scheduled together
  podium up --speed 60                        one minute of cluster time passes per second
  podium up --kubernetes-version 1.36         an older cluster
  podium up --from prod.podium                in the state of a snapshot
  podium up --from prod.podium --freeze       and nothing changes it but you and the scheduler
"""
_DEMO_EXAMPLES = """\
examples:
  podium demo                                 the story, with a live map; then until Ctrl-C
  podium demo | cat                           the same story as plain lines, faster
  podium demo --kubeconfig ./podium.yaml      leave kubectl's own file alone
"""
_DASHBOARD_EXAMPLES = """\
examples:
  podium dashboard                            print a link to the dashboard of: podium up
  podium dashboard --open                     and open it in a browser
  podium dashboard --name test                of the cluster of: podium up --name test
"""
_TOP_EXAMPLES = """\
examples:
  podium top                                  watch the scheduler of podium up; ? lists the keys
  podium top | grep ^pending                  once, as a table: which reasons keep pods waiting
  podium top -o json                          once, as JSON: what the dashboard shows
  podium top --name test                      of the cluster of: podium up --name test
  podium top --server "LINK"                  of: podium scheduler --dashboard --plain-http-port
"""
_DOWN_EXAMPLES = """\
examples:
  podium up --detach && podium get nodes && podium down
  podium down --name test                     stop the cluster of: podium up --name test
  podium down --save mine.podium              go on later with: podium up --from mine.podium
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
    _add_snapshot(parser)
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
    parser.add_argument(
        "--feature-gates",
        metavar="NAME=BOOL[,...]",
        type=_settings,
        default=(),
        help="feature gates of the API server and the scheduler; docs/feature-gates.md has all",
    )
    add_kubernetes_version(parser, None, f"{LATEST}, or that of the snapshot of --from")
    parser.add_argument("--detach", action="store_true", help="return when the cluster is ready")
    parser.add_argument("--open", action="store_true", help="open the dashboard in a browser")
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


def _add_snapshot(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from",
        metavar="FILE",
        dest="source",
        type=Path,
        help="start in the state of a snapshot, or of what kubectl get -o yaml has printed",
    )
    parser.add_argument(
        "--freeze",
        action="store_true",
        help="with --from: run no controllers and no kubelets, so that only clients and the "
        "scheduler change anything",
    )


def add_demo(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "demo",
        help="a story in a minute: a cluster fills, a zone fails, a pod waits, and what helps",
        description="Start a cluster as podium up does, and show what happens in it: pods of "
        "twelve workloads come to 75 nodes, a zone fails, its pods move, one stays pending, "
        "podium explain says why and what would help, the fix is applied, and the pod lands. On a "
        "terminal the cluster then runs until Ctrl-C; otherwise it stops after the story.",
        epilog=_DEMO_EXAMPLES,
    )
    add_name(parser)
    add_kubeconfig(parser)
    add_state_file(parser)


def add_dashboard(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "dashboard",
        help="print a link to the dashboard of a cluster that podium up runs",
        description="Print a new link to the dashboard of a running cluster. The link signs one "
        "browser in, once, within a day; the browser stays signed in while the cluster runs.",
        epilog=_DASHBOARD_EXAMPLES,
    )
    parser.add_argument("--open", action="store_true", help="open the link in a browser, too")
    add_name(parser)
    add_state_file(parser)


def add_top(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "top",
        help="watch a running scheduler: its queue, pods per second, waiting pods and full nodes",
        description="Show the scheduler of a running cluster, as its dashboard does: the parts of "
        "its queue, pods per second, pending pods by reason and the fullest nodes. On a terminal "
        "it follows changes, and keys lead to explanations of pods and nodes; in a pipe it prints "
        "one table. Nothing is ever written to the cluster.",
        epilog=_TOP_EXAMPLES,
    )
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json"),
        default="text",
        help="output format (default: text)",
    )
    add_name(parser)
    add_state_file(parser)
    parser.add_argument(
        "--server",
        metavar="URL",
        default="",
        help="show another scheduler, which runs with --dashboard: the link that it prints, or "
        "the address of its secure port",
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        type=Path,
        help="a bearer token for --server; its user must be allowed to get /dashboard/*",
    )
    parser.add_argument(
        "--certificate-authority",
        metavar="FILE",
        type=Path,
        help="trust these certificates of --server, in PEM; without it, those of the system",
    )


def add_down(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "down",
        help="stop a cluster that podium up runs",
        description="Stop a running cluster, discard everything in it, and remove its context from "
        "the kubeconfig. It is not an error if no cluster runs.",
        epilog=_DOWN_EXAMPLES,
    )
    parser.add_argument(
        "--save",
        metavar="FILE",
        type=Path,
        help="first save a snapshot of the cluster, for podium up --from",
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


def _settings(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(",")))


def _speed(text: str) -> float:
    try:
        speed = float(text)
    except ValueError:
        speed = 0.0
    if not 0 < speed <= 1000:
        raise argparse.ArgumentTypeError(f"must be above 0 and at most 1000, not {text!r}")
    return speed

"""The options of `podium explain` and `podium serve`."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Final

from podium.cli.arguments.configuration import SCHEDULER
from podium.cli.arguments.options import add_plugin
from podium.cli.arguments.parser import Subparsers, non_empty, number_between

MOST_ATTEMPTS: Final = 1 << 31

_POD_EXAMPLES = """\
  podium explain pod web                       why it is pending, or why it has its node
  podium explain pod web --node node-7         and why not there
  podium explain pod web --attempt 2           one attempt that the scheduler remembers
  podium explain pod -f pod.yaml               a pod that does not exist yet
  podium explain pod web --watch               again after each change, until Ctrl-C
"""
_NODE_EXAMPLES = """\
  podium explain node node-7                   what is free, and which pending pods fit
  podium explain node node-7 --from dump.json  in a snapshot or dump
"""
_QUEUE_EXAMPLES = """\
  podium explain queue                         which pods wait, since when, for what
  podium explain queue --limit 5 --watch       the first of each part, again after each change
  podium explain queue --from dump.json        the pods without a node of a snapshot or dump
"""
_SOURCE_EXAMPLES = """\
  podium explain pod web --context prod        any cluster, without podium in it
  podium explain pod web --from dump.json      a snapshot, or what kubectl get -o json has printed
  kubectl podium explain pod web               the same, in the context of kubectl
"""


def add_explain(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "explain",
        help="say why a pod is pending or where it is, and what would help",
        description="Answer from the records of a running podium scheduler if one schedules for "
        "the cluster, otherwise from what the cluster or a snapshot shows: the decision is then "
        "worked out again. Nothing is ever written to the cluster.",
        epilog=f"examples:\n{_POD_EXAMPLES}{_NODE_EXAMPLES}{_QUEUE_EXAMPLES}{_SOURCE_EXAMPLES}",
    )
    subjects = parser.add_subparsers(dest="subject", metavar="SUBJECT", required=True)
    _add_pod(subjects)
    _add_node(subjects)
    _add_queue(subjects)


def _add_pod(subjects: Subparsers) -> None:
    parser = subjects.add_parser(
        "pod",
        help="why a pod is pending, or why it has its node",
        description="Explain a pod. For a pending pod: which nodes refuse it and why, which nodes "
        "come close, and which changes would help; each was tried on a copy of the cluster's "
        "state. For a placed pod: how the nodes compare. The exit status is 1 if the pod is "
        "pending.",
        epilog=f"examples:\n{_POD_EXAMPLES}{_SOURCE_EXAMPLES}",
    )
    parser.add_argument(
        "name", metavar="NAME", nargs="?", type=non_empty, help="the pod, or NAMESPACE/NAME"
    )
    parser.add_argument(
        "-f",
        "--filename",
        metavar="FILE",
        type=non_empty,
        help="explain the pod in this file, which need not exist yet; - is standard input",
    )
    parser.add_argument(
        "--node",
        metavar="NODE",
        action="append",
        type=non_empty,
        default=[],
        help="also say why the pod is not on this node; may be repeated",
    )
    parser.add_argument(
        "--attempt",
        metavar="N",
        type=partial(number_between, 1, MOST_ATTEMPTS),
        help="show only this attempt, if the running scheduler remembers it",
    )
    _add_namespace(parser)
    _add_sources(parser)


def _add_node(subjects: Subparsers) -> None:
    parser = subjects.add_parser(
        "node",
        help="what is free on a node, and which pending pods it would take",
        description="Explain a node: its room, its pods, and for pending pods what is missing.",
        epilog=f"examples:\n{_NODE_EXAMPLES}",
    )
    parser.add_argument("name", metavar="NAME", type=non_empty, help="the node")
    _add_sources(parser)


def _add_queue(subjects: Subparsers) -> None:
    parser = subjects.add_parser(
        "queue",
        help="which pods wait, since when, and what would wake them",
        description="Show the queue of the running scheduler. Where no podium scheduler runs, show "
        "the pods that have no node.",
        epilog=f"examples:\n{_QUEUE_EXAMPLES}",
    )
    parser.add_argument(
        "--limit",
        metavar="N",
        type=partial(number_between, 1, 1000),
        default=100,
        help="how many pods of each sub-queue to show (default: %(default)s)",
    )
    _add_sources(parser)


def _add_namespace(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-n",
        "--namespace",
        metavar="NAME",
        default="",
        help="the pod's namespace (default: that of the context)",
    )


def _add_sources(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where answers come from, and how they are printed."""
    add_cluster(parser)
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json", "yaml"),
        default="text",
        help="output format (default: text)",
    )
    parser.add_argument(
        "-w", "--watch", action="store_true", help="answer again after changes, until Ctrl-C"
    )


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a cluster or a snapshot, and the scheduler's configuration."""
    parser.add_argument(
        "--kubeconfig",
        metavar="FILE",
        type=Path,
        help="kubeconfig to read (default: the files that kubectl uses)",
    )
    parser.add_argument(
        "--context",
        metavar="NAME",
        default="",
        help="context of the kubeconfig (default: the cluster of podium up while it runs, "
        "otherwise the current context)",
    )
    parser.add_argument(
        "--from",
        metavar="FILE",
        dest="snapshot",
        type=Path,
        help="read a snapshot or dump instead of a cluster",
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        help="the scheduler's configuration (default: that of the cluster or snapshot, if podium "
        "can read it)",
    )
    add_plugin(parser)
    parser.add_argument(
        "--server",
        metavar="URL",
        default="",
        help="where a podium scheduler serves plain HTTP (default: that of podium up, else "
        f"{SCHEDULER})",
    )


_SERVE_EXAMPLES = """\
examples:
  podium serve                                 the cluster of podium up, or of kubectl, kept fresh
  podium serve --from cluster.podium           a snapshot
  podium serve --port 8080 --token-file token  your own port and token
  curl -H "Authorization: Bearer $(cat ~/.local/state/podium/serve.token)" \\
      http://127.0.0.1:8470/v1/cluster         ask it
"""
DEFAULT_PORT: Final = 8470


def add_serve(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "serve",
        help="answer explain, fit and simulate over HTTP, for programs",
        description="Answer over HTTP whether pods would fit, where, and what would help, about a "
        "running cluster or a snapshot. It listens on loopback only, requires a token, and never "
        "writes to the cluster. /openapi.json describes the requests.",
        epilog=_SERVE_EXAMPLES,
    )
    add_cluster(parser)
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        type=non_empty,
        default="127.0.0.1",
        help="loopback address to listen on (default: %(default)s)",
    )
    parser.add_argument(
        "--port",
        metavar="PORT",
        type=partial(number_between, 0, 65535),
        default=DEFAULT_PORT,
        help="port to listen on; 0 takes a free one (default: %(default)s)",
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        type=Path,
        help="file with the token that clients must send (default: a new token, in a file that "
        "only you can read)",
    )

"""The options of `podium simulate`."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import Final

from podium.cli.arguments.answers import add_cluster
from podium.cli.arguments.options import add_kubernetes_version
from podium.cli.arguments.parser import Subparsers, non_empty, number_between

_MOST_REPLICAS: Final = 200_000
_MOST_SEED: Final = (1 << 32) - 1

_EXAMPLES: Final = {
    "fit": """\
  podium simulate fit pod.yaml                       how many more fit in the cluster of kubectl
  podium simulate fit pod.yaml --from prod.podium    in a snapshot
  kubectl get pod web -o yaml | podium simulate fit -
""",
    "drain": """\
  podium simulate drain node-1 node-2 --from prod.podium
  podium simulate drain node-1 --plot drain.svg
""",
    "add": """\
  podium simulate add -f web.yaml --from prod.podium
  podium simulate add -f web.yaml --replicas 50 -o json
""",
    "nodes": """\
  podium simulate nodes --add 'like:node-1*10' --from prod.podium
  podium simulate nodes --remove pool=old --add 'like:new-1*3'
""",
    "compare": """\
  podium simulate compare default scheduler.yaml --from prod.podium
  podium simulate compare default default,rack.py    with and without a plugin
  podium simulate compare 1.36 1.37 --pending        two releases, pending pods only
""",
    "upgrade": """\
  podium simulate upgrade --from prod.podium         Kubernetes 1.36 against 1.37
  podium simulate upgrade --pending -o csv           what it changes for pending pods
""",
    "run": """\
  podium simulate run scenario.yaml --from prod.podium
""",
}
_STATUS: Final = (
    " The exit status is 0 if everything fits, 1 if something does not, 2 for mistakes."
)


_COMPARISON_STATUS: Final = (
    " The exit status is 1 if the second variant leaves pods pending that the first one places, "
    "0 if not, 2 for mistakes."
)


def add_simulate(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "simulate",
        help="say what would happen: pods added, nodes drained, another configuration",
        description="Ask what the scheduler would do, on a copy of the cluster in memory. The "
        "cluster is only read, never written to." + _STATUS,
        epilog=f"examples:\n{''.join(_EXAMPLES.values())}",
    )
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_fit(commands)
    _add_drain(commands)
    _add_add(commands)
    _add_nodes(commands)
    _add_compare(commands)
    _add_upgrade(commands)
    _add_run(commands)


def _add_fit(commands: Subparsers) -> None:
    text = "Count how many more pods like one fit, and where, without evicting others. Show what "
    parser = _action(
        commands,
        "fit",
        "how many more pods fit, and what runs out first",
        text + "runs out first." + _STATUS,
    )
    parser.add_argument(
        "pod", metavar="POD.yaml", type=non_empty, help="manifest of the pod; - is standard input"
    )
    _add_common(parser)


def _add_drain(commands: Subparsers) -> None:
    text = "Evict the pods of nodes as disruption budgets allow, and schedule their replacements."
    parser = _action(
        commands, "drain", "where the pods of nodes go when they are drained", text + _STATUS
    )
    parser.add_argument(
        "nodes", metavar="NODE", nargs="+", type=non_empty, help="name of a node to drain"
    )
    parser.add_argument(
        "--ignore-budgets",
        action="store_true",
        help="also evict pods that disruption budgets protect",
    )
    _add_common(parser)


def _add_add(commands: Subparsers) -> None:
    text = (
        "Add pods, workloads and other objects, and schedule their pods. Deployments and other "
        "workloads come with the pods of their controllers."
    )
    parser = _action(commands, "add", "where new pods and workloads would run", text + _STATUS)
    parser.add_argument(
        "-f",
        "--filename",
        metavar="FILE",
        action="append",
        type=non_empty,
        required=True,
        help="objects to add: a YAML or JSON file, a directory, or - for standard input; may be "
        "repeated",
    )
    parser.add_argument(
        "--replicas",
        metavar="N",
        type=partial(number_between, 1, _MOST_REPLICAS),
        help="how many copies of each pod, or pods of each workload, to add",
    )
    _add_common(parser)


def _add_nodes(commands: Subparsers) -> None:
    text = (
        "Add copies of nodes, with their DaemonSet pods, and remove nodes. Nodes are added "
        "before others are removed; the pods of removed nodes are scheduled again."
    )
    parser = _action(
        commands, "nodes", "what happens if nodes are added or removed", text + _STATUS
    )
    parser.add_argument(
        "--add",
        metavar="like:NODE*N",
        action="append",
        type=non_empty,
        default=[],
        help="add N nodes like NODE; may be repeated",
    )
    parser.add_argument(
        "--remove",
        metavar="SELECTOR",
        action="append",
        type=non_empty,
        default=[],
        help="remove nodes by labels such as pool=old, or by name; may be repeated",
    )
    _add_common(parser)


def _add_compare(commands: Subparsers) -> None:
    text = (
        "Schedule the same pods twice, and show which get other nodes. A variant is a "
        "configuration file, a plugin file (.py), a release such as 1.36, or default for the "
        "default configuration; several are joined by commas."
    )
    summary = "two configurations or plugin sets side by side"
    parser = _action(commands, "compare", summary, text + _COMPARISON_STATUS)
    parser.add_argument(
        "variants", metavar="VARIANT", nargs=2, type=non_empty, help="such as scheduler.yaml"
    )
    _add_comparison(parser)


def _add_upgrade(commands: Subparsers) -> None:
    text = "Schedule the same pods as two releases of kube-scheduler do, and show what differs."
    summary = "what another release of Kubernetes changes"
    parser = _action(commands, "upgrade", summary, text + _COMPARISON_STATUS)
    _add_comparison(parser)


def _add_run(commands: Subparsers) -> None:
    text = "Carry out the steps of a scenario file one after the other, and report the result."
    parser = _action(commands, "run", "several changes from a scenario file", text + _STATUS)
    parser.add_argument("scenario", metavar="SCENARIO.yaml", type=Path, help="the scenario file")
    _add_common(parser)


def _action(
    commands: Subparsers, name: str, summary: str, description: str
) -> argparse.ArgumentParser:
    epilog = f"examples:\n{_EXAMPLES[name]}"
    return commands.add_parser(name, help=summary, description=description, epilog=epilog)


def _add_comparison(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pending",
        action="store_true",
        help="schedule the pending pods only (default: all pods anew, in order of creation)",
    )
    _add_common(parser, has_release=False)


def _add_common(parser: argparse.ArgumentParser, *, has_release: bool = True) -> None:
    add_cluster(parser)
    parser.set_defaults(server="", namespace="", by_kubectl=False)
    if has_release:
        add_kubernetes_version(parser, None, "that of the cluster")
    parser.add_argument(
        "--seed",
        metavar="N",
        type=partial(number_between, 0, _MOST_SEED),
        default=0,
        help="decides among nodes with equal scores (default: %(default)s)",
    )
    parser.add_argument(
        "--topology",
        metavar="LABEL",
        type=non_empty,
        default="topology.kubernetes.io/zone",
        help="node label whose values are compared for balance (default: %(default)s)",
    )
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json", "csv"),
        default="text",
        help="output format (default: text)",
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        type=Path,
        help="draw the cluster before and after, as .svg or .png",
    )

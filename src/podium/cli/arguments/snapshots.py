"""The options of `podium snapshot`."""

from __future__ import annotations

import argparse
from pathlib import Path

from podium.cli.arguments.parser import Subparsers

_SAVE_EXAMPLES = """\
  podium snapshot save -o cluster.podium              the cluster that kubectl uses
  podium snapshot save -o prod.podium --context prod
  podium snapshot save -o share.podium --anonymize    with other names, to share it
  podium snapshot save -o small.podium --from dump.yaml
                                                      what kubectl get -o yaml has printed
"""
_SHOW_EXAMPLES = """\
  podium snapshot show cluster.podium
  kubectl get nodes,pods,services,pdb -A -o json > dump.json && podium snapshot show dump.json
"""


def add_snapshot(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "snapshot",
        help="save the state of a cluster to a file, and show what is in one",
        description="A snapshot is a file with everything that scheduling decisions depend on: "
        "podium up --from, podium explain and podium simulate read it. Taking one only reads.",
        epilog=f"examples:\n{_SAVE_EXAMPLES}{_SHOW_EXAMPLES}",
    )
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_save(commands)
    _add_show(commands)


def _add_save(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "save",
        help="save the state of a cluster",
        description="Read all nodes, pods and other objects of a cluster at one version, and write "
        "them to a file. Nothing is written to the cluster. Secrets, environment variables and "
        "commands do not get into the file. The exit status is 0 for a whole snapshot, 1 if "
        "something could not be read and the snapshot is partial, 2 if no snapshot was written.",
        epilog=f"examples:\n{_SAVE_EXAMPLES}",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, required=True, help="the file to write"
    )
    parser.add_argument(
        "--from",
        metavar="FILE",
        dest="source",
        type=Path,
        help="read a dump or snapshot, not a cluster",
    )
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
        help="context of the kubeconfig (default: the current one)",
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        help="the scheduler's configuration (default: the one in kube-system, if there is one)",
    )
    parser.add_argument(
        "--anonymize",
        action="store_true",
        help="rename objects, labels, annotations and images so that decisions stay the same",
    )


def _add_show(commands: Subparsers) -> None:
    parser: argparse.ArgumentParser = commands.add_parser(
        "show",
        help="show what is in a snapshot or dump",
        description="Show how many objects a file holds, how full the nodes are, what is missing "
        "and what that means.",
        epilog=f"examples:\n{_SHOW_EXAMPLES}",
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="a snapshot, dump or directory")
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json"),
        default="text",
        help="output format (default: text)",
    )

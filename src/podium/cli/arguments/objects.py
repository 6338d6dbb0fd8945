"""The options of `podium get`, `podium apply` and `podium delete`."""

from __future__ import annotations

import argparse
from pathlib import Path

from podium.cli.arguments.options import DEFAULT_NAME
from podium.cli.arguments.parser import Subparsers

_GET_EXAMPLES = """\
examples:
  podium get nodes
  podium get pods -A -o wide
  podium get pods --watch                     print each change, until Ctrl-C
  podium get deploy/web -o yaml
  podium get all -l app=web
  podium get podgroups                        how many pods of each group have a node, and why
  podium get clusters                         the clusters that podium up runs
"""
_APPLY_EXAMPLES = """\
examples:
  podium apply -f web.yaml
  podium apply -f manifests/ -n team
  cat web.yaml | podium apply -f -
"""
_DELETE_EXAMPLES = """\
examples:
  podium delete pod web
  podium delete deploy/web svc/web
  podium delete pods -l app=web
  podium delete -f web.yaml
"""


def add_get(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "get",
        help="show objects of the cluster, or the clusters of podium up",
        description="Show objects with the columns of kubectl get, for people without kubectl. "
        "The kind clusters stands for the clusters that podium up runs on this machine.",
        epilog=_GET_EXAMPLES,
    )
    parser.add_argument("what", nargs="+", metavar="KIND [NAME]", help="pods, deploy/web, all, …")
    parser.add_argument(
        "-A", "--all-namespaces", action="store_true", help="objects of every namespace"
    )
    parser.add_argument(
        "-l", "--selector", metavar="LABELS", default="", help="only with these labels: app=web"
    )
    parser.add_argument(
        "--field-selector",
        metavar="FIELDS",
        default="",
        help="only with these fields: spec.nodeName=node-0",
    )
    parser.add_argument(
        "-o", "--output", choices=("wide", "yaml", "json", "name"), help="default: a table"
    )
    parser.add_argument(
        "-w", "--watch", action="store_true", help="then print objects as they change, until Ctrl-C"
    )
    _add_connection(parser)


def add_apply(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "apply",
        help="create or update objects from files",
        description="Send objects to the API server with server-side apply: fields that a file "
        "does not have keep their values. For people without kubectl.",
        epilog=_APPLY_EXAMPLES,
    )
    parser.add_argument(
        "-f",
        "--filename",
        metavar="FILE",
        action="append",
        required=True,
        help="YAML or JSON, a directory, or - for standard input; may be repeated",
    )
    parser.add_argument(
        "--force-conflicts", action="store_true", help="take over fields that others own"
    )
    _add_connection(parser)


def add_delete(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "delete",
        help="delete objects of the cluster",
        description="Delete objects; pods get their grace period. For people without kubectl.",
        epilog=_DELETE_EXAMPLES,
    )
    parser.add_argument("what", nargs="*", metavar="KIND NAME", help="or KIND/NAME …")
    parser.add_argument(
        "-f",
        "--filename",
        metavar="FILE",
        action="append",
        default=[],
        help="delete the objects in this file; may be repeated",
    )
    parser.add_argument(
        "-l", "--selector", metavar="LABELS", default="", help="all with these labels: app=web"
    )
    parser.add_argument(
        "--all", action="store_true", help="all objects of the kind in the namespace"
    )
    parser.add_argument(
        "--grace-period", metavar="SECONDS", type=int, help="default: the pod's own"
    )
    parser.add_argument("--force", action="store_true", help="at once, without a grace period")
    parser.add_argument(
        "--ignore-not-found", action="store_true", help="objects that do not exist are no error"
    )
    _add_connection(parser)


def _add_connection(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which namespace of which cluster."""
    parser.add_argument(
        "-n", "--namespace", metavar="NAME", default="default", help="default: %(default)s"
    )
    parser.add_argument(
        "--kubeconfig", metavar="FILE", type=Path, help="default: the file that kubectl uses"
    )
    parser.add_argument(
        "--context",
        metavar="NAME",
        default=DEFAULT_NAME,
        help="default: %(default)s; a cluster of podium up --name NAME has podium-NAME",
    )

"""``podium get``: show objects as a table, or whole."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import msgspec
import yaml
from rich.console import Console
from rich.text import Text

from podium.apiserver.statuses import Json
from podium.cli import columns, session
from podium.cli.complaint import FAILED, complain
from podium.cli.parser import Subparsers
from podium.cli.resources import Resource, Resources, split_names
from podium.cli.session import TABLE, Session
from podium.errors import PodiumError

_GAP = 3  # characters, as kubectl has them
_GOOD = ("Running", "Ready", "Bound", "Active", "Complete")
_BAD = ("Failed", "Error", "NotReady", "Lost", "OutOfcpu", "OutOfmemory", "OutOfpods")
_COLOURS = dict.fromkeys(_GOOD, "green") | dict.fromkeys(_BAD, "red")


_EXAMPLES = """\
examples:
  podium get nodes
  podium get pods -A -o wide
  podium get deploy/web -o yaml
  podium get all -l app=web
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "get",
        help="show objects of the cluster",
        description="Show objects with the columns of kubectl get. For people without kubectl.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("what", nargs="+", metavar="KIND [NAME]", help="pods, deploy/web, all, …")
    parser.add_argument("-A", "--all-namespaces", action="store_true", help="of every namespace")
    parser.add_argument(
        "-l", "--selector", metavar="LABELS", default="", help="with these labels: app=web"
    )
    parser.add_argument(
        "--field-selector",
        metavar="FIELDS",
        default="",
        help="with these fields: spec.nodeName=node-0",
    )
    parser.add_argument(
        "-o", "--output", choices=("wide", "yaml", "json", "name"), help="default: a table"
    )
    session.add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    try:
        words, names = split_names(args.what)
        api = Session.of(args)
        kinds = Resources(api).named(words)
        if names and len(kinds) > 1:
            raise PodiumError("names need one kind before them, not several")
        _show(api, kinds, names, args)
    except PodiumError as error:
        complain(error)
        return FAILED
    return 0


def _show(
    api: Session, kinds: Sequence[Resource], names: Sequence[str], args: argparse.Namespace
) -> None:
    if args.output in (None, "wide"):
        _print_tables(kinds, [_answers(api, kind, names, args, TABLE) for kind in kinds], args)
        return
    objects = [
        obj
        for kind in kinds
        for answer in _answers(api, kind, names, args)
        for obj in _unpacked(answer, kind)
    ]
    if args.output == "name":
        titles = {kind.kind: kind.title for kind in kinds}
        for obj in objects:
            print(f"{titles[obj['kind']]}/{obj['metadata']['name']}")
        return
    only = objects[0] if names and len(objects) == 1 else None
    _dump(only or {"apiVersion": "v1", "kind": "List", "items": objects}, args.output)


def _answers(
    api: Session,
    kind: Resource,
    names: Sequence[str],
    args: argparse.Namespace,
    accept: str = "application/json",
) -> list[Json]:
    """One answer per name, or one list."""
    namespace = None if args.all_namespaces else args.namespace
    if names:
        return [api.get(kind.path(namespace, name), accept) for name in names]
    query = {"labelSelector": args.selector, "fieldSelector": args.field_selector}
    return [api.get(kind.path(namespace), accept, **query)]


def _unpacked(answer: Json, kind: Resource) -> list[Json]:
    if "items" not in answer:
        return [answer]
    typed = {"apiVersion": kind.api_version, "kind": kind.kind}
    return [{**typed, **obj} for obj in answer["items"] or []]


def _dump(value: Any, how: str) -> None:
    if how == "json":
        print(msgspec.json.format(msgspec.json.encode(value), indent=4).decode())
    else:
        print(yaml.safe_dump(value, sort_keys=True), end="")


def _print_tables(
    kinds: Sequence[Resource], answers: Sequence[list[Json]], args: argparse.Namespace
) -> None:
    shown = False
    for kind, tables in zip(kinds, answers, strict=True):
        rows = table_rows(tables, args, kind if len(kinds) > 1 else None)
        if len(rows) > 1:
            if shown:
                print()
            print_aligned(rows)
            shown = True
    if not shown:
        where = "" if args.all_namespaces or not kinds[0].namespaced else args.namespace
        print(f"No resources found{f' in {where} namespace.' if where else ''}", file=sys.stderr)


def table_rows(
    tables: Sequence[Json], args: argparse.Namespace, kind: Resource | None
) -> list[list[str]]:
    """Header and rows as text; ``kind`` goes in front of the names when several are shown."""
    definitions = tables[0].get("columnDefinitions") or []
    wide = args.output == "wide"
    shown = [n for n, one in enumerate(definitions) if wide or not one.get("priority")]
    header = [definitions[n]["name"].upper() for n in shown]
    rows = []
    for table in tables:
        for row in table.get("rows") or []:
            cells = ["<none>" if row["cells"][n] is None else str(row["cells"][n]) for n in shown]
            if kind is not None and cells:
                cells[0] = f"{kind.title}/{cells[0]}"
            namespace = row["object"]["metadata"].get("namespace", "")
            rows.append([namespace, *cells] if args.all_namespaces else cells)
    if args.all_namespaces:
        header = ["NAMESPACE", *header]
    return [header, *rows]


def print_aligned(rows: Sequence[Sequence[str]]) -> None:
    """Columns side by side; colours on a terminal only."""
    header, *others = rows
    cells = [[Text(cell, "bold") for cell in header]]
    cells += [[Text(cell, _COLOURS.get(cell, "")) for cell in row] for row in others]
    console = Console(highlight=False, soft_wrap=True)
    for line in columns.aligned(cells, gap=_GAP):
        console.print(line)

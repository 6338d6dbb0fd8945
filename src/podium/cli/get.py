"""``podium get``: show objects as a table or in full, once or as they change."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import chain
from typing import Any

import msgspec
import yaml
from rich.text import Text

from podium.apiserver.statuses import Json
from podium.cli import kubeconfig, pod_groups, state_file, terminal
from podium.cli.messages import FAILED, print_error
from podium.cli.resources import PODS, Resource, Resources, split_names
from podium.cli.session import TABLE, Session
from podium.cli.state_file import RunningCluster
from podium.cli.terminal import BAD, GOOD, HEADING
from podium.errors import PodiumError

CLUSTERS = ("clusters", "cluster")  # not an API kind: the clusters that `podium up` runs

_GAP = 3  # characters between columns, as in kubectl
_GOOD = ("Running", "Ready", "Bound", "Active", "Complete")
_BAD = ("Failed", "Error", "NotReady", "Lost", "OutOfcpu", "OutOfmemory", "OutOfpods")
_STYLES = dict.fromkeys(_GOOD, GOOD) | dict.fromkeys(_BAD, BAD)


def run(args: argparse.Namespace) -> int:
    try:
        words, names = split_names(args.what)
        if words in CLUSTERS:
            show_clusters(names, args)
            return 0
        api = Session.of(args)
        kinds = Resources(api).named(words)
        if names and len(kinds) > 1:
            raise PodiumError("names need exactly one kind before them")
        if args.watch:
            _watch(api, kinds, names, args)
        else:
            _show(api, kinds, names, args)
    except PodiumError as error:
        print_error(error)
        return FAILED
    return 0


def _is_table(args: argparse.Namespace) -> bool:
    return args.output in (None, "wide")


def _show(
    api: Session, kinds: Sequence[Resource], names: Sequence[str], args: argparse.Namespace
) -> None:
    if _is_table(args):
        _print_tables(kinds, [_tables(api, kind, names, args) for kind in kinds], args)
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


def _tables(
    api: Session, kind: Resource, names: Sequence[str], args: argparse.Namespace
) -> list[Json]:
    """Return the server's tables; those of pod groups with columns about their pods."""
    tables = _answers(api, kind, names, args, TABLE)
    if not pod_groups.is_groups(kind.group, kind.plural):
        return tables
    answers = _answers(api, kind, names, args)
    groups = [obj for answer in answers for obj in _unpacked(answer, kind)]
    pods = api.get(PODS.path(None if args.all_namespaces else args.namespace))["items"] or []
    wide = args.output == "wide"
    return [pod_groups.table_of(table, groups, pods, wide) for table in tables]


def _answers(
    api: Session,
    kind: Resource,
    names: Sequence[str],
    args: argparse.Namespace,
    accept: str = "application/json",
) -> list[Json]:
    """Return one answer per name, or one list."""
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


def _dump(value: Any, output: str) -> None:
    if output == "json":
        print(msgspec.json.format(msgspec.json.encode(value), indent=4).decode(), flush=True)
    else:
        print(yaml.safe_dump(value, sort_keys=True), end="", flush=True)


def _print_tables(
    kinds: Sequence[Resource], answers: Sequence[list[Json]], args: argparse.Namespace
) -> None:
    shown = False
    for kind, tables in zip(kinds, answers, strict=True):
        header = table_header(tables[0], args)
        rows = [
            row
            for table in tables
            for row in table_rows(table, tables[0], args, kind if len(kinds) > 1 else None)
        ]
        if rows:
            if shown:
                print()
            TablePrinter(header).print(rows)
            shown = True
    if not shown:
        where = "" if args.all_namespaces or not kinds[0].namespaced else args.namespace
        print(f"No resources found{f' in {where} namespace.' if where else ''}", file=sys.stderr)


def table_header(table: Json, args: argparse.Namespace) -> list[str]:
    names = [definition["name"].upper() for _, definition in _shown_columns(table, args)]
    return ["NAMESPACE", *names] if args.all_namespaces else names


def table_rows(
    table: Json, first: Json, args: argparse.Namespace, kind: Resource | None = None
) -> list[list[str]]:
    """Return a Table's rows as text; the columns are those of ``first``.

    ``kind`` is put in front of the names when several kinds are shown.
    """
    rows = []
    for row in table.get("rows") or []:
        values = [row["cells"][index] for index, _ in _shown_columns(first, args)]
        cells = [_cell(value) for value in values]
        if kind is not None and cells:
            cells[0] = f"{kind.title}/{cells[0]}"
        namespace = row["object"]["metadata"].get("namespace", "")
        rows.append([namespace, *cells] if args.all_namespaces else cells)
    return rows


def _cell(value: Any) -> str:
    """Return a cell as kubectl prints it; a column of a custom resource may hold an object."""
    if isinstance(value, dict | list):
        return msgspec.json.encode(value).decode()
    return "<none>" if value is None else str(value)


def _shown_columns(table: Json, args: argparse.Namespace) -> list[tuple[int, Json]]:
    definitions = enumerate(table.get("columnDefinitions") or [])
    return [each for each in definitions if args.output == "wide" or not each[1].get("priority")]


class TablePrinter:
    """Prints rows below one header; columns keep their width from one ``print`` to the next."""

    def __init__(self, header: Sequence[str]) -> None:
        self._header = header
        self._widths: list[int] = []
        self._console = terminal.console()

    def print(self, rows: Sequence[Sequence[str]]) -> None:
        """Print rows, before the first ones also the header."""
        cells = [[Text(cell, _STYLES.get(cell, "")) for cell in row] for row in rows]
        if not self._widths:
            cells.insert(0, [Text(cell, HEADING) for cell in self._header])
            self._widths = terminal.widths_of(cells)
        widths = [max(pair) for pair in zip(self._widths, terminal.widths_of(cells), strict=True)]
        for line in terminal.aligned(cells, gap=_GAP, widths=widths):
            self._console.print(line)
        self._console.file.flush()  # a watch may be piped


def _watch(
    api: Session, kinds: Sequence[Resource], names: Sequence[str], args: argparse.Namespace
) -> None:
    """Show objects as they are, then each one that changes, until Ctrl-C."""
    if len(kinds) > 1 or len(names) > 1:
        raise PodiumError("--watch needs one kind, and at most one name")
    kind, accept = kinds[0], TABLE if _is_table(args) else "application/json"
    fields = [args.field_selector] if args.field_selector else []
    query = {
        "labelSelector": args.selector,
        "fieldSelector": ",".join([*fields, *(f"metadata.name={name}" for name in names)]),
    }
    namespace = None if args.all_namespaces else args.namespace
    for name in names:
        api.get(kind.path(namespace, name))  # raises NotFound, where a watch would wait
    path = kind.path(namespace)
    listed = api.get(path, accept, **query)
    version = listed["metadata"]["resourceVersion"]
    changes = api.watch(path, accept, resourceVersion=version, **query)
    if _is_table(args):
        printer = TablePrinter(table_header(listed, args))
        for table in chain([listed], changes):
            if rows := table_rows(table, listed, args):
                printer.print(rows)
        return
    for obj in chain(_unpacked(listed, kind), changes):
        if args.output == "name":
            print(f"{kind.title}/{obj['metadata']['name']}", flush=True)
        else:
            if args.output == "yaml":
                print("---")
            _dump(obj, args.output)


def show_clusters(names: Sequence[str], args: argparse.Namespace) -> None:
    """Show the clusters of `podium up`, or those with the given names."""
    if args.watch:
        raise PodiumError("clusters cannot be watched")
    found = {running.name: running for running in state_file.running_clusters()}
    if unknown := [name for name in names if name not in found]:
        there = f"there are: {', '.join(found)}" if found else "none is running"
        raise PodiumError(f'no cluster "{unknown[0]}" is running; {there}')
    chosen = [found[name] for name in names or found]
    if args.output in ("json", "yaml"):
        _dump([_without_key(running) for running in chosen], args.output)
    elif args.output == "name":
        print("".join(f"{running.name}\n" for running in chosen), end="")
    elif chosen:
        wide = args.output == "wide"
        header = ["NAME", "NODES", "SERVER", "METRICS", "CONTEXT"]
        rows = [_cluster_row(running, wide) for running in chosen]
        TablePrinter([*header, "KUBECONFIG", "PID"] if wide else header).print(rows)
    else:
        print("No clusters found; start one with: podium up --detach", file=sys.stderr)


def _without_key(running: RunningCluster) -> Json:
    """Return what may be shown: whoever has the key can make links to the dashboard."""
    shown: Json = msgspec.to_builtins(running)
    del shown["key"]
    return shown


def _cluster_row(running: RunningCluster, wide: bool) -> list[str]:
    metrics = f"{running.scheduler}/metrics" if running.scheduler else "<none>"
    context = kubeconfig.context_of(running.name)
    row = [running.name, str(running.nodes), running.url, metrics, context]
    return [*row, running.kubeconfig, str(running.pid)] if wide else row

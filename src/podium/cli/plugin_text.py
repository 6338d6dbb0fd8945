"""Plugins, and what they cost, as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from podium.app.plugin_listing import Listed
from podium.cli.terminal import Cell, Rows, aligned, folded
from podium.framework.signature import PAGE

Json = Mapping[str, Any]
_MILLISECONDS = 1e3
_LISTED = ("PLUGIN", "FROM", "PROFILE", "WEIGHT", "POINTS")
_TEXTS = ("PLUGIN", "POINT")
_FIGURES = ("CALLS", "EVALUATIONS", "TOTAL MS", "MEAN MS", "MAX MS", "REJECTIONS", "ERRORS")


def print_listing(rows: Sequence[Listed], console: Console) -> None:
    """Where each runs; below that the arguments, which are as long as their authors like."""
    _print(folded([_header(*_LISTED), *map(_listed, rows)], console.width), console)
    arguments = [cells for row in rows for cells in _arguments(row)]
    if arguments:
        header = _header("PLUGIN", "PROFILE", "ARGUMENTS")
        console.print()
        _print(folded([header, *arguments], console.width), console)


def _listed(row: Listed) -> list[Cell]:
    weight = "-" if row.weight is None else str(row.weight)
    points = ", ".join(row.points) or Text(row.trouble, "bad")
    return [row.name, row.origin, row.profile or "-", weight, points]


def _arguments(row: Listed) -> Iterator[list[Cell]]:
    """A row for each; the first one names the plugin."""
    names = [row.name, row.profile]
    for name, value in (row.args or {}).items():
        yield [*names, f"{name}: {json.dumps(value, ensure_ascii=False)}"]
        names = ["", ""]


def print_stats(found: Json, console: Console) -> None:
    for profile in found["profiles"]:
        console.print(f"[heading]{escape(profile['name'])}[/heading]")
        _print_calls(profile["calls"], console)
        _print_unsigned(profile["withoutSignature"], profile["calls"], console)


def _print_calls(calls: list[Json], console: Console) -> None:
    if not calls:
        console.print("no plugin was asked yet")
        return
    dearest = sorted(calls, key=lambda each: -each["seconds"])
    rows = [_header(*_TEXTS, *_FIGURES), *map(_call, dearest)]
    _print(rows, console, right=range(len(_TEXTS), len(rows[0])))


def _call(call: Json) -> list[Cell]:
    seconds, count = call["seconds"], call["calls"]
    milliseconds = (seconds, seconds / count, call["longest"])
    return [
        call["plugin"],
        call["point"],
        f"{count:,}",
        f"{call['evaluations']:,}",
        *(f"{each * _MILLISECONDS:,.3f}" for each in milliseconds),
        f"{call['rejections']:,}",
        Text(str(call["errors"]), "bad" if call["errors"] else ""),
    ]


def _print_unsigned(names: list[str], calls: list[Json], console: Console) -> None:
    """Say which plugins have no signature, and their share of the time spent in plugins."""
    if not names:
        console.print("Every plugin has a signature: the results of equal pods are reused.")
        return
    total = sum(call["seconds"] for call in calls)
    for name in names:
        seconds = sum(call["seconds"] for call in calls if call["plugin"] == name)
        share = f" ({seconds / total:.0%} of the time spent in plugins)" if total else ""
        console.print(
            f"[warning]{escape(name)} has no signature[/warning]: it is asked again for every pod"
            f"{share}. {PAGE} shows how to add one.",
            highlight=False,
            soft_wrap=True,
        )


def _header(*names: str) -> list[Cell]:
    return [Text(name, "heading") for name in names]


def _print(rows: Rows, console: Console, right: range = range(0)) -> None:
    for line in aligned(rows, right=right):
        console.print(line, soft_wrap=True)

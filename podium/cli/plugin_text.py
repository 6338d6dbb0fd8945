"""Plugins, and what they cost, as tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from podium.app.plugin_listing import Listed

Json = Mapping[str, Any]
_MILLISECONDS = 1e3


def print_listing(rows: Sequence[Listed], console: Console) -> None:
    """Where each runs; below that the arguments, which are as long as their authors like."""
    table = _table("PLUGIN", "FROM", "PROFILE", "WEIGHT", "POINTS")
    for row in rows:
        table.add_row(
            escape(row.name),
            escape(row.origin),
            escape(row.profile) or "-",
            "-" if row.weight is None else str(row.weight),
            ", ".join(row.points) or f"[red]{escape(row.trouble)}[/red]",
        )
    console.print(table)
    _print_args([row for row in rows if row.args], console)


def _print_args(rows: Sequence[Listed], console: Console) -> None:
    if not rows:
        return
    table = _table("PLUGIN", "PROFILE", "ARGUMENTS")
    for row in rows:
        told = [f"{name}: {json.dumps(value)}" for name, value in (row.args or {}).items()]
        table.add_row(escape(row.name), escape(row.profile), escape("\n".join(told)))
    console.print()
    console.print(table)


def print_stats(found: Json, console: Console) -> None:
    for profile in found["profiles"]:
        console.print(f"[bold]{escape(profile['name'])}[/bold]")
        _print_calls(profile["calls"], console)
        _print_unsigned(profile["withoutSignature"], console)


def _print_calls(calls: list[Json], console: Console) -> None:
    if not calls:
        console.print("no plugin was asked yet")
        return
    table = _table("PLUGIN", "POINT")
    for name in ("CALLS", "EVALUATIONS", "TOTAL MS", "MEAN MS", "MAX MS", "REJECTIONS", "ERRORS"):
        table.add_column(name, justify="right")
    for call in sorted(calls, key=lambda each: -each["seconds"]):
        seconds, count = call["seconds"], call["calls"]
        milliseconds = (seconds, seconds / count, call["longest"])
        errors = f"[red]{call['errors']}[/red]" if call["errors"] else "0"
        table.add_row(
            escape(call["plugin"]),
            call["point"],
            f"{count:,}",
            f"{call['evaluations']:,}",
            *(f"{each * _MILLISECONDS:,.3f}" for each in milliseconds),
            f"{call['rejections']:,}",
            errors,
        )
    console.print(table)


def _print_unsigned(names: list[str], console: Console) -> None:
    if not names:
        console.print("Equal pods are judged once: every plugin tells what it looks at.")
        return
    verb = "does" if len(names) == 1 else "do"
    who = escape(", ".join(names))
    console.print(
        f"[yellow]Every pod is judged from scratch[/yellow]: {who} {verb} not tell what it looks "
        'at in a pod. Write for example: sign = fwk.pod_fields("spec.tolerations")'
    )


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold")
    return table

"""How `podium snapshot` prints: progress, what was saved, and what is in a snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, TextIO

from rich.console import Console
from rich.text import Text

from podium.cli import terminal
from podium.cli.numbers import counted
from podium.cli.terminal import GOOD, HEADING, WARNING
from podium.snapshot import Snapshot
from podium.snapshot.summary import PODS, Summary

_RESOURCES: Final = ("cpu", "memory", PODS)


class ProgressLine:
    """``with ProgressLine(sys.stderr) as line:`` shows what is being read, on terminals only."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._is_shown = file.isatty()
        self._done: dict[str, int] = {}

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        self._write("")

    def show(self, kind: str, done: int, total: int) -> None:
        self._done[kind] = done
        read = sum(self._done.values())
        self._write(f"read {read:,} objects; {kind}: {done:,} of {total:,}")

    def _write(self, text: str) -> None:
        if self._is_shown:
            self._file.write(f"\r\x1b[K{text}")
            self._file.flush()


def print_saved(taken: Snapshot, path: Path, size: int) -> None:
    """Say what was saved, and on standard error what is missing."""
    out = terminal.console()
    nodes = counted(len(taken.of_kind("Node")), "node")
    pods = counted(len(taken.of_kind("Pod")), "pod")
    what = f"{counted(len(taken), 'object')}, among them {nodes} and {pods}"
    out.print(Text.assemble(("saved", GOOD), f" {path}: {what}, {_size(size)}"))
    if taken.resource_version:
        out.print(f"all were read at resource version {taken.resource_version}", style="note")
    warn(taken)


def warn(taken: Snapshot) -> None:
    """Say on standard error what is missing, and what else a reader should know."""
    errors = terminal.console(stderr=True)
    for missing in taken.missing:
        errors.print(Text.assemble(("partial", WARNING), f": {missing}"))
    for note in taken.notes:
        errors.print(Text(f"note: {note}", "note"))


def print_summary(summary: Summary, path: Path) -> None:
    out = terminal.console()
    out.print(Text(_origin(summary, path)))
    _print_table(out, "objects", _object_rows(summary))
    _print_table(out, "resources", _resource_rows(summary))
    _print_list(out, "missing", map(str, summary.missing), WARNING)
    _print_list(out, "references to nothing", summary.dangling, WARNING)
    _print_list(out, "notes", summary.notes)


def _origin(summary: Summary, path: Path) -> str:
    parts = [f"{path}: "]
    if summary.source == str(path):
        parts.append("a dump of Kubernetes objects")
    else:
        parts.append("an anonymized snapshot" if summary.is_anonymized else "a snapshot")
    if summary.source and summary.source != str(path):
        parts.append(f" of {summary.source}")
    if summary.server_version:
        parts.append(f", Kubernetes {summary.server_version}")
    if summary.taken_at:
        parts.append(f", taken at {summary.taken_at}")
    has = "with" if summary.has_configuration else "without"
    parts.append(f"; {has} a configuration of the scheduler")
    return "".join(parts)


def _object_rows(summary: Summary) -> list[list[str]]:
    details = {"Node": summary.nodes, "Pod": summary.pods}
    return [
        [kind, f"{count:,}", _counts(details.get(kind, {}))]
        for kind, count in summary.objects.items()
    ]


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counts.items())


def _resource_rows(summary: Summary) -> list[list[str]]:
    extended = sorted(
        name for name, amount in summary.allocatable.items() if amount and "/" in name
    )
    rows = []
    for name in (*_RESOURCES, *extended):
        there, taken = summary.allocatable.get(name, 0), summary.requested.get(name, 0)
        share = f"{100 * taken / there:.0f} %" if there else ""
        rows.append([name, f"{_amount(name, taken)} of {_amount(name, there)}", share])
    return rows


def _amount(name: str, amount: int) -> str:
    if name == "cpu":
        return f"{amount / 1000:,.1f}"
    if name == "memory":
        return _size(amount)
    return f"{amount:,}"


def _size(count: int) -> str:
    amount = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if amount < 1024 or unit == "TiB":
            break
        amount /= 1024
    return f"{amount:,.0f} {unit}" if unit == "bytes" else f"{amount:,.1f} {unit}"


def _print_table(out: Console, heading: str, rows: list[list[str]]) -> None:
    out.print(f"\n{heading}", style=HEADING)
    for line in terminal.aligned([["", *row] for row in rows], right={2}):
        out.print(line)


def _print_list(out: Console, heading: str, lines: Iterable[str], style: str = "") -> None:
    found = list(lines)
    if found:
        out.print(f"\n{heading}", style=HEADING)
    for line in found:
        out.print(Text(f"  {line}", style))

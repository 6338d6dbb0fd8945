"""How `podium explain` prints: sections of lines, wrapped on terminals and whole in pipes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Final

from rich.console import Console
from rich.text import Text

from podium.cli.terminal import HEADING, WARNING
from podium.serve.sources import Source

_INDENT: Final = "  "


def print_lines(lines: Iterable[str], console: Console) -> None:
    """Print lines of which the first says what matters most, and titles end with a colon."""
    for number, line in enumerate(lines):
        is_title = line.endswith(":") and not line.startswith(" ")
        style = HEADING if number == 0 or is_title else ""
        for part in _wrapped(line, console):
            console.print(Text(part, style))


def _wrapped(line: str, console: Console) -> list[str]:
    if not console.is_terminal or len(line) <= console.width:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + len(_INDENT))
    return textwrap.wrap(
        line, console.width, subsequent_indent=indent, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def print_source(source: Source, console: Console) -> None:
    """Say where the answer comes from and what it lacks; below it, in a quiet colour."""
    console.print()
    console.print(Text(f"source: {_origin(source)}", "note"))
    for missing in source.missing:
        console.print(Text.assemble(("partial", WARNING), f": {missing}"))
    for note in source.notes:
        console.print(Text(f"note: {note}", "note"))


def _origin(source: Source) -> str:
    match source.kind:
        case "scheduler" if source.recomputed:
            return f"records of the scheduler at {source.name}; the rest is recomputed, read-only"
        case "scheduler":
            return f"records of the scheduler at {source.name}"
        case "cluster":
            return f"recomputed from the cluster at {source.name}, read-only"
    taken = f", taken at {source.taken_at}" if source.taken_at else ""
    return f"recomputed from {source.name}{taken}"

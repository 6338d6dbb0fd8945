"""How commands print: one set of colours, and tables of aligned columns.

Colours appear on terminals only. ``NO_COLOR`` turns them off and ``FORCE_COLOR`` turns them on
elsewhere; rich reads both variables.
"""

from __future__ import annotations

import textwrap
from collections.abc import Container, Iterator, Sequence
from typing import Final, TypeAlias

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text
from rich.theme import Theme

from podium.cli.messages import visible

Cell: TypeAlias = str | Text
Rows: TypeAlias = Sequence[Sequence[Cell]]  # all of one length

# The only styles that commands use, by what they mean.
HEADING: Final = "heading"
GOOD: Final = "good"
BAD: Final = "bad"
WARNING: Final = "warning"
LEVEL: Final = "level"  # a bar that fills; a full one has the style WARNING
_STYLES = {HEADING: "bold", GOOD: "green", BAD: "red", WARNING: "yellow", LEVEL: "blue",
           "note": "dim"}  # fmt: skip

_GAP = 2
_LEAST_ROOM = 20  # characters, for the last cell however narrow the terminal


class _Console(Console):
    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)


def console(*, stderr: bool = False, soft_wrap: bool = True) -> Console:
    """Return where a command prints; with ``soft_wrap`` no line is broken."""
    return _Console(highlight=False, soft_wrap=soft_wrap, stderr=stderr, theme=Theme(_STYLES))


def widths_of(rows: Rows) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def aligned(
    rows: Rows,
    *,
    right: Container[int] = (),
    gap: int = _GAP,
    widths: Sequence[int] = (),
) -> Iterator[Text]:
    """Return a line for each row, without trailing blanks and without breaking cells.

    The columns in ``right`` are set flush right; ``widths`` are those of the rows unless given.
    """
    for row in rows:
        line = Text()
        for column, (cell, width) in enumerate(zip(row, widths or widths_of(rows), strict=True)):
            blanks = " " * (width - len(cell))
            pieces = (blanks, cell) if column in right else (cell, blanks)
            line.append_text(Text.assemble(*pieces, " " * gap))
        line.rstrip()
        yield line


def folded(rows: Rows, width: int) -> list[Sequence[Cell]]:
    """Wrap the last cell so that each line fits into ``width``."""
    room = max(width - sum(each + _GAP for each in widths_of(rows)[:-1]), _LEAST_ROOM)
    return [part for row in rows for part in _parts(row, room)]


def _parts(row: Sequence[Cell], room: int) -> Iterator[Sequence[Cell]]:
    *first, last = row
    style = last.style if isinstance(last, Text) else ""
    pieces = textwrap.wrap(str(last), room, break_long_words=False, break_on_hyphens=False)
    for piece in pieces or [""]:
        yield [*first, Text(piece, style)]
        first = [""] * len(first)

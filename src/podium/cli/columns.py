"""Rows of cells as aligned lines, for the tables of commands.

Lines end with their last character and cells are never broken, so that a name can be searched for;
only where ``folded`` is asked does a long last cell go on below.
"""

from __future__ import annotations

import textwrap
from collections.abc import Container, Iterator, Sequence
from typing import TypeAlias

from rich.text import Text

Cell: TypeAlias = str | Text
Rows: TypeAlias = Sequence[Sequence[Cell]]  # all of one length

_GAP = 2
_LEAST_ROOM = 20  # characters, for the last cell however narrow the terminal


def aligned(rows: Rows, *, right: Container[int] = (), gap: int = _GAP) -> Iterator[Text]:
    """A line for each row; the columns in ``right`` are set flush right."""
    widths = _widths(rows)
    for row in rows:
        line = Text()
        for column, cell in enumerate(row):
            blanks = " " * (widths[column] - len(cell))
            pieces = (blanks, cell) if column in right else (cell, blanks)
            line.append_text(Text.assemble(*pieces, " " * gap))
        line.rstrip()
        yield line


def folded(rows: Rows, width: int) -> list[Sequence[Cell]]:
    """Rows whose lines fit into ``width``: what is too long of a last cell stands in rows below."""
    room = max(width - sum(each + _GAP for each in _widths(rows)[:-1]), _LEAST_ROOM)
    return [part for row in rows for part in _parts(row, room)]


def _parts(row: Sequence[Cell], room: int) -> Iterator[Sequence[Cell]]:
    *first, last = row
    style = last.style if isinstance(last, Text) else ""
    pieces = textwrap.wrap(str(last), room, break_long_words=False, break_on_hyphens=False)
    for piece in pieces or [""]:
        yield [*first, Text(piece, style)]
        first = [""] * len(first)


def _widths(rows: Rows) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]

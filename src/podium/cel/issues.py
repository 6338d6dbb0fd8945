"""What is wrong with an expression, and the report that the API server makes of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

_MOST_SHOWN: Final = 100
_LONGEST_LINE: Final = 16384


class Issue(NamedTuple):
    """A problem at a position; -1 stands for the expression as a whole."""

    position: int
    message: str


@dataclass(frozen=True, slots=True)
class Issues(Exception):
    """An expression that does not parse or check; raised inside this package only."""

    found: tuple[Issue, ...]


def report(source: str, found: Iterable[Issue]) -> str:
    """Write all issues by place, each with the line that it is about and a mark below."""
    located = [(*_line_and_column(source, issue.position), issue.message) for issue in found]
    located.sort(key=lambda issue: issue[:2])
    lines = [_shown(source, *issue) for issue in located[:_MOST_SHOWN]]
    if len(located) > _MOST_SHOWN:
        lines.append(f"{len(located) - _MOST_SHOWN} more errors were truncated")
    return "\n".join(lines)


def _line_and_column(source: str, position: int) -> tuple[int, int]:
    if position < 0:
        return -1, -1
    if not source:
        return 1, -1
    start = source.rfind("\n", 0, position) + 1
    return source.count("\n", 0, position) + 1, position - start


def _shown(source: str, line: int, column: int, message: str) -> str:
    head = f"ERROR: <input>:{line}:{column + 1}: {message}"
    if line < 0 or not source:
        return head
    snippet = source.split("\n")[line - 1]
    if len(snippet.encode()) > _LONGEST_LINE:
        return head
    snippet = snippet.replace("\t", " ")
    # Wide marks below characters of several bytes, as cel-go chooses them.
    mark = "".join("." if char.isascii() else "\uff0e" for char in snippet[:column])
    mark += "\uff3e" if snippet[column : column + 1] and not snippet[column].isascii() else "^"
    return f"{head}\n | {snippet}\n | {mark}"

"""Results as tables: plain rows, frames of pandas or polars, and HTML in notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Any, Final

from podium.errors import PodiumError

Row = Mapping[str, Any]
_SHOWN: Final = 10


class Table(ABC):
    """A result with rows; each row has the same columns."""

    __slots__ = ()

    @abstractmethod
    def rows(self) -> list[dict[str, Any]]:
        """Return the result as plain dicts, one for each line of the table."""

    def to_pandas(self) -> Any:
        """Return the rows as a DataFrame of pandas, which must be installed."""
        return _library("pandas").DataFrame(self.rows())

    def to_polars(self) -> Any:
        """Return the rows as a DataFrame of polars, which must be installed."""
        return _library("polars").DataFrame(self.rows())

    def _repr_html_(self) -> str:
        """Return what notebooks show: the summary, and the first rows."""
        return f"<p>{escape(repr(self).strip('<>'))}</p>{html_table(self.rows())}"


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        hint = f"install it with: pip install {name}; rows() has the same as plain dicts"
        raise PodiumError(f"to_{name}() needs {name}, which is not installed; {hint}") from error


def html_table(rows: Sequence[Row]) -> str:
    """Return the first rows as an HTML table."""
    if not rows:
        return ""
    head = _line("th", rows[0])
    body = "".join(_line("td", row.values()) for row in rows[:_SHOWN])
    left = len(rows) - _SHOWN
    more = f"<p>and {left:,} more</p>" if left > 0 else ""
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{more}"


def _line(tag: str, cells: Iterable[object]) -> str:
    shown = "".join(f"<{tag}>{escape(_text(cell))}</{tag}>" for cell in cells)
    return f"<tr>{shown}</tr>"


def _text(cell: object) -> str:
    return f"{cell:.3f}" if isinstance(cell, float) else str(cell)


def counts(*named: tuple[int, str]) -> str:
    """Return what there is of several things, such as ``3 placed, 1 without a node``."""
    return ", ".join(f"{count:,} {name}" for count, name in named if count) or "nothing"

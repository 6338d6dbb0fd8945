"""Reads tables: CSV with a header, or JSON lines; plain or compressed with gzip."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from podium import files
from podium.errors import InvalidTrace, PodiumError, Problem

_MOST_PROBLEMS: Final = 20
_NOTHING: Final = ("", "nan", "NaN", "null", "NULL", None)


@dataclass(frozen=True, slots=True)
class Row:
    """One row; a cell is read by its column, and reported with its line if it is wrong."""

    file: str
    line: int
    cells: Mapping[str, Any]

    def text(self, column: str, default: str = "") -> str:
        cell = self.cells.get(column)
        return default if cell in _NOTHING else str(cell)

    def number(self, column: str, default: float | None = None) -> float:
        """Return a number that is not negative; without a default there must be one."""
        cell = self.cells.get(column)
        if cell in _NOTHING and default is not None:
            return default
        try:
            number = float(cell)  # type: ignore[arg-type]  # anything else is reported
        except (TypeError, ValueError):
            raise self.problem(column, f"must be a number, not {cell!r}") from None
        if not math.isfinite(number) or number < 0:
            raise self.problem(column, f"must be 0 or more, not {cell}")
        return number

    def has(self, column: str) -> bool:
        return self.cells.get(column) not in _NOTHING

    def problem(self, column: str, message: str) -> BadRow:
        return BadRow(Problem(column, message, self.line))


class BadRow(Exception):
    """A cell that cannot be used."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))


class Table:
    """A file with rows. Bad rows are collected; ``check`` raises them all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self._text = _text(path)
        self._is_json = self._text.lstrip()[:1] == "{"
        self.columns = self._read_columns()

    def _read_columns(self) -> Sequence[str]:
        if self._is_json:
            return list(_flat(self._decoded(1, self._text.lstrip().split("\n", 1)[0])))
        return next(csv.reader(io.StringIO(self._text)), [])

    def __iter__(self) -> Iterator[Row]:
        rows = self._json_rows() if self._is_json else self._csv_rows()
        return (Row(str(self.path), line, cells) for line, cells in rows)

    def _json_rows(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        for number, line in enumerate(self._text.split("\n"), 1):
            if line.strip():
                yield number, _flat(self._decoded(number, line))

    def _decoded(self, number: int, line: str) -> dict[str, Any]:
        try:
            return msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.MsgspecError as error:
            raise self._failed(Problem("", f"not a JSON object: {error}", number)) from error

    def _csv_rows(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        reader = csv.DictReader(io.StringIO(self._text), restkey="", restval=None)
        try:
            for cells in reader:
                if "" in cells or None in cells.values():
                    text = f"has not as many cells as the header, {len(self.columns)}"
                    raise self._failed(Problem("", text, reader.line_num))
                yield reader.line_num, cells
        except csv.Error as error:
            raise self._failed(Problem("", str(error), reader.line_num)) from error

    def report(self, bad: BadRow) -> None:
        """Keep the problem of a row; raise all of them once they are many."""
        self.problems.append(bad.problem)
        if len(self.problems) >= _MOST_PROBLEMS:
            self.check()

    def check(self) -> None:
        if self.problems:
            raise InvalidTrace(str(self.path), self.problems)

    def _failed(self, problem: Problem) -> InvalidTrace:
        return InvalidTrace(str(self.path), [*self.problems, problem])


def _text(path: Path) -> str:
    try:
        return files.read(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidTrace(str(path), [Problem("", "not a text in UTF-8")]) from error
    except PodiumError as error:
        raise InvalidTrace(str(path), [Problem("", str(error))]) from error


def _flat(cells: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Name the fields of nested records as BigQuery does: ``capacity.cpus``."""
    found: dict[str, Any] = {}
    for name, cell in cells.items():
        if isinstance(cell, dict):
            found |= _flat(cell, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = cell
    return found


def group_by_kind(
    files: Sequence[Path], kinds: Mapping[str, frozenset[str]]
) -> dict[str, list[Table]]:
    """Group the tables by kind, which is recognized by their columns."""
    found: dict[str, list[Table]] = {kind: [] for kind in kinds}
    for path in files:
        table = Table(path)
        fitting = [kind for kind, needed in kinds.items() if needed <= set(table.columns)]
        if not fitting:
            texts = (f"{kind} ({', '.join(sorted(needed))})" for kind, needed in kinds.items())
            text = f"its columns are not those of {' or '.join(texts)}"
            raise InvalidTrace(str(path), [Problem("", text)])
        found[fitting[0]].append(table)
    return found


def require(found: Mapping[str, Sequence[Table]], *kinds: str) -> None:
    """Raise ``InvalidTrace`` if a kind of table is missing."""
    for kind in kinds:
        if not found[kind]:
            raise InvalidTrace("the files", [Problem("", f"there is no table of {kind}")])

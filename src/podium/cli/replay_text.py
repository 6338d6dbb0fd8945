"""Figures of replays as text: a row for each figure, a column for each configuration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rich.text import Text

from podium import durations
from podium.cli import terminal
from podium.cli.numbers import percent
from podium.replay.result import Figures, Result

Value = Callable[[Figures], float]

_COUNTS: Final[Sequence[tuple[str, Value]]] = (
    ("arrivals", lambda found: found.arrivals),
    ("bound", lambda found: found.bound),
    ("pending at the end", lambda found: found.pending),
    ("withdrawn unbound", lambda found: found.withdrawn),
    ("lost", lambda found: found.lost),
    ("evictions", lambda found: found.evictions),
    ("restarts", lambda found: found.restarts),
    ("attempts", lambda found: found.attempts),
    ("attempts with an error", lambda found: found.errors),
)
_WAITS: Final[Sequence[tuple[str, Value]]] = (
    ("wait, mean", lambda found: found.wait.mean),
    ("wait, median", lambda found: found.wait.p50),
    ("wait, 90 %", lambda found: found.wait.p90),
    ("wait, 99 %", lambda found: found.wait.p99),
    ("wait, longest", lambda found: found.wait.max),
    ("still waiting, longest", lambda found: found.pending_wait.max),
)


def print_side_by_side(results: Sequence[Result]) -> None:
    """Print the figures of each configuration; over several seeds, their means."""
    columns: dict[str, list[Figures]] = {}
    for result in results:
        columns.setdefault(result.configuration, []).append(result.figures)
    console = terminal.console()
    for line in terminal.aligned(_rows(columns), right=range(1, len(columns) + 1)):
        console.print(line)
    seeds = max(map(len, columns.values()))
    if seeds > 1:
        console.print(Text(f"means over {seeds} seeds", "note"))


def _rows(columns: dict[str, list[Figures]]) -> list[list[terminal.Cell]]:
    runs = list(columns.values())
    rows: list[list[terminal.Cell]] = [["", *(Text(name, terminal.HEADING) for name in columns)]]
    for title, value in _COUNTS:
        rows.append([title, *(_number(_mean(each, value)) for each in runs)])
    for title, value in _WAITS:
        rows.append([title, *(_seconds(_mean(each, value)) for each in runs)])
    for title, part in (("used", "used"), ("fragmentation", "fragmentation")):
        for name in getattr(runs[0][0], part):
            cells = [percent(_mean(each, _share(part, name))) for each in runs]
            rows.append([f"{name} {title}", *cells])
    return rows


def _share(part: str, name: str) -> Value:
    return lambda found: float(getattr(found, part).get(name, 0.0))


def _mean(runs: Sequence[Figures], value: Value) -> float:
    return sum(map(value, runs)) / len(runs)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def _seconds(value: float) -> str:
    """Format so that three digits matter, as in 4m10s or 812ms."""
    digits = 3 if value < 1 else 1 if value < 100 else 0
    return durations.format(round(value, digits))

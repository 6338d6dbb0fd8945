"""What a benchmark prints: one aligned line per workload, and a progress bar on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Generic, TextIO, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from podium.bench.result import Figures, LiveResult, Result

F = TypeVar("F", bound=Figures)
# A title, a width, and a function that formats the cell of a result.
Column = tuple[str, int, Callable[[F], str]]

IN_PROCESS: Sequence[Column[Result]] = (
    ("pods/s", 9, lambda result: f"{result.pods_per_second:,.0f}"),
    ("p50 µs", 9, lambda result: f"{result.cycle_p50_us:,.0f}"),
    ("p99 µs", 9, lambda result: f"{result.cycle_p99_us:,.0f}"),
    ("mean µs", 9, lambda result: f"{result.cycle_mean_us:,.0f}"),
    ("mean/ref", 9, lambda result: f"{result.ratio:,.2f}"),
    ("gc max µs", 10, lambda result: f"{result.gc_pause_max_us:,.0f}"),
    ("memory MB", 10, lambda result: _megabytes(result.peak_memory_bytes)),
)
LIVE: Sequence[Column[LiveResult]] = (
    ("pods/s", 9, lambda result: f"{result.pods_per_second:,.0f}"),
    ("steady/s", 9, lambda result: f"{result.steady_pods_per_second:,.0f}"),
    ("p50 ms", 9, lambda result: f"{result.bind_p50_ms:,.0f}"),
    ("p99 ms", 9, lambda result: f"{result.bind_p99_ms:,.0f}"),
    ("breaks", 8, lambda result: f"{result.watch_breaks}"),
    ("CPU s", 8, lambda result: _seconds(result.scheduler_cpu_seconds)),
    ("memory MB", 10, lambda result: _megabytes(result.peak_memory_bytes)),
)


class Table(Generic[F]):
    """Formats aligned lines; the names of all workloads are known in advance."""

    def __init__(self, names: Sequence[str], columns: Sequence[Column[F]]) -> None:
        self._width = max(map(len, names), default=0)
        self._columns = columns

    def header(self) -> str:
        return self._line("workload", [title for title, _, _ in self._columns])

    def row(self, result: F) -> str:
        return self._line(result.name, [cell(result) for _, _, cell in self._columns])

    def _line(self, name: str, cells: Sequence[str]) -> str:
        widths = [width for _, width, _ in self._columns]
        padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        return f"{name:<{self._width}}{''.join(padded)}"


def _megabytes(amount: int | None) -> str:
    return "-" if amount is None else f"{amount / 1e6:,.0f}"


def _seconds(amount: float | None) -> str:
    return "-" if amount is None else f"{amount:,.2f}"


class ProgressBar:
    """Counts runs on stderr. Print other output with ``print``, which hides the bar meanwhile."""

    def __init__(self, total: int) -> None:
        console = Console(stderr=True)
        self._begun = 0
        # If redirected, stdout would go to this console, that is, to stderr.
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=total)

    def __enter__(self) -> ProgressBar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def step(self, what: str) -> None:
        """Show that the next run begins."""
        self._progress.update(self._task, description=what, completed=self._begun)
        self._begun += 1

    def show(self, what: str) -> None:
        """Show what the run is doing."""
        self._progress.update(self._task, description=what)

    def print(self, line: str, file: TextIO | None = None) -> None:
        self._progress.stop()
        print(line, file=file or sys.stdout, flush=True)
        self._progress.start()

"""Results for people: one aligned line per workload, printed as it comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from podium.bench.result import Figures, LiveResult, Result

F = TypeVar("F", bound=Figures)
# A title, a width, and what a result has to say there.
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
    """Lines for workloads whose names are known beforehand."""

    def __init__(self, names: Sequence[str], columns: Sequence[Column[F]]) -> None:
        self._width = max(map(len, names), default=0)
        self._columns = columns

    def header(self) -> str:
        return self._line("workload", [title for title, _, _ in self._columns])

    def row(self, result: F) -> str:
        return self._line(result.name, [show(result) for _, _, show in self._columns])

    def _line(self, name: str, cells: Sequence[str]) -> str:
        widths = [width for _, width, _ in self._columns]
        padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        return f"{name:<{self._width}}{''.join(padded)}"


def _megabytes(amount: int | None) -> str:
    return "-" if amount is None else f"{amount / 1e6:,.0f}"


def _seconds(amount: float | None) -> str:
    return "-" if amount is None else f"{amount:,.2f}"

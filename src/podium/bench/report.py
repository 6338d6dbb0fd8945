"""What a benchmark prints: one aligned line per workload."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from podium.bench.compare import Comparison, Contestant
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
    ("created/s", 10, lambda result: f"{result.created_pods_per_second:,.0f}"),
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
        line = self._line(result.name, [cell(result) for _, _, cell in self._columns])
        if result.threshold is None:
            return line
        outcome = "reached" if result.threshold_reached else "missed"
        return f"{line}  threshold {result.threshold:g} {outcome}"

    def _line(self, name: str, cells: Sequence[str]) -> str:
        widths = [width for _, width, _ in self._columns]
        padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        return f"{name:<{self._width}}{''.join(padded)}"


# A title, a width, and a function that formats the cell of a scheduler and its median.
_OF_EACH: Sequence[tuple[str, int, Callable[[LiveResult, Contestant], str]]] = (
    ("pods/s", 9, lambda result, one: f"{result.pods_per_second:,.0f}"),
    ("ratio", 8, lambda result, one: _ratio(one.pods_per_second_ratio)),
    ("steady/s", 10, lambda result, one: f"{result.steady_pods_per_second:,.0f}"),
    ("created/s", 11, lambda result, one: f"{result.created_pods_per_second:,.0f}"),
    ("p99 ms", 9, lambda result, one: f"{result.bind_p99_ms:,.0f}"),
    ("CPU s", 9, lambda result, one: _seconds(result.scheduler_cpu_seconds)),
    ("ratio", 8, lambda result, one: _ratio(one.cpu_seconds_ratio)),
    ("memory MB", 11, lambda result, one: _megabytes(result.peak_memory_bytes)),
)


class ComparisonTable:
    """Formats one aligned line for each scheduler and workload."""

    def __init__(self, names: Sequence[str], schedulers: Sequence[str]) -> None:
        columns = (["workload", *names], ["scheduler", *schedulers])
        self._widths = [max(map(len, column)) for column in columns]

    def header(self) -> str:
        return self._line(["workload", "scheduler"], [title for title, _, _ in _OF_EACH])

    def row(self, comparison: Comparison) -> str:
        return "\n".join(self._of_one(comparison.name, one) for one in comparison.schedulers)

    def _of_one(self, name: str, one: Contestant) -> str:
        median = one.median
        cells = [cell(median, one) if median else "-" for _, _, cell in _OF_EACH]
        return self._line([name, one.scheduler], cells)

    def _line(self, names: Sequence[str], cells: Sequence[str]) -> str:
        left = [name.ljust(width) for name, width in zip(names, self._widths, strict=True)]
        right = [cell.rjust(width) for cell, (_, width, _) in zip(cells, _OF_EACH, strict=True)]
        return f"{'  '.join(left)}{''.join(right)}"


def _ratio(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}"


def _megabytes(amount: int | None) -> str:
    return "-" if amount is None else f"{amount / 1e6:,.0f}"


def _seconds(amount: float | None) -> str:
    return "-" if amount is None else f"{amount:,.2f}"

"""Results for people: one aligned line per workload, printed as it comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from podium.bench.result import Result

_COLUMNS: Sequence[tuple[str, int, Callable[[Result], str]]] = (
    ("pods/s", 9, lambda result: f"{result.pods_per_second:,.0f}"),
    ("p50 µs", 9, lambda result: f"{result.cycle_p50_us:,.0f}"),
    ("p99 µs", 9, lambda result: f"{result.cycle_p99_us:,.0f}"),
    ("mean µs", 9, lambda result: f"{result.cycle_mean_us:,.0f}"),
    ("mean/ref", 9, lambda result: f"{result.ratio:,.2f}"),
    ("gc max µs", 10, lambda result: f"{result.gc_pause_max_us:,.0f}"),
    ("memory MB", 10, lambda result: f"{result.peak_memory_bytes / 1e6:,.0f}"),
)


class Table:
    """Lines for workloads whose names are known beforehand."""

    def __init__(self, names: Sequence[str]) -> None:
        self._width = max(map(len, names), default=0)

    def header(self) -> str:
        return self._line("workload", [title for title, _, _ in _COLUMNS])

    def row(self, result: Result) -> str:
        return self._line(result.name, [show(result) for _, _, show in _COLUMNS])

    def _line(self, name: str, cells: Sequence[str]) -> str:
        padded = (cell.rjust(width) for cell, (_, width, _) in zip(cells, _COLUMNS, strict=True))
        return f"{name:<{self._width}}{''.join(padded)}"

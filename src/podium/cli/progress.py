"""Progress bars on standard error, for `podium bench` and `podium replay`."""

from __future__ import annotations

import sys
import time
from typing import Final, Self, TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

_REFRESH_SECONDS: Final = 0.1


class _Bar:
    """A bar that is shown on a terminal only. ``print`` hides it while it writes a line."""

    def __init__(self, description: str, total: int, *columns: ProgressColumn) -> None:
        console = Console(stderr=True)
        # If redirected, stdout would go to this console, that is, to stderr.
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            *columns,
            console=console,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task(description, total=total)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def print(self, line: str, file: TextIO | None = None) -> None:
        self._progress.stop()
        print(line, file=file or sys.stdout, flush=True)
        self._progress.start()


class RunsBar(_Bar):
    """Counts the runs of benchmarks."""

    def __init__(self, runs: int) -> None:
        super().__init__("", runs, MofNCompleteColumn(), TimeElapsedColumn())
        self._begun = 0

    def step(self, what: str) -> None:
        """Show that the next run begins."""
        self._progress.update(self._task, description=what, completed=self._begun)
        self._begun += 1

    def show(self, what: str) -> None:
        """Show what the run is doing."""
        self._progress.update(self._task, description=what)


class LinesBar(_Bar):
    """Counts the lines of a trace that were replayed, over all variants."""

    def __init__(self, lines: int, variants: int) -> None:
        self._variants = variants
        self._finished = 0
        self._shown_at = 0.0
        columns = (TaskProgressColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        super().__init__(self._description(), lines, *columns)

    def _description(self) -> str:
        if self._variants == 1:
            return "replaying"
        return f"replaying {self._finished} of {self._variants} variants"

    def show_lines(self, lines: int) -> None:
        """Show how many lines were replayed. Most calls do nothing, because there are many."""
        now = time.monotonic()
        if now - self._shown_at >= _REFRESH_SECONDS:
            self._shown_at = now
            self._progress.update(self._task, completed=lines)

    def count_variant(self) -> None:
        self._finished += 1
        self._progress.update(self._task, description=self._description())

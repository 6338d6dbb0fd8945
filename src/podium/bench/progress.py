"""How far a benchmark is: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


class Bar:
    """Counts runs, on stderr. Output beside it goes through ``print``, which takes the bar away."""

    def __init__(self, total: int) -> None:
        console = Console(stderr=True)
        self._begun = 0
        # Redirected, stdout would end up in this console and thus in stderr.
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

    def __enter__(self) -> Bar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def step(self, what: str) -> None:
        """The next run begins."""
        self._progress.update(self._task, description=what, completed=self._begun)
        self._begun += 1

    def tell(self, what: str) -> None:
        """What the run is doing."""
        self._progress.update(self._task, description=what)

    def print(self, line: str, file: TextIO | None = None) -> None:
        self._progress.stop()
        print(line, file=file or sys.stdout, flush=True)
        self._progress.start()

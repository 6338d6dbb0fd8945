"""Writes the log lines of commands to standard error."""

from __future__ import annotations

import logging

from podium.logs import TextFormatter


def write_warnings(level: int = logging.WARNING, *, repeats: bool = True) -> None:
    """Write log lines of this level and above to standard error.

    Commands that try many decisions leave out ``repeats``: in every trial a broken plugin logs the
    same line.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(TextFormatter())
    if not repeats:
        handler.addFilter(_DropRepeats())
    logging.basicConfig(level=level, handlers=[handler])


class _DropRepeats(logging.Filter):
    """Drops log lines that were written before."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        is_new = text not in self._seen
        self._seen.add(text)
        return is_new

"""Where log lines go: all to stderr, or informational lines to stdout, which may be buffered."""

from __future__ import annotations

import atexit
import logging
import sys
import threading
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True, slots=True)
class Streams:
    """How lines are divided between stderr and stdout.

    Only a split stream is buffered. Buffered lines are written when the next one no longer fits,
    every ``flush_seconds``, and when the process ends.
    """

    is_split: bool = False
    buffer_bytes: int = 0
    flush_seconds: float = 5.0

    def handlers(self, error_level: int) -> list[logging.Handler]:
        """Return handlers; in a split stream, lines from this level on go to stderr."""
        errors = logging.StreamHandler(sys.stderr)
        if not self.is_split:
            return [errors]
        errors.setLevel(error_level)
        rest = logging.StreamHandler(self._info_stream())
        rest.addFilter(lambda record: record.levelno < error_level)
        return [errors, rest]

    def _info_stream(self) -> TextIO | BufferedLines:
        if self.buffer_bytes <= 0:
            return sys.stdout
        lines = BufferedLines(sys.stdout, self.buffer_bytes)
        atexit.register(lines.close)
        threading.Thread(target=lines.write_every, args=(self.flush_seconds,), daemon=True).start()
        return lines


class BufferedLines:
    """Collects lines up to a size. No line is divided: one that is too long is written at once."""

    def __init__(self, out: TextIO, size: int) -> None:
        self._out = out
        self._size = size
        self._lines: list[str] = []
        self._used = 0
        self._lock = threading.Lock()
        self._is_closed = threading.Event()

    def write(self, text: str) -> None:
        length = len(text.encode())
        with self._lock:
            if self._used + length > self._size:
                self._write_out()
            self._lines.append(text)
            self._used += length
            if length > self._size:
                self._write_out()

    def flush(self) -> None:
        """Do nothing: ``logging`` calls this after every line."""

    def write_every(self, seconds: float) -> None:
        """Write what was collected, again and again until ``close``."""
        while not self._is_closed.wait(seconds):
            with self._lock:
                self._write_out()

    def close(self) -> None:
        self._is_closed.set()
        with self._lock:
            self._write_out()

    def _write_out(self) -> None:
        self._out.write("".join(self._lines))
        self._out.flush()
        self._lines, self._used = [], 0

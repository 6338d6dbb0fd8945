"""The lines of a stream that arrives in chunks, cut anywhere."""

from __future__ import annotations

MOST_BYTES = 16 * 1024 * 1024  # an object is at most 3 MiB when it is written


class LineTooLong(Exception):
    """A line without an end; the stream is not to be trusted."""


class Lines:
    """Whole lines come out of ``feed``; an unfinished one waits for its rest."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        first, *others = chunk.split(b"\n")
        self._pieces.append(first)
        self._size += len(first)
        if self._size > self._most_bytes:
            raise LineTooLong(f"a line is longer than {self._most_bytes} bytes")
        if not others:
            return []
        lines = [b"".join(self._pieces), *others[:-1]]
        self._pieces, self._size = [others[-1]], len(others[-1])
        return [line for line in lines if line]

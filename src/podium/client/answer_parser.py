"""Reads HTTP/1.1 answers from bytes as they arrive; no I/O. `wire.py` feeds it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

MOST_HEAD_BYTES: Final = 64 * 1024
MOST_BODY_BYTES: Final = 4 << 30  # the list of all pods may be large, but memory has an end
_MOST_CHUNK_LINE_BYTES: Final = 1024
_END: Final = b"\r\n\r\n"
_BODILESS: Final = (204, 304)
# Python's own parser of numbers would take signs and underlines as well: a chunk of "-6" bytes
# would be read again and again.
_CHUNK_SIZE: Final = re.compile(rb"[0-9a-fA-F]{1,15}")
_LENGTH: Final = re.compile(rb"[0-9]{1,18}")


class BadAnswer(Exception):
    """The answer is not HTTP/1.1, or broke off."""


class Answer(NamedTuple):
    """A whole answer; headers are in lower case."""

    code: int
    headers: dict[bytes, bytes]
    body: bytes


class AnswerParser:
    """Reads one answer: ``feed`` returns it once it is complete.

    ``end`` is called when the server hangs up: that completes an answer without a length. A body of
    more than ``most_bytes`` is refused while it arrives.
    """

    def __init__(self, most_bytes: int = MOST_BODY_BYTES) -> None:
        self._most_bytes = most_bytes
        self._data = bytearray()
        self._code = 0  # until the head is there
        self._headers: dict[bytes, bytes] = {}
        self._length: int | None = None  # None: in chunks, or up to the end
        self._is_chunked = False
        self._body = bytearray()  # of chunks

    def feed(self, data: bytes) -> Answer | None:
        self._data += data
        while not self._code:
            if not self._read_head():
                return None
        if len(self._data) + len(self._body) > self._most_bytes:
            raise BadAnswer(f"the answer is larger than {self._most_bytes >> 20:,} MiB")
        if self._is_chunked:
            return self._read_chunks()
        if self._length is not None and len(self._data) >= self._length:
            body = bytes(self._data[: self._length])
            del self._data[: self._length]
            return self._answer(body)
        return None

    def end(self) -> Answer:
        """Return the answer that the end of the connection completes, or raise ``BadAnswer``."""
        if not self._code or self._is_chunked or self._length is not None:
            raise BadAnswer("the server hung up in the middle of an answer")
        return self._answer(bytes(self._data))

    @property
    def is_reusable(self) -> bool:
        """Whether the connection can carry another request after this answer."""
        closes = self._headers.get(b"connection", b"").lower() == b"close"
        return not closes and not self._data and (self._is_chunked or self._length is not None)

    def next(self) -> AnswerParser:
        """Return a parser for the answer after this one; ``feed`` it an empty text to begin."""
        following = AnswerParser(self._most_bytes)
        following._data = self._data
        return following

    def _answer(self, body: bytes) -> Answer:
        return Answer(self._code, self._headers, body)

    def _read_head(self) -> bool:
        end = self._data.find(_END)
        if end < 0:
            if len(self._data) > MOST_HEAD_BYTES:
                raise BadAnswer("the headers of an answer do not end")
            return False
        head = bytes(self._data[:end])
        del self._data[: end + len(_END)]
        self._headers = _headers(head)
        code = _code(head)
        if code >= 200:  # 1xx only announces the real answer
            self._code = code
            self._measure()
        return True

    def _measure(self) -> None:
        """Find out from the headers where the body ends."""
        length = self._headers.get(b"content-length")
        if self._code in _BODILESS:
            self._length = 0
        elif b"chunked" in self._headers.get(b"transfer-encoding", b"").lower():
            self._is_chunked = True
        elif length is not None:
            if not _LENGTH.fullmatch(length):
                raise BadAnswer(f"the length of an answer is not a number: {length[:20]!r}")
            self._length = int(length)

    def _read_chunks(self) -> Answer | None:
        taken = 0  # how far the body has been read
        while (end := self._data.find(b"\r\n", taken)) >= 0:
            size = _chunk_size(self._data[taken:end])
            begin = end + 2
            if size == 0 or len(self._data) < begin + size + 2:
                break
            self._body += self._data[begin : begin + size]
            taken = begin + size + 2
        del self._data[:taken]
        if end < 0 and len(self._data) > _MOST_CHUNK_LINE_BYTES:
            raise BadAnswer("a chunk has no size")
        return self._read_trailer() if end >= 0 and size == 0 else None

    def _read_trailer(self) -> Answer | None:
        """Skip what follows the last chunk: headers that nothing reads, and an empty line."""
        end = self._data.find(_END)
        if end < 0:
            return None
        del self._data[: end + len(_END)]
        return self._answer(bytes(self._body))


def _code(head: bytes) -> int:
    line = head.partition(b"\r\n")[0]
    version, _, rest = line.partition(b" ")
    if version != b"HTTP/1.1" or not rest[:3].isdigit():
        hint = "is the address right, and should it begin with https://?"
        raise BadAnswer(f"the answer is not HTTP/1.1: {line[:60]!r}; {hint}")
    return int(rest[:3])


def _headers(head: bytes) -> dict[bytes, bytes]:
    """Return the headers in lower case: the values of those that are used have no other."""
    found = {}
    _, *lines = head.lower().split(b"\r\n")
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or b"\n" in line:
            raise BadAnswer(f"not a header: {line[:60]!r}")
        found[name] = value.strip()
    return found


def _chunk_size(line: bytearray) -> int:
    digits = bytes(line.partition(b";")[0]).strip()
    if not _CHUNK_SIZE.fullmatch(digits):
        raise BadAnswer(f"the size of a chunk is not a number: {digits[:20]!r}")
    return int(digits, 16)

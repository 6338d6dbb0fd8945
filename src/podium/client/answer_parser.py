"""HTTP/1.1 answers out of bytes as they arrive; no I/O. `wire.py` feeds it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

MOST_HEAD_BYTES: Final = 64 * 1024
_MOST_CHUNK_LINE_BYTES: Final = 1024
_END: Final = b"\r\n\r\n"
_BODILESS: Final = (204, 304)
# Python's own parser of numbers would take signs and underlines as well: a chunk of "-6" bytes
# would be read again and again.
_CHUNK_SIZE: Final = re.compile(rb"[0-9a-fA-F]{1,15}")
_LENGTH: Final = re.compile(rb"[0-9]{1,18}")


class BadAnswer(Exception):
    """What came is no HTTP/1.1, or broke off."""


class Answer(NamedTuple):
    """A whole answer; names of headers are in lower case."""

    code: int
    headers: dict[bytes, bytes]
    body: bytes


class AnswerParser:
    """One answer: ``feed`` returns it once it is whole, ``end`` when only the end was missing."""

    def __init__(self) -> None:
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
        if self._is_chunked:
            return self._read_chunks()
        if self._length is not None and len(self._data) >= self._length:
            body = bytes(self._data[: self._length])
            del self._data[: self._length]
            return self._answer(body)
        return None

    def end(self) -> Answer:
        """The server hung up: that ends an answer which does not say how long it is."""
        if not self._code or self._is_chunked or self._length is not None:
            raise BadAnswer("the server hung up in the middle of an answer")
        return self._answer(bytes(self._data))

    @property
    def may_go_on(self) -> bool:
        """Whether the connection is fit for another request after this answer."""
        closes = self._headers.get(b"connection", b"").lower() == b"close"
        return not closes and not self._data and (self._is_chunked or self._length is not None)

    def _answer(self, body: bytes) -> Answer:
        return Answer(self._code, self._headers, body)

    def _read_head(self) -> bool:
        end = self._data.find(_END)
        if end < 0:
            if len(self._data) > MOST_HEAD_BYTES:
                raise BadAnswer("an answer begins without an end of its headers")
            return False
        first, *lines = bytes(self._data[:end]).split(b"\r\n")
        del self._data[: end + len(_END)]
        self._headers = dict(_header(line) for line in lines)
        code = _code(first)
        if code >= 200:  # others announce the one to come
            self._code = code
            self._measure()
        return True

    def _measure(self) -> None:
        """Find out how the end of the body is told."""
        length = self._headers.get(b"content-length")
        if self._code in _BODILESS:
            self._length = 0
        elif b"chunked" in self._headers.get(b"transfer-encoding", b"").lower():
            self._is_chunked = True
        elif length is not None:
            if not _LENGTH.fullmatch(length):
                raise BadAnswer(f"an answer of {length[:20]!r} bytes")
            self._length = int(length)

    def _read_chunks(self) -> Answer | None:
        place = 0  # up to where the body has been taken over
        while (end := self._data.find(b"\r\n", place)) >= 0:
            size = _chunk_size(self._data[place:end])
            begin = end + 2
            if size == 0 or len(self._data) < begin + size + 2:
                break
            self._body += self._data[begin : begin + size]
            place = begin + size + 2
        del self._data[:place]
        if end < 0 and len(self._data) > _MOST_CHUNK_LINE_BYTES:
            raise BadAnswer("a chunk does not say how long it is")
        return self._read_trailer() if end >= 0 and size == 0 else None

    def _read_trailer(self) -> Answer | None:
        """After the last chunk, an empty line; headers before it would be for nobody."""
        end = self._data.find(_END)
        if end < 0:
            return None
        del self._data[: end + len(_END)]
        return self._answer(bytes(self._body))


def _code(line: bytes) -> int:
    version, _, rest = line.partition(b" ")
    if version != b"HTTP/1.1" or not rest[:3].isdigit():
        hint = "is the address right, does it begin with https:// where it should?"
        raise BadAnswer(f"no answer of HTTP/1.1: {line[:60]!r}; {hint}")
    return int(rest[:3])


def _header(line: bytes) -> tuple[bytes, bytes]:
    name, colon, value = line.partition(b":")
    if not colon:
        raise BadAnswer(f"no header: {line[:60]!r}")
    return name.lower(), value.strip()


def _chunk_size(line: bytearray) -> int:
    digits = bytes(line.partition(b";")[0]).strip()
    if not _CHUNK_SIZE.fullmatch(digits):
        raise BadAnswer(f"a chunk of {digits[:20]!r} bytes")
    return int(digits, 16)

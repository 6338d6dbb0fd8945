"""Read the literals of CEL: numbers, strings and bytes."""

from __future__ import annotations

import re
from typing import Final

from podium.cel.values import MAX_INT, MAX_UINT, MIN_INT, UInt

CONTROL_ESCAPES: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_SIMPLE: Final = {**CONTROL_ESCAPES, **{char: char for char in "\\'\"`?"}}
_ESCAPE: Final = re.compile(r"\\(x..|X..|u.{4}|U.{8}|[0-3]..|.)", re.DOTALL)


def read_int(digits: str, sign: str = "") -> int:
    """Return an int literal; raise ``ValueError`` if it is out of range."""
    number = int(sign + digits, 16 if digits.startswith("0x") else 10) if _short(digits) else None
    if number is None or not MIN_INT <= number <= MAX_INT:
        raise ValueError("invalid int literal")
    return number


def read_uint(text: str) -> UInt:
    digits = text[:-1]
    number = int(digits, 16 if digits.startswith("0x") else 10) if _short(digits) else None
    if number is None or number > MAX_UINT:
        raise ValueError("invalid uint literal")
    return UInt(number)


def _short(digits: str) -> bool:
    # Leading zeros may be many; Python refuses to read thousands of digits.
    return len(digits.removeprefix("0x").lstrip("0")) <= 20


def read_double(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("invalid double literal")
    return number


def read_string(text: str) -> str:
    raw, body = _body(text)
    return body if raw else _ESCAPE.sub(lambda found: _character(found[1]), body)


def read_bytes(text: str) -> bytes:
    """Return a bytes literal, in which ``\\xff`` and ``\\377`` are single bytes."""
    raw, body = _body(text[1:])
    if raw:
        return body.encode()
    pieces, position = [], 0
    for found in _ESCAPE.finditer(body):
        pieces.append(body[position : found.start()].encode())
        pieces.append(_byte(found[1]))
        position = found.end()
    return b"".join((*pieces, body[position:].encode()))


def _body(text: str) -> tuple[bool, str]:
    raw = text[0] in "rR"
    text = text[1:] if raw else text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    quotes = 3 if text[:3] in ('"""', "'''") and len(text) >= 6 else 1
    return raw, text[quotes:-quotes]


def _character(escape: str) -> str:
    if escape in _SIMPLE:
        return _SIMPLE[escape]
    code = int(escape[1:], 16) if escape[0] in "xXuU" else int(escape, 8)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise ValueError("invalid unicode code point")
    return chr(code)


def _byte(escape: str) -> bytes:
    if escape in _SIMPLE:
        return _SIMPLE[escape].encode()
    if escape[0] in "uU":
        raise ValueError("unable to unescape string")
    return bytes((int(escape[1:], 16) if escape[0] in "xX" else int(escape, 8),))

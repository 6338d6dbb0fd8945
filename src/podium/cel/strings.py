"""The strings library of cel-go, version 2, which Kubernetes uses, and its regular expressions."""

from __future__ import annotations

from typing import Final

from podium.cel import values
from podium.cel.environment import Library, function, library, overload
from podium.cel.format_strings import formatted
from podium.cel.standard import regex
from podium.cel.values import MOST_CHARACTERS, TOO_EXPENSIVE, Value
from podium.errors import EvaluationError

# What Go's strings.TrimSpace removes; Python's own notion has four more characters.
_SPACE: Final = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_QUOTED: Final = str.maketrans(
    {
        "\a": r"\a",
        "\b": r"\b",
        "\f": r"\f",
        "\n": r"\n",
        "\r": r"\r",
        "\t": r"\t",
        "\v": r"\v",
        "\\": r"\\",
        '"': r"\"",
    }
)


def _out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}")


def char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def index_of(text: str, part: str, offset: int = 0) -> int:
    if offset < 0:
        raise _out_of_range(offset)
    if not part:
        return min(offset, len(text))
    return text.find(part, offset)


def last_index_of(text: str, part: str) -> int:
    return text.rfind(part)


def last_index_before(text: str, part: str, offset: int) -> int:
    if offset < 0:
        raise _out_of_range(offset)
    if not part:
        return min(offset, len(text))
    return -1 if offset >= len(text) else text.rfind(part, 0, offset + len(part))


def replace(text: str, old: str, new: str, limit: int = -1) -> str:
    if len(text) // max(1, len(old)) * len(new) > MOST_CHARACTERS:
        raise EvaluationError(TOO_EXPENSIVE)
    return text.replace(old, new, limit)


def split(text: str, separator: str, limit: int = -1) -> list[Value]:
    if limit == 0:
        return []
    if separator:
        return list(text.split(separator, limit - 1 if limit > 0 else -1))
    if 0 < limit < len(text):
        return [*text[: limit - 1], text[limit - 1 :]]
    return list(text)


def substring(text: str, start: int) -> str:
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return text[start:]


def substring_range(text: str, start: int, end: int) -> str:
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


def join(parts: list[Value], separator: str = "") -> str:
    for part in parts:
        if type(part) is not str:
            raise EvaluationError(f"join: invalid input: {values.text(part)}")
    return separator.join(parts)


def quote(text: str) -> str:
    return f'"{text.translate(_QUOTED)}"'


STRINGS: Final[Library] = library(
    function("charAt", overload("string_char_at_int", "string.(int) -> string", char_at)),
    function(
        "indexOf",
        overload("string_index_of_string", "string.(string) -> int", index_of),
        overload("string_index_of_string_int", "string.(string, int) -> int", index_of),
    ),
    function(
        "lastIndexOf",
        overload("string_last_index_of_string", "string.(string) -> int", last_index_of),
        overload(
            "string_last_index_of_string_int", "string.(string, int) -> int", last_index_before
        ),
    ),
    function(
        "lowerAscii",
        overload("string_lower_ascii", "string.() -> string", lambda text: text.translate(_LOWER)),
    ),
    function(
        "replace",
        overload("string_replace_string_string", "string.(string, string) -> string", replace),
        overload(
            "string_replace_string_string_int", "string.(string, string, int) -> string", replace
        ),
    ),
    function(
        "split",
        overload("string_split_string", "string.(string) -> list(string)", split),
        overload("string_split_string_int", "string.(string, int) -> list(string)", split),
    ),
    function(
        "substring",
        overload("string_substring_int", "string.(int) -> string", substring),
        overload("string_substring_int_int", "string.(int, int) -> string", substring_range),
    ),
    function(
        "trim", overload("string_trim", "string.() -> string", lambda text: text.strip(_SPACE))
    ),
    function(
        "upperAscii",
        overload("string_upper_ascii", "string.() -> string", lambda text: text.translate(_UPPER)),
    ),
    function("format", overload("string_format", "string.(list(dyn)) -> string", formatted)),
    function("strings.quote", overload("strings_quote", "(string) -> string", quote)),
    function(
        "join",
        overload("list_join", "list(string).() -> string", join),
        overload("list_join_string", "list(string).(string) -> string", join),
    ),
)


def _compiled(pattern: str) -> Value:
    try:
        return regex(pattern)
    except ValueError as error:
        raise EvaluationError(f"Illegal regex: {error}") from None


def find(text: str, pattern: str) -> str:
    found = _compiled(pattern).search(text)
    return found.group() if found else ""


def find_all(text: str, pattern: str, limit: int = -1) -> list[Value]:
    found = [match.group() for match in _compiled(pattern).finditer(text)]
    return found[:limit] if limit >= 0 else found


REGEX: Final[Library] = library(
    function("find", overload("string_find_string", "string.(string) -> string", find)),
    function(
        "findAll",
        overload("string_find_all_string", "string.(string) -> list(string)", find_all),
        overload("string_find_all_string_int", "string.(string, int) -> list(string)", find_all),
    ),
)

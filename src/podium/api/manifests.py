"""Read API objects from YAML or JSON files, with limits on size and depth.

Scalars mean what they mean to kubectl: times and "1:30" stay strings, 1e3 is a number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

from podium.errors import PodiumError

MAX_BYTES = 64 << 20
MAX_DEPTH = 150
_FREE_VALUES = 100_000
_NUMBERS = range(-(2**63), 2**64)

TAG = "tag:yaml.org,2002:"
# Which plain scalars are numbers, as Go's YAML reads them.
INT = re.compile(r"[-+]?(?:0b[01_]+|0x[\da-fA-F_]+|0o?[0-7_]+|0|[1-9][\d_]*)\Z")
FLOAT = re.compile(
    r"[-+]?(?:\.\d+|\d[\d_]*(?:\.[\d_]*)?)(?:[eE][-+]?\d+)?\Z"
    r"|[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z"
)


def read_text(path: Path) -> str:
    """Return the text of a file, or raise ``PodiumError`` with the reason."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise PodiumError(f"cannot be read: {why}") from error
    return checked_text(data)


def checked_text(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise PodiumError(f"cannot be read: larger than {MAX_BYTES >> 20} MiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PodiumError("cannot be read: not UTF-8 text") from error


def load_yaml(text: str) -> list[dict[str, Any]]:
    """Return the objects of a YAML stream; lists are unpacked, empty documents left out."""
    objects = [item for document in documents(text) for item in _unpacked(document)]
    for found in objects:
        if not isinstance(found, dict):
            raise PodiumError(f"not an API object: {found!r:.80}")
    return objects


def documents(text: str) -> list[Any]:
    """Return the documents of a YAML stream as JSON values, without empty ones."""
    copy = _Copy(len(text) + _FREE_VALUES)
    copies: list[Any] = []
    number, found = 0, None
    try:
        for found in _parsed(text):
            number += 1
            if found is not None:
                copies.append(copy.of(found, 0))
        return copies
    except _NotInJson as error:
        where = f"document {number}: {_place_of_bad_value(found)}"
        raise PodiumError(f"not readable as YAML: {where}: {error}") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise PodiumError(f"not readable as YAML: {error}") from error


def _parsed(text: str) -> Iterable[Any]:
    if text.lstrip()[:1] in ("{", "["):
        try:
            return [msgspec.json.decode(text)]  # a hundred times faster
        except msgspec.DecodeError:
            pass  # YAML may begin with a brace as well
    _check_depth(text)
    return yaml.load_all(text, _Loader)


def _check_depth(text: str) -> None:
    """Check the depth on the flat stream of events, because building values recurses."""
    depth = 0
    for event in yaml.parse(text, _Loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _too_deep()


def _too_deep() -> yaml.YAMLError:
    return yaml.YAMLError(f"nested too deeply: more than {MAX_DEPTH} levels")


def _unpacked(document: Any) -> list[Any]:
    match document:
        case {"kind": str(kind), "items": list(items)} if kind.endswith("List"):
            return items
    return [document]


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # at run time
    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Limit merge keys (<<), which can double the number of values with each level."""
        super().flatten_mapping(node)
        if len(node.value) > _FREE_VALUES:
            raise yaml.YAMLError("too large: merge keys make more than 100,000 values")


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag.removeprefix(TAG) not in ("timestamp", "int", "float")
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(f"{TAG}int", INT, list("-+0123456789"))
_Loader.add_implicit_resolver(f"{TAG}float", FLOAT, list("-+0123456789."))


class _Copy:
    """Copies values as JSON has them, each alias separately, up to a limit.

    Without aliases a text has fewer values than characters, so only aliases can reach the limit.
    """

    def __init__(self, most: int) -> None:
        self._most = self._left = most

    def of(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise yaml.YAMLError(f"too large: more than {self._most} values, aliases counted")
        if depth > MAX_DEPTH:
            raise _too_deep()  # an alias inside its own anchor
        match value:
            case dict():
                return {_key(key): self.of(item, depth + 1) for key, item in value.items()}
            case list():
                return [self.of(item, depth + 1) for item in value]
            case _:
                return _scalar(value)


def _key(key: Any) -> str:
    match key:
        case str():
            return str(_scalar(key))
        case bool():
            return str(key).lower()
        case None:
            return "null"
        case int() | float():
            return str(key)
    raise yaml.YAMLError(f"a key must be a string, not {key!r:.40}")


class _NotInJson(yaml.YAMLError):
    """A value that YAML has and JSON does not."""


def _place_of_bad_value(value: Any) -> str:
    """Return where the first value is that JSON does not have, such as ``spec.ports[0]``."""
    return next(_bad_places(value, ""), "").removeprefix(".")


def _bad_places(value: Any, place: str) -> Iterator[str]:
    match value:
        case dict():
            for key, item in value.items():
                yield from _bad_places(item, f"{place}.{key}")
        case list():
            for index, item in enumerate(value):
                yield from _bad_places(item, f"{place}[{index}]")
        case _:
            try:
                _scalar(value)
            except _NotInJson:
                yield place


def _scalar(value: Any) -> Any:
    match value:
        case str():
            value.encode()  # a lone surrogate cannot be encoded
        case None | bool():
            pass
        case int() if value in _NUMBERS:
            pass
        case float() if math.isfinite(value):
            pass
        case _:
            raise _NotInJson(f"JSON has no such value: {value!r:.40}")
    return value

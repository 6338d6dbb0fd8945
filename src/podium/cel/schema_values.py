"""JSON of a custom resource as values of CEL, converted as its schema says."""

from __future__ import annotations

import base64
import contextlib
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from podium.cel.escaping import KEYWORDS, escape
from podium.cel.schema_types import Schema, is_embedded, with_metadata
from podium.cel.times import parse_duration, parse_timestamp
from podium.cel.values import NANOS, Duration, KeyedList, Timestamp, Value
from podium.errors import EvaluationError
from podium.release import Release

_DATE: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NOT_FOR_URLS: Final = re.compile("[^A-Za-z0-9_=-]")
_PERIOD: Final = re.compile(r"([0-9]+)\s*([A-Za-zµ]+)")
_SECOND: Final = NANOS
# Names of units; any word that starts with the last one of a row names it, too.
_UNITS: Final = (
    (("ns", "nano"), 1),
    (("us", "µs", "micro"), 1_000),
    (("ms", "milli"), 1_000_000),
    (("s", "sec"), _SECOND),
    (("m", "min"), 60 * _SECOND),
    (("h", "hr", "hour"), 3600 * _SECOND),
    (("d", "day"), 24 * 3600 * _SECOND),
    (("w", "wk", "week"), 7 * 24 * 3600 * _SECOND),
)


class ObjectValue(dict[str, Value]):
    """Fields by escaped name. A field that is named like a keyword has its own name as well.

    A field that cannot be converted raises its error when a rule reads it.
    """

    __slots__ = ("errors",)

    def __init__(self) -> None:
        super().__init__()
        self.errors: dict[str, str] = {}

    def __missing__(self, name: str) -> Value:
        if name in self.errors:
            raise EvaluationError(self.errors[name])
        if name in KEYWORDS:
            return self[f"__{name}__"]
        raise KeyError(name)


def to_value(value: Any, schema: Schema, release: Release) -> Value:
    """Convert JSON that conforms to a schema; raise ``EvaluationError`` if it does not."""
    if value is None or schema.get("x-kubernetes-int-or-string"):
        return value
    kind = schema.get("type")
    match value:
        case dict() if kind == "object":
            return _object(value, schema, release)
        case list() if kind == "array":
            return _list(value, schema, release)
        case str() if kind == "string":
            return _text(value, schema.get("format"))
        case int() | float() if kind == "number":
            return float(value)
        case bool() | int() if kind in ("boolean", "integer"):
            return value
    if kind is None:
        return value
    raise EvaluationError(f"invalid data, expected {kind}")


def _object(value: Mapping[str, Any], schema: Schema, release: Release) -> Value:
    if is_embedded(schema):
        schema = with_metadata(schema, release)
    below, more = schema.get("properties"), schema.get("additionalProperties")
    if below is None and isinstance(more, dict):
        return {key: to_value(one, more, release) for key, one in value.items()}
    found = ObjectValue()
    for key, one in value.items():
        if one is None:
            continue  # as if it were absent
        name = escape(key) or key
        try:
            found[name] = to_value(one, (below or {}).get(key, {}), release)
        except EvaluationError as error:
            found.errors[name] = str(error)
    return found


def _list(value: list[Any], schema: Schema, release: Release) -> Value:
    items = [to_value(one, schema.get("items") or {}, release) for one in value]
    match schema.get("x-kubernetes-list-type"):
        case "set":
            return KeyedList(items)
        case "map":
            keys = schema.get("x-kubernetes-list-map-keys") or ()
            return KeyedList(items, tuple(escape(key) or key for key in keys))
    return items


def _text(text: str, form: str | None) -> Value:
    match form:
        case "byte":
            return _bytes(text)
        case "date":
            return _found(_date(text), "date formatted string", text)
        case "date-time":
            return _found(parse_timestamp(text), "date-time formatted string", text)
        case "duration":
            return _found(parse_period(text), "duration", text)
    return text


def _found(value: Value, what: str, text: str) -> Value:
    if value is None:
        raise EvaluationError(f"Invalid {what} {text}")
    return value


def _bytes(text: str) -> bytes:
    """Read base64 with the alphabet for URLs, which validation does not ask for."""
    wrong = _NOT_FOR_URLS.search(text)
    if wrong is None:
        with contextlib.suppress(ValueError):
            return base64.urlsafe_b64decode(text)
    where = f": illegal base64 data at input byte {wrong.start()}" if wrong else ""
    raise EvaluationError(f"Invalid byte formatted string {text}{where}")


def _date(text: str) -> Timestamp | None:
    if not _DATE.fullmatch(text):
        return None
    try:
        day = datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None
    return Timestamp((day - datetime(1970, 1, 1, tzinfo=UTC)).days * 24 * 3600 * NANOS)


def parse_period(text: str) -> Duration | None:
    """Read a Go duration, or one such as ``2 days 3 hours``."""
    found = parse_duration(text)
    if found is not None:
        return found
    parts = [
        int(count) * factor
        for count, unit in _PERIOD.findall(text)
        for names, factor in _UNITS
        if unit.lower() in names or unit.lower().startswith(names[-1])
    ]
    return Duration(sum(parts)) if parts else None


def _standard_bytes(text: str) -> bytes | None:
    """Read base64 as validation does, which takes other characters than expressions do."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return None


PARSERS: Final[dict[str, Callable[[str], Value]]] = {
    "byte": _standard_bytes,
    "date": _date,
    "date-time": parse_timestamp,
    "duration": parse_period,
}

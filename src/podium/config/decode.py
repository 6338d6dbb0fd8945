"""Decode plain values into msgspec types, field by field, so that every mismatch is reported.

msgspec itself stops at the first mismatch. ``sift`` reports all of them and keeps what fits;
``decode`` then converts what is left.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from types import EllipsisType, NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec

from podium import durations
from podium.config.problems import Problems, child, did_you_mean, show

T = TypeVar("T")

INT64 = (-(2**63), 2**63 - 1)
NANOSECONDS = "nanoseconds"


class _Unfit(Enum):
    UNFIT = "unfit"


UNFIT = _Unfit.UNFIT


def decode(value: Any, kind: type[T], path: str, problems: Problems) -> T | None:
    """Convert a value to this type, without the fields that do not fit; ``None`` if none fits."""
    kept = sift(value, kind, path, problems)
    if kept is UNFIT:
        return None
    try:
        return msgspec.convert(kept, kind)
    except msgspec.ValidationError as error:
        _report(error, kept, path, problems)
        return None


def sift(value: Any, kind: Any, path: str, problems: Problems) -> Any:
    """Return the parts of the value that fit the type, ready for msgspec; report the others."""
    bare, limits = _unannotated(kind)
    formats = [meta.extra["format"] for meta in limits if meta.extra]
    if durations.FORMAT in formats:
        return _duration(value, path, problems)
    if NANOSECONDS in formats and not isinstance(value, int):
        return _wrong(value, "a number of nanoseconds; 5000000000 is 5s", path, problems)
    if bare in _SCALARS:
        return _scalar(value, kind, path, problems)
    if _is_plain_struct(bare):
        return _fields(value, bare, path, problems)
    match get_origin(bare), get_args(bare):
        case (origin, members) if origin in (Union, UnionType):
            return _member(value, bare, members, path, problems)
        case (origin, (item,)) | (origin, (item, EllipsisType())) if origin in _ITEMS:
            return _items(value, item, path, problems)
        case (origin, (_, item)) if origin in _MAPS:
            return _entries(value, item, path, problems)
    choices = _choices(bare)
    if choices:
        return _choice(value, choices, path, problems)
    return _converted(value, kind, path, problems)


_ITEMS = (list, tuple, set, frozenset, Sequence)
_MAPS = (dict, Mapping)


def _is_plain_struct(kind: Any) -> bool:
    """Whether its JSON is a plain object of its fields; msgspec checks the other kinds itself."""
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return False
    return not kind.__struct_config__.array_like and kind.__struct_config__.tag is None


def _unannotated(kind: Any) -> tuple[Any, list[msgspec.Meta]]:
    if get_origin(kind) is not Annotated:
        return kind, []
    bare, *notes = get_args(kind)
    return bare, [note for note in notes if isinstance(note, msgspec.Meta)]


def _fields(value: Any, kind: type[msgspec.Struct], path: str, problems: Problems) -> Any:
    if not isinstance(value, dict):
        return _wrong(value, "an object", path, problems)
    fields = _fields_of(kind)
    folded: dict[str, str] = {}
    if getattr(kind, _FOLDS, False):
        folded = {name.lower(): name for name in fields}
    kept = {}
    for written, item in value.items():
        where = child(path, written)
        name = folded.get(written.lower()) or written
        if name not in fields:
            problems.add(where, _unknown_field(name, list(fields), getattr(kind, "advice", {})))
        elif item is not None:  # as upstream, null means that the field is not given
            found = sift(item, fields[name].type, where, problems)
            if found is not UNFIT:
                kept[name] = found
    missing = [name for name, field in fields.items() if field.required and name not in kept]
    for name in missing:
        problems.required(child(path, name))
    return UNFIT if missing else kept


@cache
def _fields_of(kind: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    """Return the fields by the names that files give them: msgspec resolves all types each time."""
    return {field.encode_name: field for field in msgspec.structs.fields(kind)}


_FOLDS = "ignores_case"


def _unknown_field(name: str, known: list[str], advice: Mapping[str, str]) -> str:
    hint = f"; {advice[name]}" if name in advice else did_you_mean(name, known)
    if not hint:
        hint = f"; known fields: {', '.join(known)}" if known else "; this object has no fields"
    return f"unknown field {show(name)}{hint}"


def _items(value: Any, item: Any, path: str, problems: Problems) -> Any:
    if not isinstance(value, list):
        return _wrong(value, "a list", path, problems)
    kept = [sift(each, item, f"{path}[{index}]", problems) for index, each in enumerate(value)]
    # Dropping one item would shift the paths of those after it, so the list is dropped whole.
    return UNFIT if UNFIT in kept else kept


def _entries(value: Any, item: Any, path: str, problems: Problems) -> Any:
    if not isinstance(value, dict):
        return _wrong(value, "an object", path, problems)
    kept = {name: sift(each, item, child(path, name), problems) for name, each in value.items()}
    return {name: each for name, each in kept.items() if each is not UNFIT}


def _member(value: Any, union: Any, members: Sequence[Any], path: str, problems: Problems) -> Any:
    if value is None and NoneType in members:
        return None
    others = [member for member in members if member is not NoneType]
    if len(others) == 1:
        return sift(value, others[0], path, problems)
    return _converted(value, union, path, problems)


def _choices(kind: Any) -> list[Any]:
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [member.value for member in kind]
    return []


def _choice(value: Any, choices: list[Any], path: str, problems: Problems) -> Any:
    if any(value == choice and type(value) is type(choice) for choice in choices):
        return value
    supported = ", ".join(show(choice) for choice in choices)
    problems.add(path, f"Unsupported value: {show(value)}: supported values: {supported}")
    return UNFIT


def _converted(value: Any, kind: Any, path: str, problems: Problems) -> Any:
    """Let msgspec check any other type that a plugin author declares."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        return _report(error, value, path, problems)
    return value


def _report(error: msgspec.ValidationError, value: Any, path: str, problems: Problems) -> Any:
    reason, _, inner = str(error).partition(" - at `$")
    reason = reason[:1].lower() + reason[1:]
    problems.invalid(f"{path}{inner.rstrip('`')}".lstrip("."), value, reason)
    return UNFIT


def _wrong(value: Any, expected: str, path: str, problems: Problems) -> Any:
    problems.invalid(path, value, f"must be {expected}")
    return UNFIT


def _duration(value: Any, path: str, problems: Problems) -> Any:
    if not isinstance(value, str):
        return _wrong(value, 'a duration such as "15s" or "1m30s"', path, problems)
    try:
        return durations.parse(value)
    except ValueError as error:
        problems.invalid(path, value, f'{error}; write it as "15s", "1m30s" or "100ms"')
        return UNFIT


def _scalar(value: Any, kind: Any, path: str, problems: Problems) -> Any:
    bare, limits = _unannotated(kind)
    read, expected = _SCALARS[bare]
    found = read(value)
    if found is None:
        return _wrong(value, expected, path, problems)
    if bare is int:
        low = next((meta.ge for meta in limits if meta.ge is not None), INT64[0])
        high = next((meta.le for meta in limits if meta.le is not None), INT64[1])
        if not low <= found <= high:
            return _wrong(value, f"an integer from {low} to {high}", path, problems)
    return _converted(found, kind, path, problems) if limits else found


def _as_int(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _as_float(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


_SCALARS: dict[Any, tuple[Callable[[Any], Any], str]] = {
    bool: (lambda value: value if isinstance(value, bool) else None, "true or false"),
    int: (_as_int, "an integer"),
    float: (_as_float, "a finite number"),
    str: (lambda value: value if isinstance(value, str) else None, "a string, in quotes"),
}

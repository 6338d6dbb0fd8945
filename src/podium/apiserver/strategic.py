"""Strategic merge patch: a merge patch that merges lists with keys element by element.

Merge keys and strategies come from the schema. The directives are Kubernetes': ``$patch``,
``$deleteFromPrimitiveList``, ``$setElementOrder`` and ``$retainKeys``.
"""

from __future__ import annotations

from typing import Any

from podium.apiserver import statuses
from podium.apiserver.schemas import ANYTHING, Schema
from podium.apiserver.statuses import Json

_PATCH = "$patch"
_RETAIN = "$retainKeys"
_DELETE_FROM = "$deleteFromPrimitiveList/"
_ORDER = "$setElementOrder/"


def strategic_merge(target: Json, patch: Any, schema: Schema) -> Json:
    if not isinstance(patch, dict):
        raise statuses.bad_request("unable to find api field: the patch is no object")
    return _merge_map(target, patch, schema)


def _merge_map(target: Json, patch: Json, schema: Schema) -> Json:
    directive = patch.get(_PATCH)
    if directive == "replace":
        return {key: _clean(value) for key, value in patch.items() if key != _PATCH}
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise statuses.bad_request(f"unknown patch type: {directive} in map")
    result = _retained(dict(target), patch)
    for key, value in patch.items():
        if not key.startswith("$"):
            _merge_field(result, key, value, schema.child(key) or ANYTHING)
    for key, value in patch.items():
        if key.startswith((_DELETE_FROM, _ORDER)):
            _direct(result, key, value, schema)
    return result


def _retained(result: Json, patch: Json) -> Json:
    keep = patch.get(_RETAIN)
    if keep is None:
        return result
    if not isinstance(keep, list):
        raise statuses.bad_request("$retainKeys must be a list of field names")
    return {key: value for key, value in result.items() if key in keep}


def _merge_field(result: Json, key: str, value: Any, schema: Schema) -> None:
    if value is None:
        result.pop(key, None)
        return
    before = result.get(key)
    if isinstance(value, dict) and "replace" not in schema.strategies:
        result[key] = _merge_map(before if isinstance(before, dict) else {}, value, schema)
    elif isinstance(value, list) and "merge" in schema.strategies:
        result[key] = _merge_list(before if isinstance(before, list) else [], value, schema)
    else:
        result[key] = _clean(value)


def _merge_list(target: list[Any], patch: list[Any], schema: Schema) -> list[Any]:
    key = schema.merge_key
    if not key:
        merged = target + [_clean(value) for value in patch if value not in target]
        return _ordered(merged, patch, target, "")
    if any(isinstance(one, dict) and one.get(_PATCH) == "replace" for one in patch):
        return [_clean(one) for one in patch if isinstance(one, dict) and _PATCH not in one]
    result = list(target)
    for one in patch:
        _merge_element(result, one, schema)
    return _ordered(result, patch, target, key)


def _merge_element(result: list[Any], one: Any, schema: Schema) -> None:
    key = schema.merge_key
    if not isinstance(one, dict) or key not in one:
        raise statuses.bad_request(f"map: {one} does not contain declared merge key: {key}")
    at = next(
        (i for i, old in enumerate(result) if isinstance(old, dict) and old.get(key) == one[key]),
        None,
    )
    if one.get(_PATCH) == "delete":
        if at is not None:
            del result[at]
    elif at is None:
        result.append(_clean(_merge_map({}, one, schema.element)))
    else:
        result[at] = _merge_map(result[at], one, schema.element)


def _direct(result: Json, directive: str, value: Any, schema: Schema) -> None:
    if not isinstance(value, list):
        raise statuses.bad_request(f"{directive} must be a list")
    name = directive.partition("/")[2]
    listed = result.get(name)
    if not isinstance(listed, list):
        return
    if directive.startswith(_DELETE_FROM):
        result[name] = [one for one in listed if one not in value]
    else:
        below = schema.child(name) or ANYTHING
        result[name] = _ordered(listed, value, listed, below.merge_key)


def _ordered(merged: list[Any], order: list[Any], before: list[Any], key: str) -> list[Any]:
    """Order a merged list: named elements in the patch's order, the rest as before."""
    wanted, known = ([_identity(one, key) for one in part] for part in (order, before))
    named = [one for one in merged if _identity(one, key) in wanted]
    named.sort(key=lambda one: wanted.index(_identity(one, key)))
    others = [one for one in merged if _identity(one, key) not in wanted]
    found = []
    while others and named:
        left, right = _identity(others[0], key), _identity(named[0], key)
        is_first = left in known and right in known and known.index(left) < known.index(right)
        found.append((others if is_first else named).pop(0))
    return [*found, *others, *named]


def _identity(element: Any, key: str) -> Any:
    return element.get(key) if key and isinstance(element, dict) else element


def _clean(value: Any) -> Any:
    """Return a value without directives and nulls, for an object that did not have it."""
    match value:
        case dict():
            return {
                key: _clean(below)
                for key, below in value.items()
                if below is not None and not key.startswith("$")
            }
        case list():
            return [_clean(one) for one in value if not (isinstance(one, dict) and _PATCH in one)]
        case _:
            return value

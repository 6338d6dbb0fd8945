"""JSON patch (RFC 6902) and merge patch (RFC 7386)."""

from __future__ import annotations

import copy
from typing import Any

import msgspec

from podium.apiserver import statuses
from podium.apiserver.decoding import check_depth
from podium.apiserver.statuses import Json, Refusal

_MAX_OPERATIONS = 10_000
_MAX_COPIED_BYTES = 3 * 1024 * 1024


def merge_patch(target: Any, patch: Any) -> Any:
    """Apply a merge patch: objects merge, null deletes, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def json_patch(target: Json, operations: list[Any]) -> Json:
    """Apply the operations in order; one that fails refuses the whole patch."""
    if len(operations) > _MAX_OPERATIONS:
        message = (
            f"The allowed maximum operations in a JSON patch is {_MAX_OPERATIONS}, "
            f"got {len(operations)}"
        )
        raise Refusal(413, "RequestEntityTooLarge", message)
    document: Any = copy.deepcopy(target)
    left = _MAX_COPIED_BYTES
    try:
        for operation in operations:
            left -= _copied_bytes(document, operation)
            if left < 0:
                raise _refused()
            document = _apply(document, operation)
    except RecursionError:  # operations can nest deeper than a body may be
        raise _refused() from None
    check_depth(document)
    if not isinstance(document, dict):
        raise _refused()
    return document


def _copied_bytes(document: Any, operation: Any) -> int:
    """Return how much an operation copies. A map copied into itself doubles each time."""
    if not isinstance(operation, dict) or operation.get("op") != "copy":
        return 0
    source = operation.get("from")
    if not isinstance(source, str):
        raise _refused()
    return len(msgspec.json.encode(_get(document, _tokens(source))))


def _refused() -> Refusal:
    """Return the 422 for a patch that does not apply; kube-apiserver does not say why either."""
    message = "the server rejected our request due to an error in our request"
    return Refusal(422, statuses.INVALID, message, {})


def _apply(document: Any, operation: Any) -> Any:
    if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
        raise _refused()
    name, path = operation.get("op"), _tokens(operation["path"])
    match name:
        case "add":
            return _add(document, path, copy.deepcopy(operation.get("value")))
        case "remove":
            return _remove(document, path)
        case "replace":
            return _replace(document, path, copy.deepcopy(operation.get("value")))
        case "move" | "copy":
            return _move(document, operation, path)
        case "test":
            if _found(document, path) != operation.get("value"):
                raise _refused()
            return document
        case _:
            raise _refused()


def _move(document: Any, operation: Json, path: list[str]) -> Any:
    if not isinstance(operation.get("from"), str):
        raise _refused()
    source = _tokens(operation["from"])
    value = copy.deepcopy(_get(document, source))
    if operation["op"] == "move":
        if path[: len(source)] == source and path != source:
            raise _refused()
        document = _remove(document, source)
    return _add(document, path, value)


def _replace(document: Any, path: list[str], value: Any) -> Any:
    """Replace a value. In a map it adds a missing one, as Kubernetes' library does."""
    _found(document, path)
    if path and isinstance(parent := _get(document, path[:-1]), list):
        parent[_index(parent, path[-1], len(parent) - 1)] = value
        return document
    return _add(document, path, value)


def _found(document: Any, path: list[str]) -> Any:
    """Return the value at a path; a missing name in a map is null."""
    parent = _get(document, path[:-1])
    if path and isinstance(parent, dict):
        return parent.get(path[-1])
    return _get(document, path)


def _tokens(pointer: str) -> list[str]:
    if pointer == "":
        return []
    if not pointer.startswith("/"):
        raise _refused()
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]


def _index(container: list[Any], token: str, last: int) -> int:
    if not token.isascii() or not token.isdigit() or int(token) > last:
        raise _refused()
    return int(token)


def _get(document: Any, path: list[str]) -> Any:
    for token in path:
        match document:
            case dict() if token in document:
                document = document[token]
            case list():
                document = document[_index(document, token, len(document) - 1)]
            case _:
                raise _refused()
    return document


def _add(document: Any, path: list[str], value: Any) -> Any:
    if not path:
        return value
    parent = _get(document, path[:-1])
    match parent:
        case dict():
            parent[path[-1]] = value
        case list():
            at = len(parent) if path[-1] == "-" else _index(parent, path[-1], len(parent))
            parent.insert(at, value)
        case _:
            raise _refused()
    return document


def _remove(document: Any, path: list[str]) -> Any:
    if not path:
        return None
    _get(document, path)
    parent = _get(document, path[:-1])
    if isinstance(parent, list):
        del parent[_index(parent, path[-1], len(parent) - 1)]
    else:
        del parent[path[-1]]
    return document

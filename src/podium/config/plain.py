"""Values handed in by a program, brought to what a JSON parser would have returned."""

import math
from collections.abc import Mapping
from typing import Any

from podium.config.document import MAX_DEPTH
from podium.config.problems import Problems, child, whole_text

_WIDEST = 128


def plain(value: Any, path: str, problems: Problems, depth: int = 0) -> Any:
    """A copy of dicts, lists and scalars; anything else is a problem and becomes ``None``."""
    if depth > MAX_DEPTH:
        problems.add(path, f"nested too deeply: more than {MAX_DEPTH} levels")
        return None
    match value:
        case None | bool() | float():
            return value
        case str():
            return whole_text(value)
        case int():
            return value if value.bit_length() <= _WIDEST else _infinite(value)
        case Mapping():
            return _mapping(value, path, problems, depth)
        case list() | tuple():
            items = enumerate(value)
            return [plain(item, f"{path}[{i}]", problems, depth + 1) for i, item in items]
    problems.add(path, f"a {type(value).__name__} is no JSON value")
    return None


def _infinite(value: int) -> float:
    """Stands for a number that no field takes; Python refuses to print the longest integers."""
    return math.inf if value > 0 else -math.inf


def _mapping(value: Mapping[Any, Any], path: str, problems: Problems, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, item in value.items():
        if isinstance(key, str):
            name = whole_text(key)
            found[name] = plain(item, child(path, name), problems, depth + 1)
        else:
            problems.add(path, f"a key must be a text, not a {type(key).__name__}")
    return found

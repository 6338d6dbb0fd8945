"""The `fieldPath` of a rule: a JSON path of fields and keys that the schema must have."""

from __future__ import annotations

import re
from typing import Any

from podium.apiserver.statuses import Json
from podium.cel.literals import CONTROL_ESCAPES

_STEP = re.compile(r"\.(?P<name>[^.\[\]]+)|\['(?P<quoted>(?:[^'\\]|\\.)*)'\]")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {**CONTROL_ESCAPES, "'": "'", "\\": "\\"}


def normal_path(path: str, schema: Json) -> str | None:
    """Return the path as messages write it; None if it does not lead to a field."""
    found, rest = "", 0
    below: Any = schema
    while rest < len(path):
        step = _STEP.match(path, rest)
        name = _name(step) if step else None
        if step is None or name is None or not isinstance(below, dict):
            return None
        if below.get("properties") is not None:
            found = f"{found}.{name}"
            below = below["properties"].get(name)
        elif below.get("additionalProperties") is not None:
            found = f"{found}[{name}]"
            below = below["additionalProperties"]
        else:
            return None
        if below is None:
            return None
        rest = step.end()
    return found.removeprefix(".")


def _name(step: re.Match[str]) -> str | None:
    """Return the name in a step; None if it has an unknown escape sequence."""
    if step["name"] is not None:
        return step["name"]
    text = step["quoted"]
    if any(found not in _ESCAPES for found in _ESCAPE.findall(text)):
        return None
    return _ESCAPE.sub(lambda found: _ESCAPES[found[1]], text)

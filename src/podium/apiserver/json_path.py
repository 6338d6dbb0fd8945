"""Values at a path in an object: dotted names, and the JSON paths that printer columns use."""

from __future__ import annotations

import re
from typing import Any

_STEP = re.compile(
    r"""\.([\w-]+)|\[(\d+)\]|\['([^']*)'\]|\[\?\(@\.(\w+)\s*==\s*["']([^"']*)["']\)\]"""
)


def at(obj: Any, path: str) -> Any:
    """Return the value at a dotted path such as ``spec.replicas``; None if there is none."""
    for name in path.split("."):
        obj = obj.get(name) if isinstance(obj, dict) else None
    return obj


def first_value(obj: Any, path: str) -> Any:
    """Return the first value at a path such as ``.items[0].name``; None for other syntax."""
    text, at = path if path.startswith((".", "[")) else f".{path}", 0
    while at < len(text):
        step = _STEP.match(text.replace("\\.", "\0"), at)
        if step is None:
            return None
        at = step.end()
        obj = _step(obj, step)
        if obj is None:
            return None
    return obj


def _step(obj: Any, step: re.Match[str]) -> Any:
    name, index, quoted, key, value = step.groups()
    if key is not None:
        listed = obj if isinstance(obj, list) else []
        return next((o for o in listed if isinstance(o, dict) and o.get(key) == value), None)
    if index is not None:
        return obj[int(index)] if isinstance(obj, list) and int(index) < len(obj) else None
    wanted = (name if name is not None else quoted).replace("\0", ".")
    return obj.get(wanted) if isinstance(obj, dict) else None

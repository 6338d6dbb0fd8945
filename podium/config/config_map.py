"""A policy inside a ConfigMap, as ``kubectl get -o yaml`` prints it: the key ``policy.cfg``."""

from typing import Any

from podium.config import document
from podium.config.problems import Problems, child

KEY = "policy.cfg"
_PATH = child("data", KEY)


def is_one(value: Any) -> bool:
    return isinstance(value, dict) and value.get("kind") == "ConfigMap"


def policy_in(value: dict[str, Any], problems: Problems) -> tuple[Any, Problems]:
    """The policy that it holds, with the lines that it has in the file around it."""
    data = value.get("data")
    text = data.get(KEY) if isinstance(data, dict) else None
    if not isinstance(text, str):
        keys = f"; it has {', '.join(sorted(data))}" if isinstance(data, dict) and data else ""
        problems.add("data", f'missing policy config map value at key "{KEY}"{keys}')
        return {"apiVersion": "v1", "kind": "Policy"}, problems
    policy, inner = document.read(text)
    return policy, _shifted(inner, problems, "\n" in text)


def _shifted(inner: Problems, outer: Problems, is_block: bool) -> Problems:
    """A block of text begins on the line after its key; anything else stands on the key's."""
    start = outer.line(_PATH)
    if start is None:
        return _joined(outer, inner, {})
    lines = {path: start + line if is_block else start for path, line in inner.lines.items()}
    return _joined(outer, inner, lines)


def _joined(outer: Problems, inner: Problems, lines: dict[str, int]) -> Problems:
    joined = Problems(lines)
    for problem in outer.found:
        joined.add_at(*problem)
    for problem in inner.found:
        joined.add_at(problem.path, lines.get(problem.path), problem.message)
    return joined

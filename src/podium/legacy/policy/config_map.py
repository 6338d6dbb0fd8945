"""A policy inside a ConfigMap, as ``kubectl get -o yaml`` prints it: the key ``policy.cfg``."""

from typing import Any

from podium.config import document
from podium.config.problems import Problems, child

KEY = "policy.cfg"
_PATH = child("data", KEY)


def unwrap(value: Any, problems: Problems) -> tuple[Any, Problems]:
    """Return the policy in a ConfigMap, with its lines in the file; other values as they are."""
    if not isinstance(value, dict) or value.get("kind") != "ConfigMap":
        return value, problems
    data = value.get("data")
    text = data.get(KEY) if isinstance(data, dict) else None
    if not isinstance(text, str):
        keys = f"; it has {', '.join(sorted(data))}" if isinstance(data, dict) and data else ""
        problems.add("data", f'missing policy config map value at key "{KEY}"{keys}')
        return {"apiVersion": "v1", "kind": "Policy"}, problems
    policy, inner = document.read(text)
    return policy, _in_the_file(inner, problems, text)


def _in_the_file(inner: Problems, outer: Problems, text: str) -> Problems:
    """A block of text begins on the line after its key; anything else stands on the key's."""
    start = outer.line(_PATH)

    def shifted(line: int | None) -> int | None:
        if start is None or line is None:
            return start
        return start + line if "\n" in text else start

    lines = {path: shifted(line) for path, line in inner.lines.items()}
    joined = Problems({path: line for path, line in lines.items() if line is not None})
    for problem in outer.found:
        joined.add_at(problem.path, problem.line, problem.message)
    for problem in inner.found:
        joined.add_at(problem.path, shifted(problem.line), problem.message)
    return joined

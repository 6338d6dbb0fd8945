"""The stable names of the plugin API and their signatures, as tests/data/plugin_api.json has them.

Renew the file after a change that is meant: ``python -m tests.support.plugin_api``. A name that
goes, or a parameter that an author must change, also needs an entry in ``framework/deprecated.py``,
a line in docs/plugins/migrating.md and a new first number of ``fwk.API_VERSION``.
"""

from __future__ import annotations

import inspect
import json
from enum import Enum
from pathlib import Path
from typing import Any, get_overloads

import podium
from podium import framework as fwk

RECORDED = Path(__file__).parents[1] / "data" / "plugin_api.json"
DECORATORS = ("filter", "permit", "post_bind", "pre_bind", "pre_enqueue", "score")


def described() -> dict[str, Any]:
    """Return every stable name with what an author can write about it."""
    names = {f"fwk.{name}": _described(getattr(fwk, name)) for name in sorted(fwk.__all__)}
    options = {f"podium.{name}": _options(name) for name in DECORATORS}
    return names | options | {"fwk.API_VERSION": list(fwk.API_VERSION)}


def _described(value: Any) -> Any:
    if inspect.isclass(value):
        if issubclass(value, Enum):
            return sorted(value.__members__)
        return dict(sorted(_members(value).items()))
    return _signature(value) if callable(value) else type(value).__name__


def _members(kind: type) -> dict[str, str]:
    """The public attributes of a class and their signatures; its fields, where it has some."""
    found = {"()": _signature(kind)}
    for name in dir(kind):
        if name.startswith("_"):
            continue
        value = inspect.getattr_static(kind, name)
        inner = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        is_method = inspect.isfunction(inner)
        found[name] = _signature(inner) if is_method else "attribute"
    return found


def _signature(value: Any) -> str:
    """Parameters with their defaults; not their types, which may become wider."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    parameters = [
        parameter.replace(annotation=parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name != "self"
    ]
    text = str(signature.replace(parameters=parameters, return_annotation=signature.empty))
    return text if " object at 0x" not in text else f"({', '.join(p.name for p in parameters)})"


def _options(name: str) -> list[str]:
    decorator = getattr(podium, name)
    call = decorator if inspect.isfunction(decorator) else type(decorator).__call__
    forms = [inspect.signature(form).parameters for form in get_overloads(call)]
    return sorted({option for form in forms for option in form} - {"function", "self"})


if __name__ == "__main__":
    RECORDED.write_text(json.dumps(described(), indent=1, sort_keys=True) + "\n")

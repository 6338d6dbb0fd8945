"""The parameters of a workload: replaces references such as ``$initNodes`` by their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from podium.config.problems import Problems, child, did_you_mean


class Parameters:
    """A workload's parameters; ``origin`` maps a filled-in field to its parameter."""

    def __init__(self, values: Mapping[str, Any], path: str, problems: Problems) -> None:
        self.values = values
        self.path = path
        self.problems = problems
        self.origin: dict[str, str] = {}
        self.are_complete = True  # missing ones are problems

    def fill(self, value: Any, path: str) -> Any:
        """Replace each ``fooParam: $name`` in a value by ``foo`` with the value of ``name``."""
        match value:
            case dict():
                return self._filled(value, path)
            case list():
                items = enumerate(value)
                return [self.fill(item, f"{path}[{index}]") for index, item in items]
        return value

    def _filled(self, raw: Mapping[str, Any], path: str) -> dict[str, Any]:
        filled: dict[str, Any] = {}
        for key, value in raw.items():
            where = child(path, key)
            if key == "templateParams" and isinstance(value, dict):
                filled[key] = {name: self._for_template(value[name], where) for name in value}
            elif key.endswith("Param"):
                field = key.removesuffix("Param")
                filled[field] = self._value(value, where)
                self.origin[child(path, field)] = f"{self.path}.{str(value)[1:]}"
            else:
                # A parameter takes precedence over a value of the same field.
                filled.setdefault(key, self.fill(value, where))
        return filled

    def _for_template(self, value: Any, where: str) -> Any:
        """Return the value of ``$name`` or ``$name|default``, and other values as they are."""
        if not isinstance(value, str) or not value.startswith("$"):
            return value
        name, has_default, default = value.partition("|")
        if has_default and name[1:] not in self.values:
            return yaml.safe_load(default)
        return self._value(name, where)

    def _value(self, reference: Any, where: str) -> Any:
        if not isinstance(reference, str) or not reference.startswith("$"):
            self.problems.invalid(where, reference, "must be a parameter, such as $initNodes")
            self.are_complete = False
        elif reference[1:] not in self.values:
            user = where.partition(".")[2]
            hint = did_you_mean(reference[1:], self.values)
            self.problems.add(self.path, f"{user} needs parameter {reference[1:]}{hint}")
            self.are_complete = False
        else:
            return self.values[reference[1:]]
        return None

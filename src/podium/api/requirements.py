"""One requirement on a label or a field: the only module that evaluates operators.

Used by ``selectors``, and by the state to evaluate requirements on whole columns of labels.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from podium.api.meta import HashedValue
from podium.api.names import label_key_problems, label_value_problems

IN = "In"
NOT_IN = "NotIn"
EXISTS = "Exists"
DOES_NOT_EXIST = "DoesNotExist"
GT = "Gt"
LT = "Lt"

_INTEGER = re.compile("([+-]?)([0-9]++)")
_INT64 = range(-(2**63), 2**63)


class Requirement(HashedValue, frozen=True, gc=False):
    """``key operator values``; equality with one value is written as In."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        return self.matches_value(labels.get(self.key))

    def matches_value(self, value: str | None) -> bool:
        """Whether a label with this value passes; None means that the label is missing."""
        operator = self.operator
        if operator == IN:
            return value in self.values
        if operator == NOT_IN:
            return value not in self.values
        if operator == EXISTS:
            return value is not None
        if operator == DOES_NOT_EXIST:
            return value is None
        return value is not None and self._compares(value)

    def _compares(self, value: str) -> bool:
        actual = parse_int64(value)
        wanted = parse_int64(self.values[0])
        if actual is None or wanted is None:
            return False
        return actual > wanted if self.operator == GT else actual < wanted


@lru_cache(maxsize=4096)
def parse_int64(text: str) -> int | None:
    """Parse a base-10 int64 as Go does; Python's ``int`` also accepts blanks and underscores."""
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    number = int(match[1] + (match[2].lstrip("0")[:20] or "0"))  # int64 has at most 19 digits
    return number if number in _INT64 else None


def requirement_problems(requirement: Requirement, path: str = "") -> list[str]:
    """Return why the API would refuse this requirement, in its words; it is at ``path``."""
    found = [*_key_problems(requirement.key, f"{path}key")]
    values = requirement.values
    found += _operator_problems(requirement, f"{path}values")
    for index, value in enumerate(values):
        if problems := label_value_problems(value):
            where = f"{path}values[{index}][{requirement.key}]"
            found.append(invalid(where, value, "; ".join(problems)))
    return found


def _key_problems(key: str, path: str) -> list[str]:
    problems = label_key_problems(key)
    return [invalid(path, key, "; ".join(problems))] if problems else []


def _operator_problems(requirement: Requirement, path: str) -> list[str]:
    operator, values = requirement.operator, requirement.values
    if operator in (IN, NOT_IN) and not values:
        return [invalid(path, values, "for 'in', 'notin' operators, values set can't be empty")]
    if operator in (EXISTS, DOES_NOT_EXIST) and values:
        return [invalid(path, values, "values set must be empty for exists and does not exist")]
    return _comparison_problems(values, path) if operator in (GT, LT) else []


def _comparison_problems(values: tuple[str, ...], path: str) -> list[str]:
    found = []
    if len(values) != 1:
        found.append(
            invalid(path, values, "for 'Gt', 'Lt' operators, exactly one value is required")
        )
    found += [
        invalid(f"{path}[{index}]", value, "for 'Gt', 'Lt' operators, the value must be an integer")
        for index, value in enumerate(values)
        if parse_int64(value) is None
    ]
    return found


def invalid(path: str, value: str | Sequence[str], detail: str) -> str:
    return f"{path}: Invalid value: {_quoted(value)}: {detail}"


def not_supported(path: str, value: str, supported: Sequence[str]) -> str:
    known = ", ".join(f'"{name}"' for name in supported)
    return f"{path}: Unsupported value: {_quoted(value)}: supported values: {known}"


def _quoted(value: str | Sequence[str]) -> str:
    # An empty list reaches the API server's message as nil.
    return json.dumps(value or None if not isinstance(value, str) else value, ensure_ascii=False)


def aggregate(errors: Sequence[str]) -> str:
    """Join several errors into one text, without repetitions, as upstream does."""
    distinct = list(dict.fromkeys(errors))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"

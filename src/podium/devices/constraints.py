"""Constraints of a claim: what its devices must have in common, or must not.

A constraint follows the search: ``add`` is called for each device that is chosen, ``remove`` when
the search takes it back, in reverse order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from podium.api.devices import DeviceAttribute
from podium.api.resource_claims import DeviceClaim, DeviceConstraint
from podium.devices.candidates import Candidate
from podium.devices.requests import Request
from podium.devices.rules import DeviceRules

# The type of an attribute and its value; None if there are several values, which never match.
Attribute = tuple[str, object] | None


class Constraint(ABC):
    """One constraint of a claim during one search."""

    def __init__(self, spec: DeviceConstraint, attribute: str) -> None:
        self._requests = frozenset(spec.requests)
        self._attribute = attribute

    def add(self, request: Request, candidate: Candidate) -> bool:
        """Take note of a device; return false, and note nothing, if it is not allowed."""
        if not self._concerns(request):
            return True
        found = candidate.known.attribute(self._attribute, candidate.content.driver)
        return found is not None and self._add(request, value_of(found))

    def remove(self, request: Request) -> None:
        """Undo the last ``add`` that returned true."""
        if self._concerns(request):
            self._remove(request)

    def _concerns(self, request: Request) -> bool:
        return not self._requests or any(name in self._requests for name in request.names)

    @abstractmethod
    def _add(self, request: Request, value: Attribute) -> bool: ...

    @abstractmethod
    def _remove(self, request: Request) -> None: ...


class SameValue(Constraint):
    """``matchAttribute``: all devices have the value of the first one."""

    _first: Attribute = None
    _count = 0

    def _add(self, request: Request, value: Attribute) -> bool:
        if not self._count:
            self._first = value
        elif value is None or value != self._first:
            return False
        self._count += 1
        return True

    def _remove(self, request: Request) -> None:
        self._count -= 1


class DistinctValues(Constraint):
    """``distinctAttribute``: no two devices have the same value."""

    def __init__(self, spec: DeviceConstraint, attribute: str) -> None:
        super().__init__(spec, attribute)
        self._values: list[Attribute] = []

    def _add(self, request: Request, value: Attribute) -> bool:
        if self._values and (value is None or value in self._values):
            return False
        self._values.append(value)
        return True

    def _remove(self, request: Request) -> None:
        self._values.pop()


class DistinctLastValues(Constraint):
    """``distinctAttribute`` as of 1.36, which remembers one device per request.

    After a device of a request was taken back, all other devices of that request are forgotten.
    """

    def __init__(self, spec: DeviceConstraint, attribute: str) -> None:
        super().__init__(spec, attribute)
        self._values: dict[str, Attribute] = {}
        self._count = 0

    def _add(self, request: Request, value: Attribute) -> bool:
        if self._count and self._values and (value is None or value in self._values.values()):
            return False
        self._values[request.base_name] = value
        self._count += 1
        return True

    def _remove(self, request: Request) -> None:
        self._values.pop(request.base_name, None)
        self._count -= 1


def constraints_of(claim: DeviceClaim, rules: DeviceRules) -> list[Constraint]:
    """Return the constraints of a claim, for one search."""
    distinct = DistinctValues if rules.remembers_every_value else DistinctLastValues
    return [
        SameValue(spec, spec.match_attribute)
        if spec.match_attribute is not None
        else distinct(spec, spec.distinct_attribute or "")
        for spec in claim.constraints
    ]


def value_of(attribute: DeviceAttribute) -> Attribute:
    """Return the value with its type, since 1 and true and "1" are different values."""
    if attribute.string_value is not None:
        return "string", attribute.string_value
    if attribute.int_value is not None:
        return "int", attribute.int_value
    if attribute.bool_value is not None:
        return "bool", attribute.bool_value
    if attribute.version_value is not None:
        return "version", attribute.version_value
    return None

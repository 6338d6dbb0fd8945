"""What claims ask for, prepared for the search: equal claims share one ``Shape``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, Protocol
from weakref import WeakKeyDictionary

from podium.api.devices import DeviceClass, DeviceSelector
from podium.api.resource_claims import (
    ALL,
    EXACT_COUNT,
    DeviceClaim,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaim,
)
from podium.devices.capacity import NO_CONSUMPTION, Consumption, consumption
from podium.devices.contents import KnownDevice, SliceContent
from podium.devices.rules import DeviceRules
from podium.devices.selectors import Selectors
from podium.errors import AllocationError, InvalidQuantity

RequestSpec = ExactDeviceRequest | DeviceSubRequest

_DISABLED: Final = "but the DRA{} feature is disabled"


class Classes(Protocol):
    """Finds device classes by name, such as a dict or the cluster's objects of this kind."""

    def get(self, name: str, /) -> DeviceClass | None: ...


class SelectorText(NamedTuple):
    """A selector: its expression, its position, and the class if it is not the request's own."""

    text: str
    position: int
    class_name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A request, or one alternative of a request with several.

    ``own_name`` is how messages call it, ``name`` how results do. ``error`` is why it cannot be
    allocated anywhere, without the name of the claim. ``names`` are those under which
    constraints and configs may mention it. ``conditions`` are the selectors, in the order in which
    they are asked.
    """

    name: str
    own_name: str
    base_name: str
    spec: RequestSpec
    device_class: DeviceClass | None
    error: str
    conditions: tuple[SelectorText, ...]
    _selected: WeakKeyDictionary[SliceContent, list[bool | None]] = field(
        default_factory=WeakKeyDictionary
    )
    _consumptions: WeakKeyDictionary[SliceContent, list[object]] = field(
        default_factory=WeakKeyDictionary
    )

    @property
    def is_alternative(self) -> bool:
        return self.name != self.base_name

    @property
    def names(self) -> tuple[str, ...]:
        return (self.base_name, self.name) if self.is_alternative else (self.name,)

    @property
    def is_all(self) -> bool:
        return self.spec.allocation_mode == ALL

    @property
    def has_admin_access(self) -> bool:
        return isinstance(self.spec, ExactDeviceRequest) and bool(self.spec.admin_access)

    def selected(self, content: SliceContent) -> list[bool | None]:
        """Return the list in which is kept whether all selectors match each device."""
        found = self._selected.get(content)
        if found is None:
            found = self._selected[content] = [None] * len(content.devices)
        return found

    def consumption(
        self, content: SliceContent, index: int, rules: DeviceRules
    ) -> Consumption | None:
        """Return what the request consumes of a device; ``None`` if it cannot use it.

        The answer or error is kept.
        """
        kept = self._consumptions.get(content)
        if kept is None:
            kept = self._consumptions[content] = [_UNKNOWN] * len(content.devices)
        found = kept[index]
        if found is _UNKNOWN:
            found = kept[index] = self._consume(content.devices[index], rules)
        if isinstance(found, str):
            raise AllocationError(found)
        return found  # type: ignore[return-value]  # what _consume returned

    def _consume(self, known: KnownDevice, rules: DeviceRules) -> Consumption | str | None:
        asked = self.spec.capacity.requests if self.spec.capacity is not None else {}
        if not known.device.capacity and not asked:
            return NO_CONSUMPTION
        try:
            return consumption(asked, known.device.capacity, rules)
        except (AllocationError, InvalidQuantity) as error:
            return str(error)


_UNKNOWN: Final = object()


@dataclass(frozen=True, slots=True, eq=False)
class Alternatives:
    """A request with what can satisfy it: itself, or the alternatives in their order."""

    requests: tuple[Request, ...]
    has_choice: bool


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """A claim's part in a shape. ``error`` is about its constraints, without the claim's name."""

    spec: DeviceClaim
    requests: tuple[Alternatives, ...]
    error: str


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """What one or more claims ask for together. ``classes`` are those that it was made with."""

    claims: tuple[Claim, ...]
    classes: dict[str, DeviceClass | None]

    def is_current(self, classes: Classes) -> bool:
        """Whether the classes are still the same."""
        return all(classes.get(name) is found for name, found in self.classes.items())

    def attributes_read(self, selectors: Selectors) -> frozenset[str] | None:
        """Return the attributes whose values a search may read; ``None`` if it may be all."""
        names: set[str] = set()
        for claim in self.claims:
            for constraint in claim.spec.constraints:
                for name in (constraint.match_attribute, constraint.distinct_attribute):
                    names.add((name or "").rpartition("/")[2])
            for alternatives in claim.requests:
                for request in alternatives.requests:
                    for condition in request.conditions:
                        read = selectors.attributes_read(condition.text)
                        if read is None:
                            return None
                        names |= read
        return frozenset(names)


def shape_of(claims: Sequence[ResourceClaim], classes: Classes, rules: DeviceRules) -> Shape:
    """Return the shape of claims, with everything that is wrong in them noted."""
    found = Shape(tuple(_claim(claim.spec.devices, classes, rules) for claim in claims), {})
    for claim in found.claims:
        for alternatives in claim.requests:
            for request in alternatives.requests:
                name = request.spec.device_class_name
                found.classes[name] = request.device_class
    return found


def _claim(spec: DeviceClaim, classes: Classes, rules: DeviceRules) -> Claim:
    requests = tuple(_alternatives(request, classes, rules) for request in spec.requests)
    error = ""
    for index, constraint in enumerate(spec.constraints):
        is_distinct = constraint.distinct_attribute is not None and not rules.is_plain
        if constraint.match_attribute is None and not is_distinct:
            error = f"constraint #{index}: empty constraint (unsupported constraint type?)"
            break
    return Claim(spec, requests, error)


def _alternatives(given: DeviceRequest, classes: Classes, rules: DeviceRules) -> Alternatives:
    feature_error = _feature_error(given, rules)
    if not given.first_available:
        only = _request(given.name, "", given.exactly or ExactDeviceRequest(), classes)
        return Alternatives((_checked(only, feature_error, rules),), has_choice=False)
    found = (_request(given.name, sub.name, sub, classes) for sub in given.first_available)
    return Alternatives(
        tuple(_checked(each, feature_error, rules) for each in found), has_choice=True
    )


def _request(base: str, sub: str, spec: RequestSpec, classes: Classes) -> Request:
    device_class = classes.get(spec.device_class_name)
    conditions = [*_conditions(spec.selectors)]
    if device_class is not None:
        conditions[:0] = _conditions(device_class.spec.selectors, device_class.name)
    name = f"{base}/{sub}" if sub else base
    return Request(name, sub or base, base, spec, device_class, "", tuple(conditions))


def _conditions(
    selectors: Sequence[DeviceSelector], class_name: str = ""
) -> Iterator[SelectorText]:
    for position, selector in enumerate(selectors):
        yield SelectorText(selector.cel.expression if selector.cel else "", position, class_name)


def _checked(request: Request, feature_error: str, rules: DeviceRules) -> Request:
    """Return the request with why it cannot be allocated anywhere, if so."""
    return replace(request, error=feature_error or _error(request, rules))


def _feature_error(request: DeviceRequest, rules: DeviceRules) -> str:
    """Return what the request uses of a feature that is off."""
    if request.first_available and not rules.prioritized_list:
        return f"request {request.name}: has subrequests, {_DISABLED.format('PrioritizedList')}"
    if rules.consumable_capacity or rules.is_plain:
        return ""
    off = f"has capacity requests, {_DISABLED.format('ConsumableCapacity')}"
    if request.exactly is not None and request.exactly.capacity is not None:
        return f"request {request.name}: {off}"
    for sub in request.first_available:
        if sub.capacity is not None:
            return f"subrequest {sub.name}: {off}"
    return ""


def _error(request: Request, rules: DeviceRules) -> str:
    """Return why a request cannot be allocated, as upstream checks it; empty if it can."""
    spec, where = request.spec, f"request {request.own_name}"
    if spec.derived_attributes and rules.refuses_derived_attributes:
        return f"{where}: cannot handle request with derived attributes, the feature is disabled"
    for index, selector in enumerate(spec.selectors):
        if selector.cel is None:
            why = "CEL expression empty (unsupported selector type?)"
            return f"{where}, selector #{index}: {why}"
    asks_admin = isinstance(spec, ExactDeviceRequest) and spec.admin_access is not None
    if asks_admin and not rules.admin_access:
        return f"{where}: admin access is requested, but the feature is disabled"
    class_name = spec.device_class_name
    if not class_name:
        return f"{where}: missing device class name (unsupported request type?)"
    if request.device_class is None:
        why = f'deviceclass.resource.k8s.io "{class_name}" not found'
        return f"{where}: could not retrieve device class {class_name}: {why}"
    if spec.allocation_mode not in (EXACT_COUNT, ALL):
        return f"{where}: unsupported count mode {spec.allocation_mode}"
    return ""

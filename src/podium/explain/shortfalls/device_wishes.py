"""What a pod asks for in devices, and how many a node has that would do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from podium.api.objects import DeviceRequest
from podium.api.resource_claims import (
    EXACT_COUNT,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
)
from podium.api.taints import find_untolerated
from podium.devices.candidates import Candidate
from podium.explain.amounts import listed, plural
from podium.explain.case import Case
from podium.explain.shortfalls.device_holders import Conditions, expressions, matches_all
from podium.explain.shortfalls.resources import provided_to
from podium.plugins.dynamic_resources.extended import needs_of
from podium.plugins.dynamic_resources.pod_claims import PodClaims

_EXTENDED: Final = "its extended resource"
_TAINTED: Final = "a taint that it does not tolerate"


# --- what the pod asks for ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Way:
    """One way to serve a request: so many devices of a class; all of them if ``count`` is 0."""

    device_class: str
    count: int
    of_class: Conditions
    conditions: Conditions  # with those of the request
    tolerations: tuple[DeviceToleration, ...]

    @property
    def text(self) -> str:
        devices = plural(self.count, "device") if self.count else "all devices"
        return f"{devices} of class {self.device_class}"


@dataclass(frozen=True, slots=True)
class Wish:
    """What requests of a class ask for together, or one request with alternatives."""

    claims: tuple[str, ...]
    requests: tuple[str, ...]
    ways: tuple[Way, ...]
    is_choice: bool = False

    @property
    def classes(self) -> list[str]:
        return list(dict.fromkeys(way.device_class for way in self.ways))

    @property
    def count(self) -> int:
        """How many devices are wanted: of a choice, those of the smallest alternative."""
        counts = [way.count for way in self.ways]
        return min(counts) if self.is_choice else sum(counts)

    @property
    def text(self) -> str:
        names = [name if name == _EXTENDED else f"claim {name}" for name in self.claims]
        which = f"{names[0]} wants" if len(names) == 1 else "its claims together want"
        if self.is_choice:
            return f"{which} {' or '.join(way.text for way in self.ways)}"
        together = [way.text for way in self.ways if not way.count]
        if self.count:
            total = plural(self.count, "device")
            together.insert(0, f"{total} of class {listed(self.classes)}")
        return f"{which} {' and '.join(together)}"

    def and_also(self, other: Wish) -> Wish:
        return Wish(
            tuple(dict.fromkeys((*self.claims, *other.claims))),
            (*self.requests, *other.requests),
            (*self.ways, *other.ways),
        )

    def is_short(self, supply: Supply) -> bool:
        if self.is_choice:
            return all(supply.is_short_of(way.count) for way in self.ways)
        wants_all = any(not way.count for way in self.ways)
        return supply.is_short_of(self.count) or (wants_all and supply.is_short_of(0))


def wishes_of(case: Case, row: int) -> list[Wish]:
    """Return what the pod asks for that has no allocation: by class, choices apart."""
    found: dict[object, Wish] = {}
    for claim, request in _requests(case, row):
        wish = _wish(case, claim, request)
        key = (claim, request.name) if wish.is_choice else tuple(wish.classes)
        known = found.get(key)
        found[key] = wish if known is None else known.and_also(wish)
    return list(found.values())


def _requests(case: Case, row: int) -> Iterator[tuple[str, DeviceRequest]]:
    """Yield the requests of claims, and those that extended resources result in on this node."""
    claims = case.kept(PodClaims)
    for index in () if claims is None else claims.to_allocate:
        assert claims is not None
        claim = claims.claims[index]
        if claim is not claims.extended:
            yield from ((claim.name, request) for request in claim.spec.devices.requests)
            continue
        node = case.node(row)
        names = [name for name in provided_to(case) if not node.allocatable(name)]
        needs = needs_of(case.pod, names, case.core.services.devices.extended_resources)
        yield from ((_EXTENDED, request) for request in needs.requests)


def _wish(case: Case, claim: str, request: DeviceRequest) -> Wish:
    asked = (*(() if request.exactly is None else (request.exactly,)), *request.first_available)
    ways = tuple(_way(case, each) for each in asked)
    return Wish((claim,), (request.name,), ways, is_choice=len(ways) > 1)


def _way(case: Case, asked: ExactDeviceRequest | DeviceSubRequest) -> Way:
    found = case.core.services.devices.classes.get(asked.device_class_name)
    of_class = expressions(() if found is None else found.spec.selectors)
    count = asked.count or 1 if asked.allocation_mode in ("", EXACT_COUNT) else 0
    own = expressions(asked.selectors)
    return Way(asked.device_class_name, count, of_class, (*of_class, *own), asked.tolerations)


# --- what the node has ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Supply:
    """The devices of a node that are of the wanted classes.

    Of these, some do not match the selectors; of the others some are taken, and of the rest some
    have a taint that is not tolerated.
    """

    total: int = 0
    unmatched: int = 0
    taken: int = 0
    tainted: int = 0

    def is_short_of(self, count: int) -> bool:
        """Return whether there are fewer than this; with 0, whether all cannot be had."""
        if count:
            return self.total - self.unmatched - self.taken - self.tainted < count
        return self.total == self.unmatched or bool(self.taken or self.tainted)

    @property
    def text(self) -> str:
        kinds = (
            (self.unmatched, "does not match its selectors", "do not match its selectors"),
            (self.taken, "is taken", "are taken"),
            (self.tainted, f"has {_TAINTED}", f"have {_TAINTED}"),
        )
        if not self.total:
            return "none"
        if self.unmatched == self.total > 1:
            return f"{self.total}, and none matches its selectors"
        for count, one, many in kinds:
            if count == self.total:
                return f"{count}, and {f'it {one}' if count == 1 else f'all {many}'}"
        parts = [f"{count} {one if count == 1 else many}" for count, one, many in kinds if count]
        return f"{self.total}, of which {listed(parts)}" if parts else str(self.total)


def supply_of(case: Case, wish: Wish, row: int) -> Supply:
    """Count the devices that a node has for a wish."""
    devices = case.core.services.devices
    fates = Counter(
        _fate(
            case, wish.ways, each, is_taken=devices.taken.is_taken(each.pool.key, each.known.name)
        )
        for each in devices.devices_on(row)
    )
    return Supply(
        fates.total() - fates["other"], fates["unmatched"], fates["taken"], fates["tainted"]
    )


def _fate(case: Case, ways: Sequence[Way], device: Candidate, *, is_taken: bool) -> str:
    """Return whether a device can serve one of these ways, and why not."""
    rules = case.core.services.device_rules
    view = device.known.view(device.content.driver, rules)
    mine = [way for way in ways if matches_all(way.of_class, view, rules.release)]
    suitable = [way for way in mine if matches_all(way.conditions, view, rules.release)]
    if not suitable:
        return "unmatched" if mine else "other"
    if is_taken:
        return "taken"
    taints = device.known.blocking_taints
    is_tolerated = any(find_untolerated(taints, way.tolerations) is None for way in suitable)
    return "free" if is_tolerated else "tainted"

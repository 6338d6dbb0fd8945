"""The allocation of claims, written as what is allowed: try everything, take the first.

Slow and plain: it lists every way to satisfy the claims, in order, and checks each as a whole. It
knows the rules of 1.37 for pools that are complete and valid, and no errors.
"""

from dataclasses import dataclass, field
from itertools import combinations

import msgspec

from podium.api.quantity import parse
from podium.api.taints import find_untolerated
from podium.cel import compile_selector, device_view
from podium.release import LATEST


@dataclass
class Place:
    """A device that the node can use."""

    driver: str
    pool: str
    device: object
    counters: dict = field(default_factory=dict)

    @property
    def id(self):
        return self.driver, self.pool, self.device.name

    @property
    def is_shareable(self):
        return self.device.allow_multiple_allocations


class Model:
    """``places`` are in order; ``held`` are the results that others have."""

    def __init__(self, places, classes, held):
        self.places = places
        self.classes = classes
        self.held = [result for result in held if not result.admin_access]

    def allocate(self, claims):
        """Return the first solution: for each claim, pairs of request and device."""
        for ways in self.all_ways(claims):
            picks = [pick for way in ways for pick in way]
            if self.is_allowed(claims, ways, picks):
                return [[(name, place.id) for name, place, _, _ in way] for way in ways]
        return None

    def all_ways(self, claims):
        if not claims:
            yield []
            return
        for way in self.ways_of_claim(len(claims), claims[0].spec.devices.requests):
            for rest in self.all_ways(claims[1:]):
                yield [way, *rest]

    def ways_of_claim(self, number, requests):
        if not requests:
            yield []
            return
        for way in self.ways_of_request(number, requests[0]):
            for rest in self.ways_of_claim(number, requests[1:]):
                yield way + rest

    def ways_of_request(self, number, request):
        if request.exactly is not None:
            yield from self.ways_of(number, request.name, request.exactly)
        for sub in request.first_available:
            yield from self.ways_of(number, f"{request.name}/{sub.name}", sub)

    def ways_of(self, number, name, spec):
        matching = [place for place in self.places if self.is_selected(spec, place)]
        if spec.allocation_mode == "All":
            matching = [place for place in matching if fits(place, [wanted(spec, place)])]
            chosen = [tuple(matching)] if matching else []
        else:
            chosen = combinations(matching, spec.count)
        for places in chosen:
            yield [(name, place, spec, number) for place in places]

    def is_selected(self, spec, place):
        selectors = (*self.classes[spec.device_class_name].spec.selectors, *spec.selectors)
        view = device_view(place.driver, msgspec.to_builtins(place.device), LATEST)
        return all(
            compile_selector(each.cel.expression, LATEST).matches(view) for each in selectors
        )

    # --- what is allowed ---------------------------------------------------------------------

    def is_allowed(self, claims, ways, picks):
        return (
            all(
                find_untolerated(place.device.taints, spec.tolerations) is None
                for _, place, spec, _ in picks
            )
            and self.are_free(picks)
            and all(self.has_capacity(place, picks) for _, place, _, _ in picks)
            and self.has_counters(picks)
            and all(keeps_constraints(claim, way) for claim, way in zip(claims, ways, strict=True))
        )

    def are_free(self, picks):
        alone = {id_of(result) for result in self.held if result.share_id is None}
        chosen = []
        for _, place, spec, number in picks:
            if getattr(spec, "admin_access", None):
                if (place.id, number) in chosen:
                    return False
            elif place.id in alone or any(place.id == other for other, _ in chosen):
                return False
            if not place.is_shareable:
                chosen.append((place.id, number))
        return True

    def has_capacity(self, place, picks):
        amounts = [wanted(spec, other) for _, other, spec, _ in picks if other.id == place.id]
        if not place.is_shareable:
            return all(fits(place, [amount]) for amount in amounts)
        held = [
            {name: parse(amount) for name, amount in result.consumed_capacity.items()}
            for result in self.held
            if id_of(result) == place.id and result.share_id is not None
        ]
        return fits(place, [*held, *amounts])

    def has_counters(self, picks):
        for pool in {(place.driver, place.pool) for _, place, _, _ in picks}:
            there = [place for place in self.places if (place.driver, place.pool) == pool]
            taken = {id_of(result) for result in self.held}
            shared = {id_of(result) for result in self.held if result.share_id is not None}
            charged = []
            for _, place, _, _ in picks:
                if (place.driver, place.pool) != pool or not consumed(place):
                    continue
                if place.is_shareable and (place.id in shared or place in charged):
                    continue
                charged.append(place)
            used = [*charged, *(place for place in there if place.id in taken)]
            if charged and any(
                sum(consumed(place).get(counter, 0) for place in used) > total
                for counter, total in there[0].counters.items()
            ):
                return False
        return True


def id_of(result):
    return result.driver, result.pool, result.device


def consumed(place):
    return {
        (each.counter_set, name): parse(counter.value)
        for each in place.device.consumes_counters
        for name, counter in each.counters.items()
    }


def wanted(spec, place):
    """Return what the request takes of each capacity; None if the device does not have it."""
    asked = spec.capacity.requests if spec.capacity is not None else {}
    if not asked.keys() <= place.device.capacity.keys():
        return None
    return {
        name: parse(asked.get(name, capacity.value))
        for name, capacity in place.device.capacity.items()
    }


def fits(place, amounts):
    return None not in amounts and all(
        sum(amount.get(name, 0) for amount in amounts) <= parse(capacity.value)
        for name, capacity in place.device.capacity.items()
    )


def keeps_constraints(claim, way):
    for constraint in claim.spec.devices.constraints:
        name = constraint.match_attribute or constraint.distinct_attribute
        values = [
            value_of(place, name)
            for request, place, _, _ in way
            if not constraint.requests
            or request in constraint.requests
            or request.partition("/")[0] in constraint.requests
        ]
        if None in values:
            return False
        if constraint.match_attribute and len(set(values)) > 1:
            return False
        if not constraint.match_attribute and len(set(values)) < len(values):
            return False
    return True


def value_of(place, name):
    found = place.device.attributes.get(name)
    domain, _, identifier = name.partition("/")
    if found is None and domain == place.driver:
        found = place.device.attributes.get(identifier)
    return None if found is None else msgspec.json.encode(found)

"""The search for devices: depth first, in a fixed order, so that it always finds the same ones.

Claims are satisfied in their order, requests in theirs, and devices are tried in the order of the
node's candidates. The first complete solution is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from podium.api.taints import find_untolerated
from podium.devices.candidates import Candidate
from podium.devices.capacity import NO_CONSUMPTION, Consumption
from podium.devices.chosen import Chosen
from podium.devices.constraints import Constraint, constraints_of
from podium.devices.inventory import NodeDevices
from podium.devices.requests import Request, SelectorText, Shape
from podium.devices.rules import DeviceRules
from podium.devices.selectors import Selectors
from podium.devices.taken import TakenDevices
from podium.errors import AllocationError

# How many devices one claim can have.
MAX_RESULTS: Final = 32


class Step(Enum):
    """The end of a part of the search."""

    DONE = "everything is allocated"
    FAILED = "there is no solution with what was chosen before"
    TOO_MANY = "whatever comes next, the claim would get too many devices"


class Pick(NamedTuple):
    """A chosen device: where it is among the candidates, and what is consumed of it."""

    request: Request
    location: int
    consumption: Consumption


@dataclass(frozen=True, slots=True)
class Solution:
    """The chosen devices of each claim, and for each of its requests the chosen alternative."""

    picks: tuple[tuple[Pick, ...], ...]
    alternatives: tuple[tuple[int, ...], ...]


class SearchContext(NamedTuple):
    """The data that all searches read, on every node."""

    taken: TakenDevices
    selectors: Selectors
    rules: DeviceRules


class Search:
    """One attempt to allocate claims on one node; ``keys`` are the claims' names in messages.

    ``check_time`` is called at every step; it raises when the search takes too long.

    Invariant: ``_picks``, ``_chosen`` and ``_constraints`` hold the same devices between any two
    steps. What a step adds it takes back, unless the search is done.
    """

    def __init__(
        self,
        shape: Shape,
        keys: Sequence[str],
        devices: NodeDevices,
        context: SearchContext,
        check_time: Callable[[], object],
    ) -> None:
        self._claims = shape.claims
        self._keys = keys
        self._devices = devices
        self._candidates = devices.candidates
        self._taken, self._selectors, self._rules = context
        self._check_time = check_time
        self._all_locations: dict[Request, list[int]] = {}
        self._constraints: list[list[Constraint]] = []
        self._chosen = Chosen(self._taken, self._rules)
        self._picks: list[list[Pick]] = [[] for _ in self._claims]
        self._alternatives = [[0] * len(claim.requests) for claim in self._claims]

    def run(self) -> Solution | None:
        """Return the first solution, None if there is none; ``AllocationError`` for bad input."""
        if self._devices.error:
            raise AllocationError(self._devices.error)
        self._prepare()
        try:
            step = self._allocate_claim(0)
        except RecursionError:
            raise AllocationError("too many devices are requested at once") from None
        if step is not Step.DONE:
            return None
        return Solution(tuple(map(tuple, self._picks)), tuple(map(tuple, self._alternatives)))

    # --- before the search -----------------------------------------------------------------------

    def _prepare(self) -> None:
        """Check the claims, and list the devices for requests that want all of them."""
        for claim_index, claim in enumerate(self._claims):
            least = 0
            for alternatives in claim.requests:
                least += min(self._size(claim_index, request) for request in alternatives.requests)
            if least > MAX_RESULTS:
                what = f"number of requested devices {least}"
                raise self._error(claim_index, f": {what} exceeds the claim limit of {MAX_RESULTS}")
            if claim.error:
                raise self._error(claim_index, f", {claim.error}")
            self._constraints.append(constraints_of(claim.spec, self._rules))

    def _size(self, claim_index: int, request: Request) -> int:
        """Return how many devices the request needs."""
        if request.error:
            raise self._error(claim_index, f", {request.error}")
        if not request.is_all:
            return request.spec.count
        self._all_locations[request] = list(self._locations_of_all(claim_index, request))
        return len(self._all_locations[request])

    def _locations_of_all(self, claim_index: int, request: Request) -> Iterator[int]:
        """Yield the devices of a request for all of them; raise if they cannot be known.

        It goes pool by pool, so that the first problem is the one that upstream reports.
        """
        location = 0
        for pool in self._devices.pools:
            if not pool.is_usable:
                state = "being updated" if pool.is_incomplete else "invalid"
                what = f"asks for all devices, but resource pool {pool.key} is currently {state}"
                raise self._error(claim_index, f", request {request.own_name}: {what}")
            while location < len(self._candidates) and self._candidates[location].pool is pool:
                if self._is_selected(claim_index, request, location) and self._is_one_of_all(
                    claim_index, request, location
                ):
                    yield location
                location += 1

    def _is_one_of_all(self, claim_index: int, request: Request, location: int) -> bool:
        """Whether All includes this device; in 1.36 only if it has enough capacity left."""
        if not self._rules.consumable_capacity:
            return True
        candidate = self._candidates[location]
        if not self._rules.all_ignores_use:
            return self._fitting_consumption(claim_index, request, location) is not None
        consumption = self._consumption(claim_index, request, location, candidate.known.name)
        return consumption is not None and consumption.fits()

    # --- the steps -------------------------------------------------------------------------------

    def _allocate_claim(self, claim_index: int) -> Step:
        if claim_index == len(self._claims):
            return Step.DONE
        step = self._allocate_request(claim_index, 0)
        # Other devices for an earlier claim may lead to an alternative with fewer devices here.
        return Step.FAILED if step is Step.TOO_MANY else step

    def _allocate_request(self, claim_index: int, request_index: int) -> Step:
        requests = self._claims[claim_index].requests
        if request_index == len(requests):
            return self._allocate_claim(claim_index + 1)
        if not requests[request_index].has_choice:
            return self._allocate_devices(
                claim_index, request_index, requests[request_index].requests[0], 0
            )
        all_too_many = True
        for choice, request in enumerate(requests[request_index].requests):
            self._alternatives[claim_index][request_index] = choice
            step = self._allocate_devices(claim_index, request_index, request, 0)
            if step is Step.DONE:
                return step
            if step is Step.FAILED:
                all_too_many = False
        return Step.TOO_MANY if all_too_many else Step.FAILED

    def _allocate_devices(
        self, claim_index: int, request_index: int, request: Request, start: int, done: int = 0
    ) -> Step:
        """Find the next device of a request, of which ``done`` are found, from ``start`` on.

        Each device takes a stack frame, of which Python has enough for hundreds of devices.
        """
        self._check_time()
        every = self._all_locations.get(request)
        wanted = request.spec.count if every is None else len(every)
        if done >= wanted:
            if every == []:
                return Step.FAILED  # of all devices there must be at least one
            return self._allocate_request(claim_index, request_index + 1)
        if len(self._picks[claim_index]) + wanted - done > MAX_RESULTS:
            return Step.TOO_MANY
        pick = self._pick if every is None else self._pick_from_all
        for location in range(start, len(self._candidates)) if every is None else (every[done],):
            if not pick(claim_index, request, location):
                continue
            step = self._allocate_devices(
                claim_index, request_index, request, location + 1, done + 1
            )
            if step is Step.DONE:
                return step
            self._take_back(claim_index, request)
            if step is Step.TOO_MANY:
                return step
        return Step.FAILED

    # --- one device ------------------------------------------------------------------------------

    def _pick(self, claim_index: int, request: Request, location: int) -> bool:
        """Choose a device for a request if it can be used."""
        candidate = self._candidates[location]
        if self._chosen.is_in_use(candidate, location, claim_index, request.has_admin_access):
            return False
        if not self._is_selected(claim_index, request, location):
            return False
        consumption = self._fitting_consumption(claim_index, request, location)
        if consumption is None or not self._chosen.charge(candidate, location):
            return False
        is_tolerated = self._is_tolerated(request, candidate)
        if not is_tolerated or not self._satisfies_constraints(claim_index, request, candidate):
            self._chosen.refund(candidate, location)
            return False
        self._choose(claim_index, Pick(request, location, consumption))
        return True

    def _pick_from_all(self, claim_index: int, request: Request, location: int) -> bool:
        """Choose the next device of a request for all devices; a broken constraint is an error."""
        candidate = self._candidates[location]
        if self._chosen.is_in_use(candidate, location, claim_index, request.has_admin_access):
            return False
        if not self._chosen.charge(candidate, location):
            return False
        if not self._is_tolerated(request, candidate):
            self._chosen.refund(candidate, location)
            return False
        if not self._satisfies_constraints(claim_index, request, candidate):
            what = f"cannot add device {candidate.id}"
            why = "because a claim constraint would not be satisfied"
            raise self._error(claim_index, f", request {request.own_name}: {what} {why}")
        consumption = self._fitting_consumption(claim_index, request, location)
        if consumption is None:
            self._leave_constraints(claim_index, request, len(self._constraints[claim_index]))
            self._chosen.refund(candidate, location)
            return False
        self._choose(claim_index, Pick(request, location, consumption))
        return True

    def _choose(self, claim_index: int, pick: Pick) -> None:
        self._picks[claim_index].append(pick)
        self._chosen.add(self._candidates[pick.location], pick, claim_index)

    def _take_back(self, claim_index: int, request: Request) -> None:
        pick = self._picks[claim_index].pop()
        candidate = self._candidates[pick.location]
        self._chosen.remove(candidate, pick, claim_index)
        self._leave_constraints(claim_index, request, len(self._constraints[claim_index]))
        self._chosen.refund(candidate, pick.location)

    def _is_selected(self, claim_index: int, request: Request, location: int) -> bool:
        """Whether the selectors of class and request match, and the device is for this node."""
        candidate = self._candidates[location]
        kept = request.selected(candidate.content)
        found = kept[candidate.position]
        if found is None:
            found = kept[candidate.position] = self._matches(claim_index, request, candidate)
        return found and candidate.is_for_node

    def _matches(self, claim_index: int, request: Request, candidate: Candidate) -> bool:
        known = candidate.known
        if known.is_malformed:
            return False
        if known.device.binding_conditions and not self._rules.binding_conditions:
            return False
        for condition in request.conditions:
            answer = self._selectors.answer(condition.text, candidate.content, candidate.position)
            if answer is False:
                return False
            if answer is not True:
                raise self._selector_error(claim_index, condition, candidate, answer)
        return True

    def _fitting_consumption(
        self, claim_index: int, request: Request, location: int
    ) -> Consumption | None:
        """Return what the request consumes of a device; None if there is not enough left."""
        if not self._rules.consumable_capacity:
            return NO_CONSUMPTION
        candidate = self._candidates[location]
        found = self._consumption(claim_index, request, location, candidate.id)
        if found is None or not found.amounts:
            return found
        return found if self._chosen.has_room(candidate, location, found) else None

    def _consumption(
        self, claim_index: int, request: Request, location: int, device: str
    ) -> Consumption | None:
        candidate = self._candidates[location]
        try:
            return request.consumption(candidate.content, candidate.position, self._rules)
        except AllocationError as error:
            if not self._rules.rejects_bad_capacity_requests:
                return None
            where = f", request {request.own_name}: checking capacity for device {device}"
            raise self._error(claim_index, f"{where}: {error}") from None

    def _is_tolerated(self, request: Request, candidate: Candidate) -> bool:
        blocking = candidate.known.blocking_taints
        return not blocking or find_untolerated(blocking, request.spec.tolerations) is None

    def _satisfies_constraints(
        self, claim_index: int, request: Request, candidate: Candidate
    ) -> bool:
        """Add a device to all constraints; return false, and add it to none, if one forbids it."""
        for count, constraint in enumerate(self._constraints[claim_index]):
            if not constraint.add(request, candidate):
                self._leave_constraints(claim_index, request, count)
                return False
        return True

    def _leave_constraints(self, claim_index: int, request: Request, count: int) -> None:
        """Take the last device back from the first ``count`` constraints."""
        for constraint in reversed(self._constraints[claim_index][:count]):
            constraint.remove(request)

    # --- errors ----------------------------------------------------------------------------------

    def _error(self, claim_index: int, rest: str) -> AllocationError:
        return AllocationError(f"claim {self._keys[claim_index]}{rest}")

    def _selector_error(
        self, claim_index: int, condition: SelectorText, candidate: Candidate, why: str
    ) -> AllocationError:
        source = f"class {condition.class_name}" if condition.class_name else ""
        where = f"{source or f'claim {self._keys[claim_index]}'}: selector #{condition.position}"
        if self._selectors.compile_error(condition.text):
            return AllocationError(f"{where}: CEL compile error: {why}")
        on = f" on device {candidate.id}" if self._rules.names_devices else ""
        return AllocationError(f"{where}{on}: CEL runtime error: {why}")

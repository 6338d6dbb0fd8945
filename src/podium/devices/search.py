"""The search for devices: depth first, in a fixed order, so that it always finds the same ones.

Claims are satisfied in their order, requests in theirs, and devices are tried in the order of the
node's candidates. The first complete solution is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from podium.api.taints import find_untolerated
from podium.devices.candidates import Candidate
from podium.devices.capacity import NO_CONSUMPTION, Consumption
from podium.devices.chosen import Chosen
from podium.devices.constraints import Constraint, constraints_of
from podium.devices.inventory import NodeDevices
from podium.devices.requests import Condition, Request, Shape
from podium.devices.rules import DeviceRules
from podium.devices.selectors import Selectors
from podium.devices.taken import TakenDevices
from podium.errors import AllocationError

# How many devices one claim can have.
MAX_RESULTS: Final = 32


class Step(Enum):
    """How a part of the search ended."""

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


class Surroundings(NamedTuple):
    """What every search on every node reads."""

    taken: TakenDevices
    selectors: Selectors
    rules: DeviceRules


class Search:
    """One attempt to allocate claims on one node; ``keys`` are the claims' names in messages.

    ``check_time`` is called at every step; it raises when the search takes too long.
    """

    def __init__(
        self,
        shape: Shape,
        keys: Sequence[str],
        devices: NodeDevices,
        around: Surroundings,
        check_time: Callable[[], object],
    ) -> None:
        self._claims = shape.claims
        self._keys = keys
        self._devices = devices
        self._candidates = devices.candidates
        self._taken, self._selectors, self._rules = around
        self._check_time = check_time
        self._all: dict[Request, list[int]] = {}
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
            step = self._claim(0)
        except RecursionError:
            raise AllocationError("too many devices are requested at once") from None
        if step is not Step.DONE:
            return None
        return Solution(tuple(map(tuple, self._picks)), tuple(map(tuple, self._alternatives)))

    # --- before the search -----------------------------------------------------------------------

    def _prepare(self) -> None:
        """Check the claims, and list the devices for requests that want all of them."""
        for number, claim in enumerate(self._claims):
            least = 0
            for alternatives in claim.requests:
                least += min(self._size(number, request) for request in alternatives.requests)
            if least > MAX_RESULTS:
                what = f"number of requested devices {least}"
                raise self._error(number, f": {what} exceeds the claim limit of {MAX_RESULTS}")
            if claim.error:
                raise self._error(number, f", {claim.error}")
            self._constraints.append(constraints_of(claim.spec, self._rules))

    def _size(self, number: int, request: Request) -> int:
        """Return how many devices the request needs."""
        if request.error:
            raise self._error(number, f", {request.error}")
        if not request.is_all:
            return request.spec.count
        where = f", request {request.own_name}"
        for pool in self._devices.pools:
            if not pool.is_usable:
                state = "being updated" if pool.is_incomplete else "invalid"
                what = f"asks for all devices, but resource pool {pool.key} is currently {state}"
                raise self._error(number, f"{where}: {what}")
        self._all[request] = [
            location
            for location in range(len(self._candidates))
            if self._is_selected(number, request, location)
            and self._can_ever_serve(number, request, location)
        ]
        return len(self._all[request])

    def _can_ever_serve(self, number: int, request: Request, location: int) -> bool:
        """Whether All includes this device; in 1.36 only if it has enough capacity left."""
        if not self._rules.consumable_capacity:
            return True
        candidate = self._candidates[location]
        if not self._rules.checks_capacity_requests:
            return self._has_capacity(number, request, location) is not None
        consumption = self._consumption(number, request, location, candidate.known.name)
        return consumption is not None and consumption.fits()

    # --- the steps -------------------------------------------------------------------------------

    def _claim(self, number: int) -> Step:
        if number == len(self._claims):
            return Step.DONE
        step = self._request(number, 0)
        # Other devices for an earlier claim may lead to an alternative with fewer devices here.
        return Step.FAILED if step is Step.TOO_MANY else step

    def _request(self, number: int, index: int) -> Step:
        requests = self._claims[number].requests
        if index == len(requests):
            return self._claim(number + 1)
        if not requests[index].has_choice:
            return self._device(number, index, requests[index].requests[0], 0)
        all_too_many = True
        for choice, request in enumerate(requests[index].requests):
            self._alternatives[number][index] = choice
            step = self._device(number, index, request, 0)
            if step is Step.DONE:
                return step
            if step is Step.FAILED:
                all_too_many = False
        return Step.TOO_MANY if all_too_many else Step.FAILED

    def _device(self, number: int, index: int, request: Request, start: int, done: int = 0) -> Step:
        """Find the next device of a request, of which ``done`` are found, from ``start`` on.

        Each device takes a stack frame, of which Python has enough for hundreds of devices.
        """
        self._check_time()
        every = self._all.get(request)
        wanted = request.spec.count if every is None else len(every)
        if done >= wanted:
            # Of all devices there must be at least one.
            return Step.FAILED if every == [] else self._request(number, index + 1)
        if len(self._picks[number]) + wanted - done > MAX_RESULTS:
            return Step.TOO_MANY
        pick = self._pick if every is None else self._pick_from_all
        for location in range(start, len(self._candidates)) if every is None else (every[done],):
            if not pick(number, request, location):
                continue
            step = self._device(number, index, request, location + 1, done + 1)
            if step is Step.DONE:
                return step
            self._take_back(number, request)
            if step is Step.TOO_MANY:
                return step
        return Step.FAILED

    # --- one device ------------------------------------------------------------------------------

    def _pick(self, number: int, request: Request, location: int) -> bool:
        """Choose a device for a request if it can be used."""
        candidate = self._candidates[location]
        if self._chosen.is_in_use(candidate, location, number, request.has_admin_access):
            return False
        if not self._is_selected(number, request, location):
            return False
        consumption = self._has_capacity(number, request, location)
        if consumption is None or not self._chosen.charge(candidate, location):
            return False
        if not self._is_tolerated(request, candidate) or self._breaks(number, request, candidate):
            self._chosen.refund(candidate, location)
            return False
        self._choose(number, Pick(request, location, consumption))
        return True

    def _pick_from_all(self, number: int, request: Request, location: int) -> bool:
        """Choose one of all devices: as above, but a broken constraint is an error."""
        candidate = self._candidates[location]
        if self._chosen.is_in_use(candidate, location, number, request.has_admin_access):
            return False
        if not self._chosen.charge(candidate, location):
            return False
        if not self._is_tolerated(request, candidate):
            self._chosen.refund(candidate, location)
            return False
        if self._breaks(number, request, candidate):
            what = f"cannot add device {candidate.id}"
            why = "because a claim constraint would not be satisfied"
            raise self._error(number, f", request {request.own_name}: {what} {why}")
        consumption = self._has_capacity(number, request, location)
        if consumption is None:
            self._release(number, request, len(self._constraints[number]))
            self._chosen.refund(candidate, location)
            return False
        self._choose(number, Pick(request, location, consumption))
        return True

    def _choose(self, number: int, pick: Pick) -> None:
        self._picks[number].append(pick)
        self._chosen.add(self._candidates[pick.location], pick, number)

    def _take_back(self, number: int, request: Request) -> None:
        pick = self._picks[number].pop()
        candidate = self._candidates[pick.location]
        self._chosen.remove(candidate, pick, number)
        self._release(number, request, len(self._constraints[number]))
        self._chosen.refund(candidate, pick.location)

    def _is_selected(self, number: int, request: Request, location: int) -> bool:
        """Whether the selectors of class and request match, and the device is for this node."""
        candidate = self._candidates[location]
        kept = request.selected(candidate.content)
        found = kept[candidate.position]
        if found is None:
            found = kept[candidate.position] = self._matches(number, request, candidate)
        return found and candidate.is_for_node

    def _matches(self, number: int, request: Request, candidate: Candidate) -> bool:
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
                raise self._selector_error(number, condition, candidate, answer)
        return True

    def _has_capacity(self, number: int, request: Request, location: int) -> Consumption | None:
        """Return what the request consumes of a device; None if there is not enough left."""
        if not self._rules.consumable_capacity:
            return NO_CONSUMPTION
        candidate = self._candidates[location]
        found = self._consumption(number, request, location, candidate.id)
        if found is None or not found.amounts:
            return found
        return found if self._chosen.has_room(candidate, location, found) else None

    def _consumption(
        self, number: int, request: Request, location: int, device: str
    ) -> Consumption | None:
        candidate = self._candidates[location]
        try:
            return request.consumption(candidate.content, candidate.position, self._rules)
        except AllocationError as error:
            if not self._rules.checks_capacity_requests:
                return None
            where = f", request {request.own_name}: checking capacity for device {device}"
            raise self._error(number, f"{where}: {error}") from None

    def _is_tolerated(self, request: Request, candidate: Candidate) -> bool:
        blocking = candidate.known.blocking
        return not blocking or find_untolerated(blocking, request.spec.tolerations) is None

    def _breaks(self, number: int, request: Request, candidate: Candidate) -> bool:
        """Add a device to all constraints, or to none if one does not allow it."""
        for count, constraint in enumerate(self._constraints[number]):
            if not constraint.add(request, candidate):
                self._release(number, request, count)
                return True
        return False

    def _release(self, number: int, request: Request, count: int) -> None:
        for constraint in reversed(self._constraints[number][:count]):
            constraint.remove(request)

    # --- errors ----------------------------------------------------------------------------------

    def _error(self, number: int, rest: str) -> AllocationError:
        return AllocationError(f"claim {self._keys[number]}{rest}")

    def _selector_error(
        self, number: int, condition: Condition, candidate: Candidate, why: str
    ) -> AllocationError:
        source = f"class {condition.class_name}" if condition.class_name else ""
        where = f"{source or f'claim {self._keys[number]}'}: selector #{condition.position}"
        if self._selectors.compile_error(condition.text):
            return AllocationError(f"{where}: CEL compile error: {why}")
        on = f" on device {candidate.id}" if self._rules.names_devices else ""
        return AllocationError(f"{where}{on}: CEL runtime error: {why}")

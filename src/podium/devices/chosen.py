"""What one search has chosen so far, and whether a device is still free beside that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podium.devices.candidates import Candidate
from podium.devices.capacity import NO_AMOUNTS, Consumption
from podium.devices.contents import Counters
from podium.devices.pools import Pool
from podium.devices.rules import DeviceRules
from podium.devices.taken import TakenDevices

if TYPE_CHECKING:
    from podium.devices.search import Pick


class Chosen:
    """The devices, shares and counters that the search would take.

    Devices are known by their location among the node's candidates. Taking a device is ``charge``
    and then ``add``; giving it back is ``remove`` and then ``refund``.
    """

    def __init__(self, taken: TakenDevices, rules: DeviceRules) -> None:
        self._taken = taken
        self._rules = rules
        self._claims: dict[int, list[int]] = {}  # by location: the claims that hold the device
        self._shares: dict[int, int] = {}
        self._amounts: dict[int, dict[str, int]] = {}
        self._counters_left: dict[Pool, Counters] = {}
        # By location: how often its counters were consumed; more than once only with admin access.
        self._charged: dict[int, int] = {}

    def is_in_use(self, candidate: Candidate, location: int, claim: int, is_admin: bool) -> bool:
        """Whether the device is taken; with admin access, only by the claim itself."""
        holders = self._claims.get(location)
        if is_admin:
            return bool(holders) and claim in holders  # type: ignore[operator]  # not None here
        return (
            bool(holders)
            or candidate.known.name in self._taken.use_of(candidate.pool.key).exclusive
        )

    def has_room(self, candidate: Candidate, location: int, consumption: Consumption) -> bool:
        held = self._taken.use_of(candidate.pool.key).amounts(candidate.known.name)
        return consumption.fits(held, self._amounts.get(location, NO_AMOUNTS))

    def add(self, candidate: Candidate, pick: Pick, claim: int) -> None:
        location = pick.location
        if not candidate.known.is_shareable:
            self._claims.setdefault(location, []).append(claim)
            return
        self._shares[location] = self._shares.get(location, 0) + 1
        amounts = self._amounts.setdefault(location, {})
        for name, amount in pick.consumption.amounts.items():
            amounts[name] = amounts.get(name, 0) + amount

    def remove(self, candidate: Candidate, pick: Pick, claim: int) -> None:
        location = pick.location
        if not candidate.known.is_shareable:
            self._claims[location].remove(claim)
            return
        self._shares[location] -= 1
        amounts = self._amounts[location]
        for name, amount in pick.consumption.amounts.items():
            amounts[name] -= amount

    def charge(self, candidate: Candidate, location: int) -> bool:
        """Consume the counters of a device; return false if there are not enough.

        All shares of a device consume them once.
        """
        consumed = candidate.known.counters
        if not candidate.known.device.consumes_counters:
            return True
        if not self._rules.partitionable_devices:
            return False
        if self._is_charged(candidate, location):
            return True
        left = self._counters(candidate.pool)
        # If too much of a pool is taken, none of its devices can be used, whatever it consumes.
        if min(left.values(), default=0) < 0:
            return False
        if any(left[key] < amount for key, amount in consumed.items()):
            return False
        for counter, amount in consumed.items():
            left[counter] -= amount
        self._charged[location] = self._charged.get(location, 0) + 1
        return True

    def refund(self, candidate: Candidate, location: int) -> None:
        """Undo ``charge``, unless other shares of the device still need its counters."""
        if not self._charged.get(location) or self._shares.get(location):
            return
        self._charged[location] -= 1
        left = self._counters(candidate.pool)
        for counter, amount in candidate.known.counters.items():
            left[counter] += amount

    def _is_charged(self, candidate: Candidate, location: int) -> bool:
        """Whether a share of the device has consumed its counters already."""
        if not candidate.known.is_shareable:
            return False
        use = self._taken.use_of(candidate.pool.key)
        needs_amount = self._rules.charges_bare_shares_again
        if use.is_shared(candidate.known.name, needs_amount=needs_amount):
            return True
        return bool(self._shares.get(location))

    def _counters(self, pool: Pool) -> Counters:
        left = self._counters_left.get(pool)
        if left is None:
            left = self._counters_left[pool] = pool.available(self._taken.use_of(pool.key))
        return left

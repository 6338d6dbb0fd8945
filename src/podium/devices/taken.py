"""The devices that are taken: by allocated claims, and by claims whose allocation is in flight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from podium.api import quantity
from podium.api.meta import ResourceList
from podium.api.resource_claims import AllocationResult, DeviceRequestAllocationResult
from podium.devices.capacity import NO_AMOUNTS, Amounts
from podium.devices.rules import DeviceRules
from podium.errors import CacheError, InvalidQuantity


class PoolKey(NamedTuple):
    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class Shares:
    """The shares of one device: how many, how many have an amount, and the sum of the amounts."""

    __slots__ = ("amounts", "count", "with_amounts")

    def __init__(self) -> None:
        self.count = 0
        self.with_amounts = 0
        self.amounts: dict[str, int] = {}

    def change(self, consumed: ResourceList, sign: int) -> None:
        """Count a share (``sign`` 1), or stop counting it (-1)."""
        self.count += sign
        if consumed:
            self.with_amounts += sign
        for name, amount in _readable(consumed):
            total = self.amounts.get(name, 0) + sign * amount
            if total:
                self.amounts[name] = total
            else:
                self.amounts.pop(name, None)


def _readable(consumed: ResourceList) -> Iterator[tuple[str, int]]:
    for name, amount in consumed.items():
        try:
            yield name, quantity.parse(amount)
        except InvalidQuantity:  # the API server refuses it
            continue


class PoolUse:
    """The use of one pool. ``exclusive`` and ``shares`` are read by the search."""

    __slots__ = ("exclusive", "shares", "state")

    def __init__(self) -> None:
        self.exclusive: dict[str, int] = {}
        self.shares: dict[str, Shares] = {}
        self.state: int | None = None  # set by ``TakenDevices.state``, None after a change

    @property
    def is_empty(self) -> bool:
        return not self.exclusive and not self.shares

    def taken(self) -> Iterable[str]:
        """Return the names of the devices of which anything is taken."""
        return self.exclusive.keys() | self.shares.keys()

    def amounts(self, device: str) -> Amounts:
        shares = self.shares.get(device)
        return NO_AMOUNTS if shares is None else shares.amounts

    def is_shared(self, device: str, *, needs_amount: bool) -> bool:
        """Whether a share of the device is held; in 1.36 only one with an amount counts."""
        shares = self.shares.get(device)
        return shares is not None and bool(shares.with_amounts or not needs_amount)

    def change(self, result: DeviceRequestAllocationResult, sign: int, *, is_share: bool) -> None:
        """Count a result (``sign`` 1), or stop counting it (-1)."""
        self.state = None
        if is_share:
            shares = self.shares.setdefault(result.device, Shares())
            shares.change(result.consumed_capacity, sign)
            if not shares.count:
                del self.shares[result.device]
            return
        count = self.exclusive.get(result.device, 0) + sign
        if count:
            self.exclusive[result.device] = count
        else:
            del self.exclusive[result.device]

    def key(self) -> object:
        """Return a hashable value that is equal for pools of which the same is taken."""
        shares = frozenset(
            (device, bool(held.with_amounts), frozenset(held.amounts.items()))
            for device, held in self.shares.items()
        )
        return frozenset(self.exclusive), shares

    def counts(self) -> object:
        """Return all counts, to be compared with those of another use."""
        shares = {
            device: (held.count, held.with_amounts, held.amounts)
            for device, held in self.shares.items()
        }
        return self.exclusive, shares


UNUSED: Final = PoolUse()  # never changed: ``TakenDevices.remove`` raises before


class TakenDevices:
    """Counts what allocations hold, pool by pool. Devices with admin access are not taken."""

    def __init__(self, rules: DeviceRules) -> None:
        self._rules = rules
        self._has_shares = rules.consumable_capacity
        self._pools: dict[PoolKey, PoolUse] = {}
        self._states: dict[object, int] = {}
        self._followers: list[set[PoolKey]] = []

    def add(self, allocation: AllocationResult) -> None:
        """Count the devices of an allocation as taken."""
        for result in allocation.devices.results:
            if not result.admin_access:
                key = PoolKey(result.driver, result.pool)
                self._change(key, self._pools.setdefault(key, PoolUse()), result, 1)

    def remove(self, allocation: AllocationResult) -> None:
        """Undo ``add`` of an equal allocation; ``CacheError`` if there was none."""
        for result in allocation.devices.results:
            if result.admin_access:
                continue
            key = PoolKey(result.driver, result.pool)
            use = self._pools.get(key, UNUSED)
            held = use.shares if self._is_share(result) else use.exclusive
            if result.device not in held:
                raise CacheError(f"device {key}/{result.device} is not taken")
            self._change(key, use, result, -1)
            if use.is_empty:
                del self._pools[key]

    def changes(self) -> set[PoolKey]:
        """Return a set that collects the pools that change from now on; the caller empties it."""
        self._followers.append(set())
        return self._followers[-1]

    def use_of(self, pool: PoolKey) -> PoolUse:
        return self._pools.get(pool, UNUSED)

    def state(self, pool: PoolKey) -> int:
        """Return a number for what is taken of a pool: equal for equal uses, 0 for none."""
        use = self._pools.get(pool)
        if use is None:
            return 0
        if use.state is None:
            use.state = self._states.setdefault(use.key(), len(self._states) + 1)
        return use.state

    def forget_states(self) -> None:
        """Number the states anew, so that those that no pool has any more take no memory."""
        self._states.clear()
        for use in self._pools.values():
            use.state = None

    def is_taken(self, pool: PoolKey, device: str) -> bool:
        use = self._pools.get(pool)
        return use is not None and (device in use.exclusive or device in use.shares)

    def _is_share(self, result: DeviceRequestAllocationResult) -> bool:
        return self._has_shares and result.share_id is not None

    def _change(
        self, key: PoolKey, use: PoolUse, result: DeviceRequestAllocationResult, sign: int
    ) -> None:
        use.change(result, sign, is_share=self._is_share(result))
        for changed in self._followers:
            changed.add(key)

    def check_invariants(self, allocations: Iterable[AllocationResult]) -> None:
        """Raise ``AssertionError`` unless exactly these allocations are counted."""
        rebuilt = TakenDevices(self._rules)
        for allocation in allocations:
            rebuilt.add(allocation)
        assert self._counts() == rebuilt._counts(), "other devices are taken than claims hold"
        for key, use in self._pools.items():
            known = use.state is None or use.state == self._states.get(use.key())
            assert known, f"the state of pool {key} is outdated"

    def _counts(self) -> dict[PoolKey, object]:
        return {key: use.counts() for key, use in self._pools.items()}

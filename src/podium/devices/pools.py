"""Pools of devices as one node sees them: which slices count, and whether they can be used."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from podium.api.devices import ResourceSliceSpec
from podium.api.objects import Node
from podium.devices.contents import Counters, SliceContent
from podium.devices.node_selection import node_matches
from podium.devices.rules import DeviceRules
from podium.devices.taken import PoolKey, PoolUse
from podium.errors import AllocationError, InvalidQuantity

Mask = tuple[bool, ...]


class KnownSlice:
    """A slice with its content.

    ``number`` identifies this version of the slice; it is never reused.
    """

    __slots__ = ("content", "generation", "name", "number", "pool", "slice_count", "spec")

    def __init__(
        self, number: int, name: str, spec: ResourceSliceSpec, content: SliceContent
    ) -> None:
        self.number = number
        self.name = name
        self.spec = spec
        self.pool = PoolKey(spec.driver, spec.pool.name)
        self.generation = spec.pool.generation
        self.slice_count = spec.pool.resource_slice_count
        self.content = content

    def is_ignored(self, rules: DeviceRules) -> bool:
        """Whether the slice uses a feature that is off."""
        if rules.ignores_compatibility_groups and self.content.has_groups:
            return True
        uses_partitions = self.spec.per_device_node_selection or self.spec.shared_counters
        return bool(uses_partitions) and not rules.partitionable_devices

    def only_node(self, rules: DeviceRules) -> str:
        """Return the only node that the slice can be for; empty if there may be others."""
        if self.spec.shared_counters and rules.counters_are_everywhere:
            return ""
        return self.spec.node_name or ""

    def target_for(self, node: Node, rules: DeviceRules) -> Target | None:
        """Return the slice with the devices that the node can use; None if it cannot use any."""
        spec = self.spec
        if rules.counters_are_everywhere and spec.shared_counters:
            return Target(self, None)
        if spec.node_name or spec.all_nodes or spec.node_selector is not None:
            is_for_node = node_matches(node, spec.node_name, spec.all_nodes, spec.node_selector)
            # Devices may restrict the nodes of their slice only where the slice says so.
            mask = self._mask(node) if is_for_node and spec.per_device_node_selection else None
            return Target(self, mask) if is_for_node else None
        if not spec.per_device_node_selection:
            return None  # a field of a later release selects the nodes
        mask = self._mask(node)
        return Target(self, mask) if any(mask) else None

    def _mask(self, node: Node) -> Mask:
        return tuple(
            node_matches(node, device.node_name, device.all_nodes, device.node_selector)
            for device in self.spec.devices
        )


class Target(NamedTuple):
    """A slice that a node can use, or only those of its devices that the mask has."""

    slice: KnownSlice
    mask: Mask | None

    @property
    def key(self) -> tuple[int, Mask | None]:
        return self.slice.number, self.mask


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Pool:
    """A pool as a node sees it.

    A pool that is incomplete or invalid has no targets. ``content_key`` is equal for pools that
    differ only in names; ``counters`` are those of the pool's counter sets, ``users`` what devices
    of the pool consume of them, also devices that the node cannot use.
    """

    key: PoolKey
    content_key: object
    is_incomplete: bool = False
    invalid_reason: str = ""
    targets: tuple[Target, ...] = ()
    counters: Counters | None = None
    users: dict[str, list[Counters]] | None = None

    @property
    def is_usable(self) -> bool:
        return not self.is_incomplete and not self.invalid_reason

    @property
    def has_conditions(self) -> bool:
        return any(target.slice.content.has_conditions for target in self.targets)

    def available(self, use: PoolUse) -> Counters:
        """Return what is left of each counter; less than nothing if too much was taken."""
        left = dict(self.counters or {})
        for device in use.taken():
            for consumed in (self.users or {}).get(device, ()):
                for counter, amount in consumed.items():
                    left[counter] -= amount
        return left


def targets_of(
    node: Node, slices: Iterable[KnownSlice], rules: DeviceRules
) -> dict[PoolKey, list[Target]]:
    """Return the slices that a node can use, by pool: those with the newest generation seen."""
    found: dict[PoolKey, list[Target]] = {}
    for each in slices:
        if each.is_ignored(rules):
            continue
        try:
            target = each.target_for(node, rules)
        except AllocationError as error:
            text = f"failed to perform node selection for slice {each.name}: {error}"
            raise AllocationError(f"gather pool information: {text}") from None
        if target is None:
            continue
        others = found.setdefault(each.pool, [])
        if others and each.generation > others[0].slice.generation:
            others.clear()
        if not others or each.generation == others[0].slice.generation:
            others.append(target)
    return found


class Members(NamedTuple):
    """The slices of one pool that count for a node.

    ``others`` are slices of the pool that the node cannot use; their devices consume counters, too.
    """

    targets: tuple[Target, ...]
    others: tuple[KnownSlice, ...] = ()
    is_incomplete: bool = False

    @property
    def key(self) -> object:
        """Return a hashable value that is equal for the same members."""
        others = tuple(each.number for each in self.others)
        return tuple(target.key for target in self.targets), others, self.is_incomplete


def members_of(
    targets: Sequence[Target], pool: Iterable[KnownSlice], rules: DeviceRules
) -> Members | None:
    """Return the members of a pool, given all its slices; None if its slices are outdated."""
    targets = tuple(sorted(targets, key=lambda target: target.slice.name))
    # Slices should agree on their count. If not, upstream's first one decides: one of the node.
    first = next((t.slice for t in targets if t.slice.only_node(rules)), targets[0].slice)
    if len(targets) == first.slice_count:
        return Members(targets)
    pool = list(pool)
    if any(each.generation > first.generation for each in pool):
        return None
    ignores_groups = rules.ignores_compatibility_groups
    current = [
        each
        for each in pool
        if each.generation == first.generation and not (ignores_groups and each.content.has_groups)
    ]
    if len(current) != first.slice_count:
        return Members((), is_incomplete=True)
    seen = {target.slice.name for target in targets}
    others = sorted((each for each in current if each.name not in seen), key=lambda s: s.name)
    return Members(targets, tuple(others))


def build_pool(key: PoolKey, members: Members, rules: DeviceRules) -> Pool:
    """Return the pool with these members, or an invalid pool."""
    if members.is_incomplete:
        return Pool(key, "incomplete", is_incomplete=True)
    slices = [target.slice for target in members.targets]
    counting = [each for each in (*slices, *members.others) if _holds_counters(each, rules)]
    targets = tuple(t for t in members.targets if not _holds_counters(t.slice, rules))
    others = [each for each in members.others if not _holds_counters(each, rules)]
    contents = [target.slice.content for target in targets]
    try:
        _check_names(contents)
        if not rules.partitionable_devices:
            return Pool(key, _content_key(targets, [], []), targets=targets)
        sets = _counter_sets(counting)
        users = _users(contents, sets)
        for device, consumed in _users([each.content for each in others], sets).items():
            users.setdefault(device, []).extend(consumed)
    except AllocationError as error:
        return Pool(key, "invalid", invalid_reason=str(error))
    return Pool(
        key,
        _content_key(targets, others if users else [], counting),
        targets=targets,
        counters=sets.counters,
        users=users,
    )


def _holds_counters(given: KnownSlice, rules: DeviceRules) -> bool:
    return rules.partitionable_devices and given.content.has_only_counters


def _content_key(
    targets: Sequence[Target], others: Sequence[KnownSlice], counting: Sequence[KnownSlice]
) -> object:
    return (
        tuple((target.slice.content.number, target.mask) for target in targets),
        tuple(each.content.number for each in others),
        tuple(each.content.number for each in counting),
    )


def _check_names(contents: Iterable[SliceContent]) -> None:
    names: set[str] = set()
    for content in contents:
        for device in content.devices:
            if device.name in names:
                raise AllocationError(f"duplicate device name {device.name}")
            names.add(device.name)


class CounterSets(NamedTuple):
    """The counter sets of a pool, and their counters; a set may have none."""

    names: set[str]
    counters: Counters


def _counter_sets(slices: Iterable[KnownSlice]) -> CounterSets:
    found: Counters = {}
    names: set[str] = set()
    try:
        for each in slices:
            for name, counters in each.content.counter_sets():
                if name in names:
                    raise AllocationError(f"duplicate counter set name {name}")
                names.add(name)
                found.update(counters)
    except InvalidQuantity as error:
        raise AllocationError(str(error)) from None
    return CounterSets(names, found)


def _users(contents: Iterable[SliceContent], sets: CounterSets) -> dict[str, list[Counters]]:
    """Return what each device consumes; raise if it consumes a counter that does not exist."""
    users: dict[str, list[Counters]] = {}
    for content in contents:
        for known in content.devices:
            for consumption in known.device.consumes_counters:
                name = consumption.counter_set
                if name not in sets.names:
                    raise AllocationError(f"counter set {name} not found")
                for counter in consumption.counters:
                    if (name, counter) not in sets.counters:
                        text = f"counter {counter} not found in counter set {name}"
                        raise AllocationError(text)
            if known.counters:
                users.setdefault(known.name, []).append(known.counters)
    return users

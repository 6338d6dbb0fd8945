"""What slices contain, apart from the names of node, pool and slice.

Many nodes have equal devices. Slices with equal contents share one ``SliceContent``, so that
everything that depends on the devices alone is computed once for all of them. Texts such as serial
numbers make no difference as long as no selector and no constraint reads them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

import msgspec

from podium.api import quantity
from podium.api.devices import (
    CapacityRequestPolicyRange,
    Device,
    DeviceAttribute,
    ResourceSliceSpec,
)
from podium.api.meta import Quantity
from podium.api.taints import DO_NOT_SCHEDULE
from podium.devices.rules import DeviceRules
from podium.errors import InvalidQuantity

if TYPE_CHECKING:
    from podium.cel import DeviceView

# (counter set, counter) -> nano units
Counters = dict[tuple[str, str], int]
# How a selector answered about each device; None where it was not asked yet.
Answers = list["bool | str | None"]

_MAX_SELECTORS: Final = 256


class KnownDevice:
    """A device with what the search reads of it, prepared.

    ``is_malformed`` is true if a quantity cannot be read. Such a device is never allocated.
    """

    __slots__ = (
        "_view",
        "blocking_taints",
        "counters",
        "device",
        "is_malformed",
        "is_shareable",
        "name",
    )

    def __init__(self, device: Device, rules: DeviceRules) -> None:
        self.device = device
        self.name = device.name
        self.is_shareable = device.allow_multiple_allocations and rules.consumable_capacity
        self.blocking_taints = (
            tuple(taint for taint in device.taints if taint.effect in DO_NOT_SCHEDULE)
            if rules.device_taints
            else ()
        )
        self._view: DeviceView | None = None
        self.is_malformed = False
        self.counters: Counters = {}
        try:
            self.counters = _consumed_counters(device)
            for amount in _amounts(device):
                quantity.parse(amount)
        except InvalidQuantity:
            self.is_malformed = True

    def view(self, driver: str, rules: DeviceRules) -> DeviceView:
        """Return the device as CEL selectors see it."""
        if self._view is None:
            written = msgspec.to_builtins(self.device)
            if rules.is_plain:  # that allocator does not tell selectors what can be shared
                written.pop("allowMultipleAllocations", None)
            lists = rules.list_type_attributes
            from podium.cel import device_view  # slow to load, and few clusters have devices

            self._view = device_view(driver, written, rules.release, has_lists=lists)
        return self._view

    def attribute(self, name: str, driver: str) -> DeviceAttribute | None:
        """Return an attribute by its qualified name; the driver's own may lack the domain."""
        attributes = self.device.attributes
        if name in attributes:
            return attributes[name]
        domain, slash, identifier = name.partition("/")
        return attributes.get(identifier) if slash and domain == driver else None


def _consumed_counters(device: Device) -> Counters:
    consumed: Counters = {}
    for consumption in device.consumes_counters:
        for name, counter in consumption.counters.items():
            key = consumption.counter_set, name
            consumed[key] = consumed.get(key, 0) + quantity.parse(counter.value)
    return consumed


def _amounts(device: Device) -> Iterator[Quantity]:
    for capacity in device.capacity.values():
        yield capacity.value
        policy = capacity.request_policy
        if policy is None:
            continue
        allowed = policy.valid_range or CapacityRequestPolicyRange()
        for amount in (policy.default, allowed.min, allowed.max, allowed.step):
            if amount is not None:
                yield amount
        yield from policy.valid_values


class SliceContent:
    """The devices or counter sets of slices with equal content.

    ``number`` is never reused, so it can stand for the content in keys.
    """

    __slots__ = ("__weakref__", "_answers", "devices", "driver", "number", "spec")

    def __init__(self, number: int, spec: ResourceSliceSpec, rules: DeviceRules) -> None:
        self.number = number
        self.spec = spec  # of one of the slices: only what is not in a name is the same in all
        self.driver = spec.driver
        self.devices = tuple(KnownDevice(device, rules) for device in spec.devices)
        self._answers: dict[str, Answers] = {}

    @property
    def has_only_counters(self) -> bool:
        """Whether these are counter sets; a slice has either them or devices."""
        return bool(self.spec.shared_counters)

    @property
    def has_conditions(self) -> bool:
        """Whether any device has a list of binding conditions, even an empty one."""
        return any(device.binding_conditions is not None for device in self.spec.devices)

    @property
    def has_groups(self) -> bool:
        return any(
            consumption.compatibility_groups
            for device in self.spec.devices
            for consumption in device.consumes_counters
        )

    def answers(self, selector: str) -> Answers:
        """Return the list in which the answers of a selector are kept."""
        found = self._answers.get(selector)
        if found is None:
            if len(self._answers) >= _MAX_SELECTORS:
                self._answers.clear()
            found = self._answers[selector] = [None] * len(self.devices)
        return found

    def counter_sets(self) -> Iterator[tuple[str, Counters]]:
        """Yield each counter set with its counters; ``InvalidQuantity`` if one is malformed."""
        for counters in self.spec.shared_counters:
            yield (
                counters.name,
                {
                    (counters.name, name): quantity.parse(counter.value)
                    for name, counter in counters.counters.items()
                },
            )


class Contents:
    """The contents of all slices, each stored once while a slice has it.

    Invariant: slices share a content only if their devices are equal but for texts in attributes
    that are not read. ``note_reads`` says which are; contents from before it may no longer be used.
    """

    def __init__(self, rules: DeviceRules) -> None:
        self._rules = rules
        self._read: set[str] | None = set()  # names without domains; None if all
        self._known: WeakValueDictionary[bytes, SliceContent] = WeakValueDictionary()
        self._next: Callable[[], int] = itertools.count().__next__

    def note_reads(self, names: frozenset[str] | None) -> bool:
        """Say that these attributes are read, or all; return whether that is new."""
        if self._read is None or (names is not None and names <= self._read):
            return False
        self._read = None if names is None else self._read | names
        self._known.clear()
        return True

    def of(self, spec: ResourceSliceSpec) -> SliceContent:
        key = msgspec.json.encode(
            (
                spec.driver,
                spec.node_name is not None,
                spec.node_selector,
                spec.all_nodes,
                spec.per_device_node_selection,
                [self._without_unread_texts(device) for device in spec.devices],
                spec.shared_counters,
            )
        )
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = SliceContent(self._next(), spec, self._rules)
        return found

    def _without_unread_texts(self, device: Device) -> Device:
        """Return the device with one text in all attributes that are not read."""
        if self._read is None:
            return device
        unread = {
            name: _SOME_TEXT
            for name, attribute in device.attributes.items()
            if name.rpartition("/")[2] not in self._read and _is_text(attribute)
        }
        if not unread:
            return device
        return msgspec.structs.replace(device, attributes={**device.attributes, **unread})


_SOME_TEXT: Final = DeviceAttribute(string_value="")


def _is_text(attribute: DeviceAttribute) -> bool:
    """Whether the only value is a text, which is never malformed."""
    text = attribute.string_value
    return text is not None and attribute == DeviceAttribute(string_value=text)

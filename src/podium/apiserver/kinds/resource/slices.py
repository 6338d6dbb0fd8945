"""Checks of resource slices: the devices that drivers offer, and their shared counters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from typing import Any

from podium.apiserver import statuses
from podium.apiserver.kinds.pod_spec.placement import node_selector_causes
from podium.apiserver.kinds.resource.capacities import capacity_causes
from podium.apiserver.kinds.resource.taints import taint
from podium.apiserver.kinds.resource.values import (
    Check,
    Declared,
    Found,
    attribute_name,
    declared,
    distinct,
    driver,
    label,
    pool,
    qualified_label,
    repeated,
    same,
    subdomain,
    worded,
)
from podium.apiserver.statuses import Json
from podium.release import V1_37, Release

MOST_DEVICES, MOST_SPECIAL_DEVICES = 128, 64
MOST_ATTRIBUTES = 32
MOST_COUNTER_SETS, MOST_COUNTERS, MOST_CONSUMED_SETS = 8, 32, 2
MOST_TAINTS, MOST_CONDITIONS = 16, 4
LONGEST_VALUE = 64
_LONGEST_KEY = 63 + 1 + 32
_VALUES = ("int", "bool", "string", "version")
_PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_CONDITIONS = ("bindingConditions", "bindingFailureConditions")
_ONE_PLACE = (
    "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
)
_ONE_DEVICE_PLACE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
    "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)
_NO_DEVICE_PLACE = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set "
    "to true in the ResourceSlice spec"
)
_NUMBER, _WORD = r"(0|[1-9]\d*)", r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD = "[0-9a-zA-Z-]+"
_VERSION = rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_WORD}(\.{_WORD})*)?(\+{_BUILD}(\.{_BUILD})*)?"
_NO_VERSION = "must be a string compatible with semver.org spec 2.0.0"


def slice_causes(resource_slice: Json, release: Release) -> Found:
    spec = resource_slice.get("spec") or {}
    yield from driver(spec.get("driver"), "spec.driver")
    yield from _pool(spec.get("pool") or {})
    yield from _places(spec, "spec")
    devices, counters = spec.get("devices"), spec.get("sharedCounters")
    if devices is not None and counters is not None:
        detail = "only one of `sharedCounters` or `devices` is allowed"
        yield statuses.bad_value("spec", "", detail)
    check = partial(_device, release, bool(spec.get("perDeviceNodeSelection")))
    yield from _plain_distinct(devices, "spec.devices", _most_devices(devices or []), check)
    yield from distinct(counters, "spec.sharedCounters", MOST_COUNTER_SETS, _counter_set)


def _pool(given: Json) -> Found:
    yield from pool(given.get("name"), "spec.pool.name")
    count, generation = given.get("resourceSliceCount", 0), given.get("generation", 0)
    if count <= 0:
        yield statuses.bad_value("spec.pool.resourceSliceCount", count, "must be greater than zero")
    if generation < 0:
        detail = "must be greater than or equal to zero"
        yield statuses.bad_value("spec.pool.generation", generation, detail)


def _places(spec: Json, path: str) -> Found:
    """Check which nodes a slice is for."""
    node, selector = spec.get("nodeName"), spec.get("nodeSelector")
    if node == "":
        detail = "must be either unset or set to a non-empty string"
        yield statuses.bad_value(f"{path}.nodeName", node, detail)
    elif node is not None:
        yield from subdomain(node, f"{path}.nodeName")
    if selector is not None:
        yield from node_selector_causes(selector, f"{path}.nodeSelector")
        terms = selector.get("nodeSelectorTerms") or []
        if len(terms) != 1:
            where = f"{path}.nodeSelector.nodeSelectorTerms"
            shown = [_go_term(term) for term in terms] or None
            yield statuses.bad_value(where, shown, "must have exactly one node selector term")
    for name in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(name) is False:
            yield statuses.bad_value(f"{path}.{name}", False, "must be either unset or set to true")
    yield from _one_of(
        spec, path, _PLACES, (_ONE_PLACE, f"{_ONE_PLACE}, but multiple fields are set")
    )


def _one_of(holder: Json, path: str, names: Iterable[str], words: tuple[str, str]) -> Found:
    given = [
        f"`{name}`" for name in names if holder.get(name) or isinstance(holder.get(name), dict)
    ]
    if not given:
        yield statuses.required(path, words[0])
    elif len(given) > 1:
        yield statuses.bad_value(path, f"{{{', '.join(given)}}}", words[1])


def _go_term(term: Json) -> Json:
    """Return a term of a node selector as Go prints it."""
    found = {}
    for name, shown in (("matchExpressions", "MatchExpressions"), ("matchFields", "MatchFields")):
        listed = [
            {
                "Key": one.get("key", ""),
                "Operator": one.get("operator", ""),
                "Values": one.get("values"),
            }
            for one in term.get(name) or []
        ]
        found[shown] = listed or None
    return found


def _most_devices(devices: list[Json]) -> int:
    """Return how many devices a slice may have: fewer if they have much to say."""
    special = any(one.get("taints") or one.get("consumesCounters") for one in devices)
    return MOST_SPECIAL_DEVICES if special else MOST_DEVICES


def _plain_distinct(items: list[Json] | None, path: str, most: int, check: Check) -> Found:
    """Check a list as `distinct` does, where the rules are not declared."""
    if len(items or ()) > most:
        yield statuses.too_many(path, len(items or ()), most)
        return
    for index, item in enumerate(items or ()):
        yield from check(item, f"{path}[{index}]")
    for one in repeated(items, path, lambda item: item.get("name", "")):
        yield from one.older if isinstance(one, Declared) else (one,)


def _device(release: Release, is_per_device: bool, device: Json, path: str) -> Found:
    yield from label(device.get("name"), f"{path}.name")
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    yield from _amounts(attributes, capacity, path)
    for name, value in attributes.items():
        yield from attribute_name(name, f"{path}.attributes")
        yield from _attribute(value, f"{path}.attributes[{_shortened(name)}]")
    for name, value in capacity.items():
        yield from attribute_name(name, f"{path}.capacity")
        where = f"{path}.capacity[{_shortened(name)}]"
        is_shared = bool(device.get("allowMultipleAllocations"))
        yield from capacity_causes(value, where, is_shared=is_shared, release=release)
    taints = _taints(device, path)
    counters = _consumed(device.get("consumesCounters"), f"{path}.consumesCounters")
    # Declared rules come in the order of the fields, and nearly all of these are declared.
    for found in (taints, counters) if release < V1_37 else (counters, taints):
        yield from found
    yield from _device_places(device, path, is_per_device)
    yield from binding_causes(device, path)


def _amounts(attributes: Json, capacity: Json, path: str) -> Found:
    total = len(attributes) + len(capacity)
    if total > MOST_ATTRIBUTES:
        detail = f"the total number of attributes and capacities must not exceed {MOST_ATTRIBUTES}"
        yield statuses.bad_value(path, total, detail)


def _attribute(attribute: Json, path: str) -> Found:
    """Check an attribute. Lists of values are not among them: their feature is off."""
    for name in ("string", "version"):
        if name in attribute:
            yield from _value(attribute[name], name, f"{path}.{name}")
    given = [name for name in _VALUES if name in attribute]
    if len(given) != 1:
        names = ", ".join(f"`{name}`" for name in (*_VALUES, *(f"{one}s" for one in _VALUES)))
        words = "must specify exactly one of" if given else "must specify one of"
        shown = f"{{{', '.join(given)}}}" if given else ""
        older = "exactly one value must be specified"
        yield worded(
            statuses.bad_value(path, _go_attribute(attribute), older),
            statuses.bad_value(path, shown, f"{words}: {names}"),
        )


def _go_attribute(attribute: Json) -> Any:
    """Return an attribute with several values as Go prints it; one without any is not shown."""
    if not attribute:
        return ""
    shown = {f"{name.capitalize()}Value": attribute.get(name) for name in _VALUES}
    return {**shown, **{f"{name.capitalize()}Values": None for name in _VALUES}}


def _value(value: str, kind: str, path: str) -> Found:
    if kind == "version" and not re.fullmatch(_VERSION, value):
        yield statuses.bad_value(path, value, _NO_VERSION)
    if len(value.encode()) > LONGEST_VALUE:
        yield statuses.too_long(path, LONGEST_VALUE)


def _taints(device: Json, path: str) -> Found:
    taints = device.get("taints") or []
    if len(taints) > MOST_TAINTS:
        yield statuses.too_many(f"{path}.taints", len(taints), MOST_TAINTS)
        return
    for index, one in enumerate(taints):
        yield from taint(one, f"{path}.taints[{index}]")


def _consumed(sets: list[Json] | None, path: str) -> Found:
    if len(sets or ()) > MOST_CONSUMED_SETS:
        yield same(statuses.too_many(path, len(sets or ()), MOST_CONSUMED_SETS))
        return
    for index, one in enumerate(sets or ()):
        yield from _counters(one, f"{path}[{index}]", "counterSet")
    yield from repeated(sets, path, lambda one: one.get("counterSet", ""))


def _counter_set(one: Json, path: str) -> Found:
    return _counters(one, path, "name")


def _counters(one: Json, path: str, name: str) -> Found:
    """Check counters; ``name`` is the field that names their set."""
    if not one.get(name):
        yield same(statuses.required(f"{path}.{name}"))
    else:
        yield from declared(label(one[name], f"{path}.{name}"))
    counters = one.get("counters") or {}
    if not counters:
        yield same(statuses.required(f"{path}.counters"))
    elif len(counters) > MOST_COUNTERS:
        yield statuses.too_many(f"{path}.counters", len(counters), MOST_COUNTERS)
    else:
        for counter in counters:
            yield from declared(label(counter, f"{path}.counters"))


def _device_places(device: Json, path: str, is_per_device: bool) -> Found:
    node, selector = device.get("nodeName"), device.get("nodeSelector")
    if not is_per_device:
        if any(device.get(name) is not None for name in _PLACES[:3]):
            yield statuses.bad_value(path, None, _NO_DEVICE_PLACE)
        return
    if node == "":
        yield statuses.bad_value(f"{path}.nodeName", node, "must not be empty")
    elif node is not None:
        yield from subdomain(node, f"{path}.nodeName")
    if selector is not None:
        yield from node_selector_causes(selector, f"{path}.nodeSelector")
    if device.get("allNodes") is False:
        yield statuses.bad_value(f"{path}.allNodes", False, "must be either unset or set to true")
    yield from _one_of(device, path, _PLACES[:3], (_ONE_DEVICE_PLACE, _ONE_DEVICE_PLACE))


def binding_causes(holder: Json, path: str) -> Found:
    """Check the conditions that the binding of a device waits for, and those that end it."""
    awaited, failures = (holder.get(name) or [] for name in _CONDITIONS)
    for name, conditions in zip(_CONDITIONS, (awaited, failures), strict=True):
        yield from _condition_names(conditions, f"{path}.{name}")
    for name, conditions in zip(_CONDITIONS, (awaited, failures), strict=True):
        for index, one in enumerate(conditions):
            where = f"{path}.{name}[{index}]"
            if one in conditions[:index]:
                yield statuses.duplicate(where, one)
            if conditions is failures and one in awaited:
                detail = "bindingFailureConditions must not overlap with bindingConditions"
                yield statuses.bad_value(where, one, detail)
    for missing, given in (_CONDITIONS, _CONDITIONS[::-1]):
        if holder.get(given) and not holder.get(missing):
            detail = f"{missing} are required to use {given}"
            yield statuses.bad_value(f"{path}.{missing}", holder.get(missing), detail)


def _condition_names(conditions: list[str], path: str) -> Found:
    if len(conditions) > MOST_CONDITIONS:
        yield same(statuses.too_many(path, len(conditions), MOST_CONDITIONS))
        return
    for index, one in enumerate(conditions):
        yield from qualified_label(one, f"{path}[{index}]")


def _shortened(name: str) -> str:
    """Return a key for a path; a long one loses its middle."""
    if len(name) <= _LONGEST_KEY:
        return name
    left = _LONGEST_KEY - len("...")
    return f"{name[: (left + 1) // 2]}...{name[len(name) - left // 2 :]}"

"""A configuration as plain data, under the names of a v1 file: ready for YAML or JSON.

``effective`` is what ``podium config show`` prints and ``podium config diff`` compares: everything
spelled out, defaults included, with the plugins of each extension point in order.
"""

import base64
import dataclasses
from collections.abc import Mapping
from enum import Enum
from typing import Any, get_args

import msgspec

from podium import durations
from podium.config import wire
from podium.config.model import (
    ClientConnection,
    Configuration,
    Extender,
    LeaderElection,
    Profile,
)
from podium.framework.args import Args
from podium.framework.points import Point


def effective(configuration: Configuration) -> dict[str, Any]:
    """Return the whole configuration, defaults included."""
    all_filters = {"alwaysCheckAllPredicates": True} if configuration.run_all_filters else {}
    return {
        **top_level(configuration),
        **all_filters,
        "leaderElection": section_fields(configuration.leader_election),
        "clientConnection": section_fields(configuration.client_connection),
        "profiles": [_profile(profile) for profile in configuration.profiles],
        "extenders": [extender_fields(extender) for extender in configuration.extenders],
    }


def loadable(view: Mapping[str, Any]) -> dict[str, Any]:
    """Return a v1 file that has the same effect as the result of ``effective``.

    Each extension point names all of its plugins, so that no default adds to them. Points without
    plugins are left out, because an older release may not have them.
    """
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        **{name: value for name, value in view.items() if value is not None},
        "profiles": [_loadable_profile(profile) for profile in view["profiles"]],
    }


def _loadable_profile(view: Mapping[str, Any]) -> dict[str, Any]:
    shown = {
        name: view[name]
        for name in ("schedulerName", "percentageOfNodesToScore")
        if view.get(name) is not None
    }
    plugins: dict[str, Any] = {"multiPoint": {"disabled": [{"name": "*"}]}}
    for point, found in view["plugins"].items():
        named = [{key: each[key] for key in ("name", "weight") if key in each} for each in found]
        if named:
            plugins[point] = {"enabled": named}
    arguments = [{"name": name, "args": args} for name, args in view["args"].items()]
    return {**shown, "plugins": plugins, "pluginConfig": arguments}


def top_level(configuration: Configuration) -> dict[str, Any]:
    """Return the scalar fields of the configuration."""
    return {
        "parallelism": configuration.parallelism,
        "percentageOfNodesToScore": configuration.percentage_of_nodes_to_score,
        "podInitialBackoffSeconds": configuration.pod_initial_backoff_seconds,
        "podMaxBackoffSeconds": configuration.pod_max_backoff_seconds,
        "enableProfiling": configuration.enable_profiling,
        "enableContentionProfiling": configuration.enable_contention_profiling,
        "delayCacheUntilActive": configuration.delay_cache_until_active,
    }


def _profile(profile: Profile) -> dict[str, Any]:
    return {
        "schedulerName": profile.scheduler_name,
        "percentageOfNodesToScore": profile.percentage_of_nodes_to_score,
        "plugins": {point.value: _plugins(profile, point) for point in Point},
        "args": {
            name: fields for name, args in profile.args.items() if (fields := args_fields(args))
        },
    }


def _plugins(profile: Profile, point: Point) -> list[dict[str, Any]]:
    names = profile.order_with_absent[point]
    found = []
    for name, origin in zip(names, profile.origins[point], strict=True):
        plugin: dict[str, Any] = {"name": name, "from": origin}
        if (weights := weights_at(profile, point)) is not None:
            plugin["weight"] = weights[name]
        if name in profile.absent:
            plugin["absent"] = True
        found.append(plugin)
    return found


def weights_at(profile: Profile, point: Point) -> Mapping[str, int] | None:
    """Return the weights of the plugins at an extension point; ``None`` where they have none."""
    if point is Point.SCORE:
        return profile.weights
    return profile.placement_weights if point is Point.PLACEMENT_SCORE else None


def args_fields(args: Args) -> dict[str, Any]:
    """Return the arguments of a plugin that are set."""
    return {name: value for name, value in _fields(args).items() if value is not None}


def section_fields(value: LeaderElection | ClientConnection) -> dict[str, Any]:
    kind: Any = _WIRE_TYPES[type(value)]
    return _fields(kind(**_own_fields(value)))


def extender_fields(extender: Extender) -> dict[str, Any]:
    """Return the fields of an extender that are not empty."""
    resources = tuple(
        wire.ManagedResource(**_own_fields(resource)) for resource in extender.managed_resources
    )
    tls = wire.TLSConfig(**_own_fields(extender.tls)) if extender.tls else None
    given = {**_own_fields(extender), "managed_resources": resources, "tls": tls}
    return _set_fields(wire.Extender(**given))


_WIRE_TYPES = {
    LeaderElection: wire.LeaderElection,
    ClientConnection: wire.ClientConnection,
}


def _own_fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _fields(value: msgspec.Struct) -> dict[str, Any]:
    return {
        field.encode_name: _plain(getattr(value, field.name), field.type)
        for field in msgspec.structs.fields(value)
    }


def _set_fields(value: msgspec.Struct) -> dict[str, Any]:
    return {name: item for name, item in _fields(value).items() if item not in _NOTHING}


_NOTHING: tuple[Any, ...] = (None, "", [], {}, False, 0)


def _plain(value: Any, kind: Any = None) -> Any:
    match value:
        case float() if _is_duration(kind):
            return durations.format(value)
        case msgspec.Struct():
            fields = _fields(value)
            return {name: item for name, item in fields.items() if item not in _EMPTY_ITEM}
        case Enum():
            return value.value
        case bytes():
            return base64.b64encode(value).decode()
        case Mapping():
            return {key: _plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(item) for item in value]
    return value


# Inside nested objects a zero is meant; an empty string or list is a field not given.
_EMPTY_ITEM: tuple[Any, ...] = (None, "", [], {})


def _is_duration(kind: Any) -> bool:
    """Whether numbers of this type, or of a type in this union, are durations."""
    return any(
        (each.extra or {}).get("format") == durations.FORMAT
        if isinstance(each, msgspec.Meta)
        else _is_duration(each)
        for each in get_args(kind)
    )

"""Write a configuration as kube-scheduler does, for ``--write-config-to`` and ``/configz``.

Everything is spelled out. Plugin sets are merged with the default ones but not expanded into
extension points.
"""

from __future__ import annotations

from typing import Any, Final

import yaml

from podium.config import defaults, export, upstream, wire
from podium.config.load import Reading
from podium.config.merge import PluginSet, merged_plugins, with_command_line
from podium.config.model import ClientConnection, Configuration, Profile
from podium.config.version import V1
from podium.framework.args import Args, NoArgs
from podium.framework.registry import Registry

_NOT_GIVEN: Final[tuple[Any, ...]] = ([], {}, "", None)


def dump(v1: Reading, configuration: Configuration, registry: Registry) -> dict[str, Any]:
    """Return plain data. ``v1`` is what was read, ``configuration`` has the flags applied."""
    given = defaults.profiles(v1.meaning.given.profiles)
    found = {
        "apiVersion": upstream.API_VERSION,
        "kind": upstream.KIND,
        **_top_level(configuration),
        "leaderElection": export.section_fields(configuration.leader_election),
        "clientConnection": _client_connection(configuration.client_connection),
        "profiles": [
            {**_profile(profile), "plugins": _plugins(v1, own.plugins, registry)}
            for profile, own in zip(v1.configuration.profiles, given, strict=True)
        ],
    }
    if configuration.extenders:
        found["extenders"] = [
            _without_false(export.extender_fields(each)) for each in configuration.extenders
        ]
    return found


def to_yaml(value: dict[str, Any]) -> str:
    """Print with sorted keys, and an empty string as ``""``, as Go does."""
    return yaml.dump(value, Dumper=_Dumper, allow_unicode=True, default_flow_style=False)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = None if text else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def _top_level(configuration: Configuration) -> dict[str, Any]:
    """As upstream, except that podium distinguishes a percentage of 0 from none."""
    found = export.top_level(configuration)
    if found["percentageOfNodesToScore"] is None:
        del found["percentageOfNodesToScore"]
    if not found["delayCacheUntilActive"]:
        del found["delayCacheUntilActive"]
    return found


def _client_connection(client: ClientConnection) -> dict[str, Any]:
    """Go writes a whole number without its fraction."""
    found = export.section_fields(client)
    return {**found, "qps": int(client.qps)} if client.qps.is_integer() else found


def _without_false(value: Any) -> Any:
    match value:
        case dict():
            return {key: _without_false(item) for key, item in value.items() if item is not False}
        case list():
            return [_without_false(item) for item in value]
    return value


def _profile(profile: Profile) -> dict[str, Any]:
    found: dict[str, Any] = {
        "schedulerName": profile.scheduler_name,
        "pluginConfig": [
            {"name": name, "args": _args(name, args)}
            for name, args in sorted(profile.args.items())
            if not isinstance(args, NoArgs)
        ],
    }
    if profile.percentage_of_nodes_to_score is not None:
        found["percentageOfNodesToScore"] = profile.percentage_of_nodes_to_score
    return found


def _args(name: str, args: Args) -> dict[str, Any]:
    kind = upstream.ARGS_KINDS.get(name)
    header = {"apiVersion": upstream.API_VERSION, "kind": kind} if kind else {}
    fields = export.args_fields(args).items()
    return header | {field: value for field, value in fields if value not in _NOT_GIVEN}


def _plugins(v1: Reading, own: wire.Plugins, registry: Registry) -> dict[str, Any]:
    merged = merged_plugins(own, "", V1, v1.meaning.defaults)
    sets = with_command_line(merged, own, registry)
    unknown = upstream.unknown_keys(registry.release)
    return {key: _plugin_set(each) for key, each in sets.items() if key not in unknown}


def _plugin_set(plugin_set: PluginSet) -> dict[str, Any]:
    found = {
        "enabled": [{"name": each.name, "weight": each.weight} for each in plugin_set.enabled],
        "disabled": [{"name": name, "weight": 0} for name in plugin_set.disabled],
    }
    return {key: entries for key, entries in found.items() if entries}

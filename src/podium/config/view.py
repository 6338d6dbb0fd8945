"""The effective configuration as plain data: what ``podium config show`` prints and ``diff`` reads.

Everything is spelled out, defaults included; plugins stand at each extension point in order.
"""

from typing import Any

from podium.config import words
from podium.config.model import Configuration, Profile
from podium.framework.plugin import Point


def effective(configuration: Configuration) -> dict[str, Any]:
    wish = {"alwaysCheckAllPredicates": True} if configuration.run_all_filters else {}
    return {
        **top_level(configuration),
        **wish,
        "leaderElection": words.of_section(configuration.leader_election),
        "clientConnection": words.of_section(configuration.client_connection),
        "profiles": [_profile(profile) for profile in configuration.profiles],
        "extenders": [words.of_extender(extender) for extender in configuration.extenders],
    }


def top_level(configuration: Configuration) -> dict[str, Any]:
    """The plain fields at the top, under the names that v1 has for them."""
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
            name: fields for name, args in profile.args.items() if (fields := words.of_args(args))
        },
    }


def _plugins(profile: Profile, point: Point) -> list[dict[str, Any]]:
    names = profile.order_with_absent[point]
    found = []
    for name, origin in zip(names, profile.origins[point], strict=True):
        plugin: dict[str, Any] = {"name": name, "from": origin}
        if point is Point.SCORE:
            plugin["weight"] = profile.weights[name]
        if name in profile.absent:
            plugin["absent"] = True
        found.append(plugin)
    return found

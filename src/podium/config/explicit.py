"""A configuration as a v1 file that names every plugin: reading it adds no defaults.

A running scheduler shows it, and ``podium explain`` loads it to decide in the same way. Extenders
and what does not concern decisions are left out.
"""

from __future__ import annotations

from typing import Any

from podium.config import export, upstream
from podium.config.model import Configuration, Profile
from podium.framework.points import Point


def explicit(configuration: Configuration) -> dict[str, Any]:
    """Return plain data that ``config.from_value`` reads as the same profiles."""
    return {
        "apiVersion": upstream.API_VERSION,
        "kind": upstream.KIND,
        **_percentage(configuration.percentage_of_nodes_to_score),
        "profiles": [_profile(profile) for profile in configuration.profiles],
    }


def _profile(profile: Profile) -> dict[str, Any]:
    points = {point.value: {"enabled": _enabled(profile, point)} for point in Point}
    return {
        "schedulerName": profile.scheduler_name,
        **_percentage(profile.percentage_of_nodes_to_score),
        "plugins": {"multiPoint": {"disabled": [{"name": "*"}]}, **points},
        "pluginConfig": [
            {"name": name, "args": fields}
            for name, args in profile.args.items()
            if (fields := export.args_fields(args))
        ],
    }


def _enabled(profile: Profile, point: Point) -> list[dict[str, Any]]:
    named = (name for name in profile.order_with_absent[point] if name not in profile.absent)
    weights = export.weights_at(profile, point)
    if weights is None:
        return [{"name": name} for name in named]
    return [{"name": name, "weight": weights[name]} for name in named]


def _percentage(value: int | None) -> dict[str, int]:
    return {} if value is None else {"percentageOfNodesToScore": value}

"""Leaves plugins out of a configuration that are only loaded in the running scheduler."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any


def unknown_plugins(content: Mapping[str, Any], known: Container[str]) -> list[str]:
    """Return the plugins that a configuration enables and that are not known."""
    names = {
        one["name"]
        for profile in content.get("profiles") or ()
        for point in (profile.get("plugins") or {}).values()
        for one in point.get("enabled") or ()
    }
    return sorted(name for name in names if name not in known)


def without_plugins(content: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    """Return the configuration without these plugins and their arguments."""
    profiles = [_without(profile, names) for profile in content.get("profiles") or ()]
    return {**content, "profiles": profiles}


def _without(profile: Mapping[str, Any], names: Container[str]) -> dict[str, Any]:
    plugins = {
        name: {**point, "enabled": _others(point.get("enabled"), names)}
        for name, point in (profile.get("plugins") or {}).items()
    }
    arguments = _others(profile.get("pluginConfig"), names)
    return {**profile, "plugins": plugins, "pluginConfig": arguments}


def _others(listed: list[dict[str, Any]] | None, names: Container[str]) -> list[dict[str, Any]]:
    return [each for each in listed or () if each["name"] not in names]

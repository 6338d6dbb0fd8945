"""Plugins in the form that they have in a release."""

from typing import Any

from podium import app
from podium import framework as fwk
from podium.config.feature_gates import FeatureGates
from podium.framework.registry import Registry
from podium.release import Release
from podium.testing.handle import FakeHandle


def registry_of(release: Release, **gates: bool) -> Registry:
    return app.in_tree(FeatureGates(release, gates))


def plugin_of(
    name: str, release: Release, handle: fwk.Handle | None = None, **args: Any
) -> fwk.Plugin:
    """Build a plugin as a scheduler of this release does; without a handle, on no nodes."""
    registry = registry_of(release)
    built = registry.args_type(name)(**args)
    return registry.build(name, built, FakeHandle() if handle is None else handle)

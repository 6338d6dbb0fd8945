"""Plugins in the form that they have in a release."""

from typing import Any

from podium import app
from podium import framework as fwk
from podium.api.resources import request_rule
from podium.config.feature_gates import FeatureGates
from podium.framework.registry import Registry
from podium.release import Release
from podium.state.cluster import ClusterState
from podium.testing.handle import FakeHandle


def registry_of(release: Release, **gates: bool) -> Registry:
    return app.in_tree(FeatureGates(release, gates))


def kind_of(name: str, release: Release) -> Any:
    """The class of a plugin of a release."""
    return registry_of(release).entry(name).build


def plugin_of(
    name: str, release: Release, handle: fwk.Handle | None = None, **args: Any
) -> fwk.Plugin:
    """Build a plugin as a scheduler of this release does; without a handle, on no nodes."""
    registry = registry_of(release)
    built = registry.args_type(name)(**args)
    empty = FakeHandle(cluster=ClusterState(request_rule(release)))
    return registry.build(name, built, empty if handle is None else handle)

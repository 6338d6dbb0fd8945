"""What a simulation is built from: a configuration, a release and plugins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any, Final

from podium import config
from podium.app import in_tree_with_legacy, plugin_loading
from podium.config import Configuration, feature_gates
from podium.config.feature_gates import FeatureGates
from podium.framework.registry import Registry
from podium.legacy import VERSIONS
from podium.release import LATEST, V1_37, Release, release_named

GROUPS: Final = "GenericWorkload"
DEFAULT_CONFIGURATION: Final = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
}

ConfigurationSource = Configuration | Mapping[str, Any] | str | PathLike[str]


def gates_of(release: Release | str | None, settings: Iterable[str] = ()) -> FeatureGates:
    """Return the feature gates of a simulation: those of the release, and these settings.

    A cluster has pods of pod groups only if its API server has GenericWorkload, so that gate is on
    in every release of which podium has it: without such pods it changes nothing.
    """
    if not isinstance(release, Release):
        release = LATEST if release is None else release_named(release)
    usual = [f"{GROUPS}=true"] if release >= V1_37 else []
    return feature_gates.parse([*usual, *settings], release)


def registry_of(gates: FeatureGates, plugins: Iterable[object]) -> Registry:
    """Return the plugins of a release with these gates, and these."""
    return plugin_loading.registry(plugins=plugins, own=in_tree_with_legacy(gates))


def read_configuration(
    source: ConfigurationSource | None, registry: Registry, gates: FeatureGates
) -> Configuration:
    """Return a configuration; the default one if none is given."""
    match source:
        case None:
            return config.default(registry, gates=gates)
        case Configuration():
            return source
        case Mapping():
            return config.from_value(dict(source), registry, gates=gates, versions=VERSIONS)
    return config.load_file(source, registry, gates=gates, versions=VERSIONS)

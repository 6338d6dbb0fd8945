"""A configuration with the plugins that only older ones name, beside all the others."""

from podium import app, config
from podium.config import upstream
from podium.legacy import VERSIONS
from podium.legacy.versions.default_plugins import V1BETA1

ARGS = {
    "NodeLabel": {"presentLabels": ["kubernetes.io/hostname"], "absentLabelsPreference": ["disk"]},
    "NodeResourcesMostAllocated": {"resources": [{"name": "example.com/gpu", "weight": 3}]},
    "RequestedToCapacityRatio": {
        "shape": [{"utilization": 10, "score": 9}, {"utilization": 80, "score": 1}]
    },
    "ServiceAffinity": {
        "affinityLabels": ["disk"],
        "antiAffinityLabelsPreference": ["topology.kubernetes.io/zone", "disk"],
    },
}


def with_legacy() -> config.Configuration:
    """v1beta1 is the last version that knows them all; what it leaves out is enabled."""
    registry = app.in_tree_with_legacy()
    points = {point.value for name in registry for point in registry.points(name)}
    missing = {
        key: [
            {"name": name}
            for name in registry
            if key in {point.value for point in registry.points(name)} and name not in V1BETA1[key]
        ]
        for key in points - {"preEnqueue"}
    }
    profile = {
        "plugins": {key: {"enabled": plugins} for key, plugins in missing.items()},
        "pluginConfig": [{"name": name, "args": args} for name, args in ARGS.items()],
    }
    value = {
        "apiVersion": f"{upstream.GROUP}/v1beta1",
        "kind": upstream.KIND,
        "profiles": [profile],
    }
    return config.from_value(value, registry, versions=VERSIONS)

"""A configuration with the plugins that only older ones name, beside the default ones."""

from podium import app, config
from podium.config import upstream
from podium.plugins import LEGACY

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
    profile = {
        "plugins": {"multiPoint": {"enabled": [{"name": plugin.name} for plugin in LEGACY]}},
        "pluginConfig": [{"name": name, "args": args} for name, args in ARGS.items()],
    }
    value = {"apiVersion": upstream.API_VERSION, "kind": upstream.KIND, "profiles": [profile]}
    return config.from_value(value, app.in_tree_with_legacy())

"""Facts about kube-scheduler: extension points, plugins and the default profile by release."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from podium.release import LATEST, V1_36, Release

GROUP = "kubescheduler.config.k8s.io"
API_VERSION = f"{GROUP}/v1"
KIND = "KubeSchedulerConfiguration"

MULTI_POINT = "multiPoint"

# In the order in which upstream builds a profile: it decides which error names an unknown plugin.
INTERFACES = MappingProxyType(
    {
        "preFilter": "PreFilterPlugin",
        "filter": "FilterPlugin",
        "postFilter": "PostFilterPlugin",
        "podGroupPostFilter": "PodGroupPostFilterPlugin",
        "reserve": "ReservePlugin",
        "preScore": "PreScorePlugin",
        "score": "ScorePlugin",
        "preBind": "PreBindPlugin",
        "bind": "BindPlugin",
        "postBind": "PostBindPlugin",
        "permit": "PermitPlugin",
        "preEnqueue": "PreEnqueuePlugin",
        "queueSort": "QueueSortPlugin",
        "placementGenerate": "PlacementGeneratePlugin",
        "placementScore": "PlacementScorePlugin",
    }
)

# As upstream, a plugin that a version rejects is not rejected at these extension points.
PLACEMENT_KEYS = frozenset({"placementGenerate", "placementScore"})

# The extension points that a release does not have yet.
_UNKNOWN_KEYS = MappingProxyType({V1_36: frozenset({"podGroupPostFilter"})})


def unknown_keys(release: Release) -> frozenset[str]:
    """Return the keys of extension points that only later releases have."""
    return _UNKNOWN_KEYS.get(release, frozenset())


_FILTER = "preFilter filter"
_SCORE = "preScore score"

_POINTS = MappingProxyType(
    {
        name: frozenset(points.split())
        for name, points in {
            "SchedulingGates": "preEnqueue",
            "PrioritySort": "queueSort",
            "NodeName": _FILTER,
            "NodeUnschedulable": _FILTER,
            "TaintToleration": f"{_FILTER} {_SCORE}",
            "NodeAffinity": f"{_FILTER} {_SCORE}",
            "NodePorts": _FILTER,
            "NodeResourcesFit": f"{_FILTER} {_SCORE} placementScore",
            "VolumeRestrictions": _FILTER,
            "NodeVolumeLimits": _FILTER,
            "VolumeBinding": f"{_FILTER} {_SCORE} reserve preBind",
            "VolumeZone": _FILTER,
            "PodTopologySpread": f"{_FILTER} {_SCORE}",
            "InterPodAffinity": f"{_FILTER} {_SCORE}",
            "DynamicResources": f"preEnqueue {_FILTER} postFilter podGroupPostFilter score reserve "
            "preBind",
            "DefaultPreemption": "preEnqueue postFilter podGroupPostFilter",
            "NodeResourcesBalancedAllocation": _SCORE,
            "ImageLocality": "score",
            "DefaultBinder": "bind",
            "NodeDeclaredFeatures": _FILTER,
            "GangScheduling": "preEnqueue permit",
            "TopologyPlacementGenerator": "placementGenerate",
            "PodGroupPodsCount": "placementScore",
        }.items()
    }
)

# The points that a plugin does not have yet in a release.
_WITHOUT: Mapping[Release, Mapping[str, str]] = {
    V1_36: {
        "NodeName": "preFilter",
        "NodeUnschedulable": "preFilter",
        "TaintToleration": "preFilter",
        "DynamicResources": "podGroupPostFilter",
        "DefaultPreemption": "podGroupPostFilter",
    }
}


@cache
def points(release: Release) -> Mapping[str, frozenset[str]]:
    """Return the extension points of each plugin."""
    without = _WITHOUT.get(release, {})
    return {name: points - {without.get(name, "")} for name, points in _POINTS.items()}


# multiPoint of the default profile in order, with weights; 0 means that no weight is given.
_DEFAULT_WEIGHTS = MappingProxyType(
    {
        "SchedulingGates": 0,
        "PrioritySort": 0,
        "NodeName": 0,
        "NodeUnschedulable": 0,
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "NodePorts": 0,
        "NodeResourcesFit": 1,
        "VolumeRestrictions": 0,
        "NodeVolumeLimits": 0,
        "VolumeBinding": 0,
        "VolumeZone": 0,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
        "DynamicResources": 2,
        "DefaultPreemption": 0,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
        "DefaultBinder": 0,
        "NodeDeclaredFeatures": 0,
    }
)


@cache
def default_weights(release: Release = LATEST) -> Mapping[str, int]:
    """Return multiPoint of the default profile in order, with weights; 0 if none is given."""
    found = dict(_DEFAULT_WEIGHTS)
    if release == V1_36:  # NodeUnschedulable comes before NodeName
        order = [name for name in found if name != "NodeName"]
        order.insert(order.index("NodeUnschedulable") + 1, "NodeName")
        found = {name: found[name] for name in order}
    return MappingProxyType(found)


# Plugins that a feature gate turns on, with the name of the gate. Those whose gate is off by
# default are not in the default profile, and come last in it when the gate is on.
GATED_PLUGINS = MappingProxyType(
    {
        "NodeDeclaredFeatures": "NodeDeclaredFeatures",
        "GangScheduling": "GenericWorkload",
        "TopologyPlacementGenerator": "TopologyAwareWorkloadScheduling",
        "PodGroupPodsCount": "TopologyAwareWorkloadScheduling",
    }
)

_CONDITIONS_OFF = (
    "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
)

# Arguments of plugins that a file may give only if all of these feature gates are on, with what
# upstream says otherwise. Its message misspells the first gate.
GATED_ARGS = MappingProxyType(
    {
        "DynamicResources": {
            "filterTimeout": (
                ("DRASchedulerFilterTimeout",),
                "DRASchedulingFilterTimeout feature gate is disabled",
            ),
            "bindingTimeout": (
                ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"),
                _CONDITIONS_OFF,
            ),
        },
    }
)

ARGS_KINDS = MappingProxyType(
    {
        name: f"{name}Args"
        for name in (
            "DefaultPreemption",
            "DynamicResources",
            "InterPodAffinity",
            "NodeAffinity",
            "NodeResourcesBalancedAllocation",
            "NodeResourcesFit",
            "PodTopologySpread",
            "VolumeBinding",
        )
    }
)

# Removed in v1; these fail by name at the extension points and in pluginConfig.
CLOUD_LIMITS = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})

# Removed in v1beta2.
REMOVED_IN_V1BETA2 = frozenset(
    {
        "NodeLabel",
        "NodePreferAvoidPods",
        "NodeResourcesLeastAllocated",
        "NodeResourcesMostAllocated",
        "RequestedToCapacityRatio",
        "ServiceAffinity",
    }
)

# The plugins that kube-scheduler has dropped, at the extension points where they ran.
LEGACY_POINTS = MappingProxyType(
    {
        **dict.fromkeys(CLOUD_LIMITS, frozenset(_FILTER.split())),
        **dict.fromkeys(REMOVED_IN_V1BETA2, frozenset({"score"})),
        "NodeLabel": frozenset({"filter", "score"}),
        "SelectorSpread": frozenset(_SCORE.split()),
        "ServiceAffinity": frozenset(f"{_FILTER} score".split()),
    }
)

_STRATEGY = "use scoringStrategy of NodeResourcesFit, type"
REPLACEMENTS = MappingProxyType(
    {
        **dict.fromkeys(CLOUD_LIMITS, "NodeVolumeLimits counts these volumes now"),
        "NodeLabel": "use addedAffinity of NodeAffinity",
        "NodePreferAvoidPods": "taint the nodes instead",
        "NodeResourcesLeastAllocated": f"{_STRATEGY} LeastAllocated",
        "NodeResourcesMostAllocated": f"{_STRATEGY} MostAllocated",
        "RequestedToCapacityRatio": f"{_STRATEGY} RequestedToCapacityRatio",
        "SelectorSpread": "PodTopologySpread with defaultingType System is close to it",
        "ServiceAffinity": "use pod affinity",
    }
)

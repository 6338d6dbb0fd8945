"""What kube-scheduler v1.36 knows: its extension points, its plugins and its default profile."""

from types import MappingProxyType

API_VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"

MULTI_POINT = "multiPoint"

# In the order in which upstream builds a profile: it decides which error names an unknown plugin.
INTERFACES = MappingProxyType(
    {
        "preFilter": "PreFilterPlugin",
        "filter": "FilterPlugin",
        "postFilter": "PostFilterPlugin",
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

# Only for pod groups: the file may use these keys, podium has no such extension points.
PLACEMENT_KEYS = frozenset({"placementGenerate", "placementScore"})

_FILTER = "preFilter filter"
_SCORE = "preScore score"

POINTS = MappingProxyType(
    {
        name: frozenset(points.split())
        for name, points in {
            "SchedulingGates": "preEnqueue",
            "PrioritySort": "queueSort",
            "NodeUnschedulable": "filter",
            "NodeName": "filter",
            "TaintToleration": f"filter {_SCORE}",
            "NodeAffinity": f"{_FILTER} {_SCORE}",
            "NodePorts": _FILTER,
            "NodeResourcesFit": f"{_FILTER} {_SCORE} placementScore",
            "VolumeRestrictions": _FILTER,
            "NodeVolumeLimits": _FILTER,
            "VolumeBinding": f"{_FILTER} {_SCORE} reserve preBind",
            "VolumeZone": _FILTER,
            "PodTopologySpread": f"{_FILTER} {_SCORE}",
            "InterPodAffinity": f"{_FILTER} {_SCORE}",
            "DynamicResources": f"preEnqueue {_FILTER} postFilter score reserve preBind",
            "DefaultPreemption": "preEnqueue postFilter",
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

# The default profile's multiPoint in its order, with the weights it gives; 0 is no weight given.
DEFAULT_WEIGHTS = MappingProxyType(
    {
        "SchedulingGates": 0,
        "PrioritySort": 0,
        "NodeUnschedulable": 0,
        "NodeName": 0,
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
REJECTED = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})

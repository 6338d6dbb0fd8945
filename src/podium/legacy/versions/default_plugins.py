"""The default plugins of each older version, in order, with their weights.

They are those of the last kube-scheduler release that read the version.
"""

from types import MappingProxyType

from podium.config.version import Defaults


def _weights(text: str) -> dict[str, int]:
    """Parse ``"TaintToleration=3 NodeName"``: names in order, some with a weight."""
    words = (word.partition("=") for word in text.split())
    return {name: int(weight or 0) for name, _, weight in words}


def _defaults(**points: str) -> Defaults:
    return MappingProxyType({key: _weights(text) for key, text in points.items()})


# 1.28
V1BETA3 = _defaults(
    multiPoint="PrioritySort NodeUnschedulable NodeName TaintToleration=3 NodeAffinity=2 NodePorts "
    "NodeResourcesFit=1 VolumeRestrictions EBSLimits GCEPDLimits NodeVolumeLimits AzureDiskLimits "
    "VolumeBinding VolumeZone PodTopologySpread=2 InterPodAffinity=2 DefaultPreemption "
    "NodeResourcesBalancedAllocation=1 ImageLocality=1 DefaultBinder SchedulingGates"
)

_FILTERS = (
    "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts NodeResourcesFit "
    "VolumeRestrictions EBSLimits GCEPDLimits NodeVolumeLimits AzureDiskLimits VolumeBinding "
    "VolumeZone PodTopologySpread InterPodAffinity"
)
_SCORES_OF_1_22 = (
    "NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 {} NodeAffinity=1 "
    "{}PodTopologySpread=2 TaintToleration=1"
)
_SHARED = {
    # Scheduling gates are newer than these versions, but a gated pod must not be bound.
    "preEnqueue": "SchedulingGates",
    "queueSort": "PrioritySort",
    "postFilter": "DefaultPreemption",
    "reserve": "VolumeBinding",
    "preBind": "VolumeBinding",
    "bind": "DefaultBinder",
}

# 1.22 to 1.27
V1BETA2 = _defaults(
    **_SHARED,
    preFilter="NodeResourcesFit NodePorts VolumeRestrictions PodTopologySpread InterPodAffinity "
    "VolumeBinding NodeAffinity",
    filter=_FILTERS,
    preScore="InterPodAffinity PodTopologySpread TaintToleration NodeAffinity",
    score=_SCORES_OF_1_22.format("NodeResourcesFit=1", ""),
)

# 1.22
V1BETA1: Defaults = MappingProxyType(
    {
        **V1BETA2,
        "score": _weights(
            _SCORES_OF_1_22.format("NodeResourcesLeastAllocated=1", "NodePreferAvoidPods=10000 ")
        ),
    }
)

# 1.18. VolumeRestrictions had no PreFilter then and needs it now. Preemption, and reserving and
# binding volumes, were part of the scheduler itself then and are plugins now.
V1ALPHA2 = _defaults(
    **_SHARED,
    preFilter="NodeResourcesFit NodePorts InterPodAffinity PodTopologySpread VolumeRestrictions "
    "VolumeBinding",
    filter="NodeUnschedulable NodeResourcesFit NodeName NodePorts NodeAffinity VolumeRestrictions "
    "TaintToleration EBSLimits GCEPDLimits NodeVolumeLimits AzureDiskLimits VolumeBinding "
    "VolumeZone InterPodAffinity PodTopologySpread",
    preScore="InterPodAffinity SelectorSpread TaintToleration PodTopologySpread",
    score="NodeResourcesBalancedAllocation=1 ImageLocality=1 InterPodAffinity=1 "
    "NodeResourcesLeastAllocated=1 NodeAffinity=1 NodePreferAvoidPods=10000 SelectorSpread=1 "
    "TaintToleration=1 PodTopologySpread=1",
)


def packing(defaults: Defaults) -> Defaults:
    """Prefer full nodes to empty ones, as ClusterAutoscalerProvider did."""
    swapped = {"NodeResourcesLeastAllocated": "NodeResourcesMostAllocated"}
    scores = {swapped.get(name, name): weight for name, weight in defaults["score"].items()}
    return MappingProxyType({**defaults, "score": scores})

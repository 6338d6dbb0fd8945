"""The plugins that kube-scheduler has dropped. Only configurations older than v1 may name them."""

from podium.framework.plugin import Plugin
from podium.legacy.plugins.cloud_limits import (
    AzureDiskLimits,
    CinderLimits,
    EBSLimits,
    GCEPDLimits,
)
from podium.legacy.plugins.node_label import NodeLabel
from podium.legacy.plugins.node_prefer_avoid_pods import NodePreferAvoidPods
from podium.legacy.plugins.resource_strategies import (
    NodeResourcesLeastAllocated,
    NodeResourcesMostAllocated,
    RequestedToCapacityRatio,
)
from podium.legacy.plugins.selector_spread import SelectorSpread
from podium.legacy.plugins.service_affinity import ServiceAffinity

LEGACY: tuple[type[Plugin], ...] = (
    NodeLabel,
    NodePreferAvoidPods,
    NodeResourcesLeastAllocated,
    NodeResourcesMostAllocated,
    RequestedToCapacityRatio,
    SelectorSpread,
    ServiceAffinity,
    EBSLimits,
    GCEPDLimits,
    AzureDiskLimits,
    CinderLimits,
)

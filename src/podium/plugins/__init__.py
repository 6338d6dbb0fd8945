"""The in-tree plugins, in the order of the default profile; for ``app`` and the shells only."""

from podium.framework.plugin import Plugin
from podium.plugins.default_binder import DefaultBinder
from podium.plugins.dynamic_resources import DynamicResources
from podium.plugins.gang_scheduling import GangScheduling
from podium.plugins.image_locality import ImageLocality
from podium.plugins.inter_pod_affinity import InterPodAffinity
from podium.plugins.node_affinity import NodeAffinity
from podium.plugins.node_declared_features import NodeDeclaredFeatures
from podium.plugins.node_name import NodeName
from podium.plugins.node_ports import NodePorts
from podium.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from podium.plugins.node_resources_fit import NodeResourcesFit
from podium.plugins.node_unschedulable import NodeUnschedulable
from podium.plugins.pod_group_pods_count import PodGroupPodsCount
from podium.plugins.pod_topology_spread import PodTopologySpread
from podium.plugins.preemption import DefaultPreemption
from podium.plugins.priority_sort import PrioritySort
from podium.plugins.scheduling_gates import SchedulingGates
from podium.plugins.taint_toleration import TaintToleration
from podium.plugins.topology_placement_generator import TopologyPlacementGenerator
from podium.plugins.volume.binding import VolumeBinding
from podium.plugins.volume.node_volume_limits import NodeVolumeLimits
from podium.plugins.volume.volume_restrictions import VolumeRestrictions
from podium.plugins.volume.volume_zone import VolumeZone

IN_TREE: tuple[type[Plugin], ...] = (
    SchedulingGates,
    PrioritySort,
    NodeUnschedulable,
    NodeName,
    TaintToleration,
    NodeAffinity,
    NodePorts,
    NodeResourcesFit,
    VolumeRestrictions,
    NodeVolumeLimits,
    VolumeBinding,
    VolumeZone,
    PodTopologySpread,
    InterPodAffinity,
    DynamicResources,
    DefaultPreemption,
    NodeResourcesBalancedAllocation,
    ImageLocality,
    DefaultBinder,
    NodeDeclaredFeatures,
    GangScheduling,
    TopologyPlacementGenerator,
    PodGroupPodsCount,
)

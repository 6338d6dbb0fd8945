"""The plugins that come with podium, in the form that a release and its feature gates choose.

A rule that differs is a class of its own, chosen here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from podium.config.feature_gates import NO_CHOICE, FeatureGates
from podium.config.upstream import GATED_PLUGINS
from podium.devices import DeviceRules
from podium.framework.plugin import Plugin
from podium.framework.registry import IN_TREE as IN_TREE_ORIGIN
from podium.framework.registry import Registry
from podium.legacy.plugins import LEGACY
from podium.plugins import IN_TREE
from podium.plugins.dynamic_resources import (
    DynamicResources,
    DynamicResourcesWithoutTaintRules,
    ReportingDynamicResources,
)
from podium.plugins.dynamic_resources.groups import (
    GroupDynamicResources,
    TopologyGroupDynamicResources,
    WorkloadDynamicResources,
)
from podium.plugins.gang_scheduling import GangScheduling
from podium.plugins.gang_scheduling.trees import TreeGangScheduling
from podium.plugins.image_locality import ContainerImageLocality, ImageLocality
from podium.plugins.inter_pod_affinity import (
    AllTermsWakingInterPodAffinity,
    ExclusionIgnoringInterPodAffinity,
    InterPodAffinity,
)
from podium.plugins.node_declared_features import (
    NodeDeclaredFeatures,
    NodeDeclaredFeaturesWithoutMountOptions,
)
from podium.plugins.node_name import NarrowingNodeName, NodeName
from podium.plugins.node_resources_fit import NodeResourcesFit
from podium.plugins.node_resources_fit.placements import PlacementScoringFit
from podium.plugins.node_unschedulable import NodeUnschedulable, PreFilteringNodeUnschedulable
from podium.plugins.pod_topology_spread import (
    ComparingPodTopologySpread,
    IgnoringMatchLabelKeys,
    PodTopologySpread,
)
from podium.plugins.preemption import (
    DefaultPreemption,
    ExhaustivePreemption,
    NotActivatingPreemption,
    SynchronousPreemption,
    UnreportedPreemption,
)
from podium.plugins.preemption.groups import GroupPreemption, PolicyGroupPreemption
from podium.plugins.taint_toleration import (
    ComparingTaintToleration,
    PreFilteringTaintToleration,
    TaintToleration,
)
from podium.plugins.volume.binding import ScoringVolumeBinding, VolumeBinding
from podium.plugins.volume.node_volume_limits import (
    DriverRequiringVolumeLimits,
    NodeVolumeLimits,
)
from podium.release import V1_37, Release
from podium.scheduler_plugins import OFFERED

TOPOLOGY: Final = "TopologyAwareWorkloadScheduling"
COMPARISON: Final = "TaintTolerationComparisonOperators"

Choice = Callable[[FeatureGates], bool]


def gate(name: str) -> Choice:
    """Choose by a feature gate that is on."""
    return lambda gates: gates.enabled(name)


def no_gate(name: str) -> Choice:
    """Choose by a feature gate that is off."""
    return lambda gates: not gates.enabled(name)


def since(release: Release) -> Choice:
    """Choose by the release: this one and later ones."""
    return lambda gates: gates.release >= release


def before(release: Release) -> Choice:
    """Choose by the release: only earlier ones than this."""
    return lambda gates: gates.release < release


class Variant(NamedTuple):
    """Another form of a plugin, and when it is used."""

    of: type[Plugin]
    is_chosen: Choice
    plugin: type[Plugin]  # a subclass of ``of`` that overrides what differs


# Each row is one difference. A plugin of which several variants are chosen is a subclass of all of
# them: each changes something else.
VARIANTS: Final = (
    Variant(NodeName, since(V1_37), NarrowingNodeName),
    Variant(NodeUnschedulable, since(V1_37), PreFilteringNodeUnschedulable),
    Variant(TaintToleration, since(V1_37), PreFilteringTaintToleration),
    Variant(DynamicResources, before(V1_37), ReportingDynamicResources),
    Variant(DynamicResources, no_gate("DRADeviceTaintRules"), DynamicResourcesWithoutTaintRules),
    Variant(DefaultPreemption, no_gate("SchedulerAsyncPreemption"), SynchronousPreemption),
    Variant(DefaultPreemption, gate("GenericWorkload"), GroupPreemption),
    Variant(DefaultPreemption, gate("PodGroupPreemptionPolicy"), PolicyGroupPreemption),
    Variant(DynamicResources, gate("GenericWorkload"), GroupDynamicResources),
    Variant(DynamicResources, gate(TOPOLOGY), TopologyGroupDynamicResources),
    Variant(DynamicResources, gate("DRAWorkloadResourceClaims"), WorkloadDynamicResources),
    Variant(GangScheduling, gate("CompositePodGroup"), TreeGangScheduling),
    Variant(NodeResourcesFit, gate(TOPOLOGY), PlacementScoringFit),
    Variant(DefaultPreemption, before(V1_37), UnreportedPreemption),
    Variant(DefaultPreemption, before(V1_37), ExhaustivePreemption),
    Variant(DefaultPreemption, before(V1_37), NotActivatingPreemption),
    Variant(InterPodAffinity, before(V1_37), ExclusionIgnoringInterPodAffinity),
    Variant(InterPodAffinity, before(V1_37), AllTermsWakingInterPodAffinity),
    Variant(ImageLocality, before(V1_37), ContainerImageLocality),
    Variant(NodeDeclaredFeatures, before(V1_37), NodeDeclaredFeaturesWithoutMountOptions),
    Variant(NodeVolumeLimits, gate("VolumeLimitScaling"), DriverRequiringVolumeLimits),
    Variant(VolumeBinding, gate("StorageCapacityScoring"), ScoringVolumeBinding),
    Variant(
        PodTopologySpread, no_gate("MatchLabelKeysInPodTopologySpread"), IgnoringMatchLabelKeys
    ),
    Variant(TaintToleration, gate(COMPARISON), ComparingTaintToleration),
    Variant(PodTopologySpread, gate(COMPARISON), ComparingPodTopologySpread),
)


def in_tree(gates: FeatureGates = NO_CHOICE) -> Registry:
    """Return the plugins as configurations of v1 know them."""
    return _registry(gates.release, frozenset(gates.chosen.items()), with_legacy=False).copy()


def in_tree_with_legacy(gates: FeatureGates = NO_CHOICE) -> Registry:
    """Return those, and the plugins that only older configurations may name."""
    return _registry(gates.release, frozenset(gates.chosen.items()), with_legacy=True).copy()


@cache
def _registry(
    release: Release, chosen: frozenset[tuple[str, bool]], *, with_legacy: bool
) -> Registry:
    """Registering checks the signatures of all methods: 7 ms, so it is done once per process."""
    gates = FeatureGates(release, dict(chosen))
    plugins = (*IN_TREE, *LEGACY) if with_legacy else IN_TREE
    there = [each for each in plugins if _is_there(each.name, gates)]
    found = Registry([_form_of(each, gates) for each in there], release, device_rules(gates))
    for name, load in OFFERED.items():
        found.offer(name, load, IN_TREE_ORIGIN)
    return found


def _is_there(name: str, gates: FeatureGates) -> bool:
    gate = GATED_PLUGINS.get(name)
    return gate is None or gates.enabled(gate)


def device_rules(gates: FeatureGates) -> DeviceRules:
    """Return how devices are allocated in this release with these gates."""
    return DeviceRules.of(gates.release, gates.enabled)


def _form_of(plugin: type[Plugin], gates: FeatureGates) -> type[Plugin]:
    forms = [each.plugin for each in VARIANTS if each.of is plugin and each.is_chosen(gates)]
    if len(forms) < 2:
        return forms[0] if forms else plugin
    return type(plugin.__name__, tuple(forms), {"__module__": plugin.__module__})

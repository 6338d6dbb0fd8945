"""Stable codes for the reasons of plugins, with plain words. ``docs/explain.md`` lists them.

A code outlives a change of the message: scripts should compare codes, people read the text.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from podium.explain.values import Reason
from podium.framework.status import Status


class Meaning(NamedTuple):
    """One reason: which messages it covers, its code, and what it means.

    ``text`` completes "the node ..." for a reason about a node, "the pod ..." for any other.
    """

    plugin: str  # empty for any plugin
    pattern: str  # a regular expression that finds the message
    code: str
    text: str

    @property
    def is_about_pod(self) -> bool:
        return self.code in _ABOUT_PODS


NO_NODES: Final = "NoNodes"
NO_SUCH_SCHEDULER: Final = "NoSuchScheduler"
PLUGIN_FAILED: Final = "PluginFailed"
REFUSED: Final = "Refused"

MEANINGS: Final = (
    Meaning(
        "SchedulingGates", "waiting for scheduling gates", "SchedulingGated", "has scheduling gates"
    ),
    Meaning(
        "DefaultPreemption",
        "waiting for the preemption",
        "WaitingForVictims",
        "waits until the pods that make room for it are gone",
    ),
    Meaning(
        "GangScheduling",
        'pod group "',
        "PodGroupNotFound",
        "belongs to a pod group that does not exist",
    ),
    Meaning(
        "GangScheduling",
        "to appear in scheduling queue",
        "PodGroupIncomplete",
        "belongs to a pod group that has too few pods",
    ),
    Meaning(
        "GangScheduling",
        "",
        "PodGroupUnschedulable",
        "belongs to a pod group of which too few pods fit",
    ),
    Meaning("NodeUnschedulable", "unschedulable", "NodeUnschedulable", "is cordoned"),
    Meaning(
        "NodeName", "requested node name", "NodeNameMismatch", "is not the node that the pod names"
    ),
    Meaning(
        "TaintToleration",
        "untolerated taint",
        "UntoleratedTaint",
        "has a taint that the pod does not tolerate",
    ),
    Meaning(
        "NodeAffinity",
        "scheduler-enforced",
        "ProfileAffinityMismatch",
        "does not match the node affinity that the scheduler's profile adds",
    ),
    Meaning(
        "NodeAffinity",
        "terms conflict",
        "NodeAffinityConflict",
        "has node affinity terms that contradict one another",
    ),
    Meaning(
        "NodeAffinity",
        "node affinity/selector",
        "NodeAffinityMismatch",
        "does not match the pod's node selector or node affinity",
    ),
    Meaning(
        "NodePorts", "free ports", "HostPortConflict", "has a pod that uses a host port of the pod"
    ),
    Meaning("NodeResourcesFit", "Too many pods", "TooManyPods", "has as many pods as it can have"),
    Meaning(
        "NodeResourcesFit",
        "Insufficient",
        "InsufficientResource",
        "has too little of a resource left",
    ),
    Meaning(
        "VolumeRestrictions",
        "no available disk",
        "DiskConflict",
        "has a pod that uses the same disk",
    ),
    Meaning(
        "VolumeRestrictions",
        "ReadWriteOncePod",
        "ClaimInUse",
        "cannot be used while another pod uses a ReadWriteOncePod claim of the pod",
    ),
    Meaning(
        "NodeVolumeLimits",
        "max volume count",
        "TooManyVolumes",
        "has as many volumes of a driver as it can have",
    ),
    Meaning(
        "NodeVolumeLimits",
        "driver is not installed",
        "DriverNotInstalled",
        "lacks a CSI driver that the pod's volumes need",
    ),
    Meaning(
        "VolumeBinding",
        "unbound immediate",
        "ClaimUnbound",
        "has a claim that is not bound to a volume",
    ),
    Meaning(
        "VolumeBinding",
        "bound to non-existent persistentvolume ",
        "ClaimLost",
        "has a claim whose volume is gone",
    ),
    Meaning(
        "VolumeBinding",
        "persistentvolumeclaim .* is being deleted",
        "ClaimTerminating",
        "has a claim that is being deleted",
    ),
    Meaning(
        "VolumeBinding",
        "ephemeral volume controller",
        "ClaimNotCreatedYet",
        "waits for the claim of an ephemeral volume to be created",
    ),
    Meaning(
        "VolumeBinding",
        "PersistentVolume's node affinity",
        "VolumeNodeAffinityConflict",
        "cannot reach a volume of the pod",
    ),
    Meaning(
        "VolumeBinding",
        "available persistent volumes to bind",
        "NoVolumeToBind",
        "has no volume that a claim of the pod could use, and none can be made there",
    ),
    Meaning(
        "VolumeBinding",
        "enough free storage",
        "InsufficientStorage",
        "has too little storage left for a new volume of the pod",
    ),
    Meaning(
        "VolumeBinding",
        "non-existent pv",
        "VolumeNotFound",
        "has a claim whose volume does not exist",
    ),
    Meaning(
        "VolumeZone",
        "volume zone",
        "VolumeZoneConflict",
        "is not in the zone of a volume of the pod",
    ),
    Meaning(
        "VolumeZone",
        "persistentvolume .* not found",
        "VolumeNotFound",
        "has a claim whose volume does not exist",
    ),
    Meaning(
        "VolumeZone",
        "storageclass.* not found",
        "StorageClassNotFound",
        "has a claim whose storage class does not exist",
    ),
    Meaning(
        "VolumeZone",
        "PersistentVolume had no name|had no pv name",
        "ClaimUnbound",
        "has a claim that is not bound to a volume",
    ),
    Meaning(
        "",
        "VolumeBindingMode not set",
        "StorageClassInvalid",
        "has a claim whose storage class has no binding mode",
    ),
    Meaning(
        "", "PersistentVolumeClaim had no name", "ClaimInvalid", "has a volume that names no claim"
    ),
    Meaning(
        "",
        "persistentvolumeclaim .* not found|looking up PVC",
        "ClaimNotFound",
        "has a claim that does not exist",
    ),
    Meaning(
        "",
        "pod is not owner|Pod is not owner",
        "ClaimOwnedByOther",
        "has a claim that was made for another pod",
    ),
    Meaning(
        "PodTopologySpread",
        "missing required label",
        "TopologyLabelMissing",
        "lacks the label that the pod's topology spread constraint is about",
    ),
    Meaning(
        "PodTopologySpread",
        "topology spread",
        "TopologySpreadSkew",
        "is in a domain that has too many of the pods that the pod spreads with",
    ),
    Meaning(
        "InterPodAffinity",
        "existing pods anti-affinity",
        "ExistingAntiAffinity",
        "has pods nearby that do not want the pod",
    ),
    Meaning(
        "InterPodAffinity",
        "pod anti-affinity",
        "PodAntiAffinity",
        "has pods nearby that the pod does not want",
    ),
    Meaning(
        "InterPodAffinity",
        "pod affinity rules",
        "PodAffinityMismatch",
        "has no pods nearby that the pod wants",
    ),
    Meaning(
        "InterPodAffinity",
        "parsing pod",
        "AffinityTermInvalid",
        "has an affinity term that is invalid",
    ),
    Meaning(
        "DynamicResources",
        "cannot allocate all claims",
        "DevicesUnavailable",
        "does not have the devices that the pod's claims ask for",
    ),
    Meaning(
        "DynamicResources",
        "cannot fit resource",
        "DeviceResourceNotOffered",
        "does not offer an extended resource that the pod requests",
    ),
    Meaning(
        "DynamicResources",
        "invalid resource pools",
        "ResourcePoolInvalid",
        "has a resource pool that is invalid",
    ),
    Meaning(
        "DynamicResources",
        "not available on the node",
        "ClaimAllocatedElsewhere",
        "cannot use the devices that a claim of the pod already has",
    ),
    Meaning(
        "DynamicResources",
        "process of being allocated",
        "ClaimBeingAllocated",
        "has a claim that is being allocated for another pod",
    ),
    Meaning(
        "DynamicResources",
        "device class .* does not exist",
        "DeviceClassNotFound",
        "has a claim for a device class that does not exist",
    ),
    Meaning(
        "DynamicResources",
        "could not find ResourceClaim",
        "ResourceClaimNotFound",
        "has a resource claim that does not exist",
    ),
    Meaning(
        "DynamicResources",
        "ResourceClaim not created yet",
        "ResourceClaimNotCreatedYet",
        "waits for its resource claims to be created from their templates",
    ),
    Meaning(
        "DynamicResources",
        "resourceclaim .* is being deleted",
        "ResourceClaimTerminating",
        "has a resource claim that is being deleted",
    ),
    Meaning(
        "DynamicResources",
        "extended resource claim",
        "LeftoverExtendedClaim",
        "has an old claim for its extended resources, which is deleted first",
    ),
    Meaning(
        "DynamicResources",
        "request type|supported fields|subrequests",
        "ResourceClaimInvalid",
        "has a resource claim that is invalid",
    ),
    Meaning(
        "DynamicResources",
        "timed out|timeout",
        "DeviceSearchTimedOut",
        "takes too long to be searched for devices",
    ),
    Meaning(
        "NodeDeclaredFeatures",
        "required features",
        "FeatureNotDeclared",
        "does not declare a feature that the pod needs",
    ),
    Meaning(
        "DynamicResources",
        "ResourceClaim completed",
        "ResourceClaimReleased",
        "has given back a claim that it could not use, and is tried again",
    ),
    Meaning(
        "DefaultPreemption",
        "preemptionPolicy=Never",
        "PreemptionNever",
        "may not preempt: its preemptionPolicy is Never",
    ),
    Meaning(
        "DefaultPreemption",
        "terminating pod on the nominated node",
        "WaitingForVictims",
        "waits until the pods that make room for it are gone",
    ),
    Meaning(
        "DefaultPreemption",
        "No preemption victims|not helpful|no candidate",
        "PreemptionNotHelpful",
        "would get no node by preemption either",
    ),
    Meaning(
        "DefaultPreemption",
        "",
        "Preempting",
        "preempts other pods",
    ),
    Meaning("VolumeBinding", "", "VolumeBindingFailed", "could not be bound to its volumes"),
    Meaning("DynamicResources", "", "DeviceBindingFailed", "could not get its devices ready"),
    Meaning(
        "",
        "didn't satisfy plugin",
        "NamedNodesMissing",
        "is not one of the nodes that the pod names",
    ),
    Meaning("", "no nodes available", NO_NODES, "finds no node in the cluster"),
)

_ABOUT_PODS: Final = frozenset(
    {
        "AffinityTermInvalid",
        "ClaimBeingAllocated",
        "ClaimInvalid",
        "ClaimLost",
        "ClaimNotCreatedYet",
        "ClaimNotFound",
        "ClaimOwnedByOther",
        "ClaimTerminating",
        "ClaimUnbound",
        "DeviceBindingFailed",
        "DeviceClassNotFound",
        "LeftoverExtendedClaim",
        "NodeAffinityConflict",
        "PodGroupIncomplete",
        "PodGroupNotFound",
        "PodGroupUnschedulable",
        "Preempting",
        "PreemptionNever",
        "PreemptionNotHelpful",
        "ResourceClaimInvalid",
        "ResourceClaimNotCreatedYet",
        "ResourceClaimNotFound",
        "ResourceClaimReleased",
        "ResourceClaimTerminating",
        "SchedulingGated",
        "StorageClassInvalid",
        "StorageClassNotFound",
        "VolumeBindingFailed",
        "VolumeNotFound",
        "WaitingForVictims",
        NO_NODES,
        NO_SUCH_SCHEDULER,
        REFUSED,
    }
)


def meaning_of(plugin: str, message: str) -> Meaning:
    """Return what a message of a plugin means; a plugin from outside podium just refuses."""
    for meaning in MEANINGS:
        if meaning.plugin in ("", plugin) and re.search(meaning.pattern, message):
            return meaning
    return Meaning(plugin, "", REFUSED, f"is refused by {plugin}: {message}")


def reason_of(status: Status, point: str, nodes: int = 0) -> Reason:
    """Return the reason behind a status; the first, if it has several."""
    plugin, message = status.plugin, status.message
    if not status.is_rejection and not status.is_wait:
        text = f"could not be judged: {message}"
        return Reason(PLUGIN_FAILED, plugin, point, message, text, nodes)
    meaning = meaning_of(plugin, status.reasons[0] if status.reasons else "")
    return Reason(meaning.code, plugin, point, message, meaning.text, nodes)


# What the nodes do that pass a filter: the steps of the funnel.
PASSING: Final = {
    "NodeUnschedulable": "are not cordoned",
    "NodeName": "are the node that it names",
    "TaintToleration": "have only taints that it tolerates",
    "NodeAffinity": "match its node selector and node affinity",
    "NodePorts": "have its host ports free",
    "NodeResourcesFit": "have room for what it requests",
    "VolumeRestrictions": "have its disks and claims to themselves",
    "NodeVolumeLimits": "can hold its volumes",
    "VolumeBinding": "can use its volumes",
    "VolumeZone": "are in the zones of its volumes",
    "PodTopologySpread": "keep its topology spread constraints",
    "InterPodAffinity": "keep all pod affinity and anti-affinity",
    "DynamicResources": "have the devices that it claims",
    "NodeDeclaredFeatures": "declare the features that it needs",
}


def passing(plugin: str) -> str:
    """Return what nodes do that pass this filter."""
    return PASSING.get(plugin, f"pass {plugin}")

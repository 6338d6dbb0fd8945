"""All a plugin author sees: ``from podium import framework as fwk``."""

from typing import Any

from podium.api.objects import (
    Affinity,
    Condition,
    Container,
    CSINode,
    Namespace,
    Node,
    NodeSpec,
    NodeStatus,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodSpec,
    PodStatus,
    Service,
    StorageClass,
    Taint,
    Taints,
    Toleration,
    Volume,
)
from podium.framework import deprecated
from podium.framework.args import Args, NoArgs, Problem
from podium.framework.cluster_view import (
    ClusterView,
    HeldImage,
    LabelColumn,
    StandingTerm,
    stable_hash,
)
from podium.framework.cycle_state import CycleState, PodsToActivate
from podium.framework.dependencies import Dependencies
from podium.framework.diagnosis import NodeStatuses, fit_message
from podium.framework.events import ClusterEvent, Hint, Registration, Topic, on
from podium.framework.extender import Extender, Filtered
from podium.framework.field_signatures import pod_fields
from podium.framework.handle import Client, EventNote, EventRecorder, Handle, Lister
from podium.framework.plugin import (
    BindPlugin,
    EnqueueExtensions,
    FilterPlugin,
    NotSignable,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterExtensions,
    PreFilterExtensionsForMany,
    PreFilterPlugin,
    PreScorePlugin,
    QueueSortPlugin,
    ReservePlugin,
    ScorePlugin,
    Statuses,
)
from podium.framework.points import Point
from podium.framework.preemption import Candidate, Candidates, PreemptionPlugin, Proposal
from podium.framework.queued_pod import QueuedPod
from podium.framework.registry import Registry
from podium.framework.resource_filter import ResourceFilterPlugin, Room
from podium.framework.scores import Scores, idiv, scale
from podium.framework.status import (
    SUCCESS,
    Code,
    Nominate,
    PreFilterResult,
    PreFlight,
    Status,
    Wait,
    skip,
    wait,
)
from podium.framework.waiting_pods import WaitingPod
from podium.state.aspects import Aspect
from podium.state.column import Column, packed
from podium.state.label_columns import LabelView, LabelViews
from podium.state.overlay import Overlay
from podium.state.pod_columns import PlacedPods
from podium.state.pod_groups import Clause, PodQuery, pods_matching
from podium.state.pod_info import PodInfo
from podium.state.rows import NodeInfo, PodsOnRows, Rows

API_VERSION = (1, 0)
"""Moves with the names and signatures in docs/plugins/api.md: the first number when one breaks."""

__all__ = [
    "API_VERSION",
    "SUCCESS",
    "Affinity",
    "Args",
    "Aspect",
    "BindPlugin",
    "CSINode",
    "Candidate",
    "Candidates",
    "Clause",
    "Client",
    "ClusterEvent",
    "ClusterView",
    "Code",
    "Column",
    "Condition",
    "Container",
    "CycleState",
    "Dependencies",
    "EnqueueExtensions",
    "EventNote",
    "EventRecorder",
    "Extender",
    "FilterPlugin",
    "Filtered",
    "Handle",
    "HeldImage",
    "Hint",
    "LabelColumn",
    "LabelView",
    "LabelViews",
    "Lister",
    "Namespace",
    "NoArgs",
    "Node",
    "NodeInfo",
    "NodeSpec",
    "NodeStatus",
    "NodeStatuses",
    "Nominate",
    "NotSignable",
    "ObjectMeta",
    "Overlay",
    "PermitPlugin",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "PlacedPods",
    "Plugin",
    "Pod",
    "PodInfo",
    "PodQuery",
    "PodSpec",
    "PodStatus",
    "PodsOnRows",
    "PodsToActivate",
    "Point",
    "PostBindPlugin",
    "PostFilterPlugin",
    "PreBindPlugin",
    "PreEnqueuePlugin",
    "PreFilterExtensions",
    "PreFilterExtensionsForMany",
    "PreFilterPlugin",
    "PreFilterResult",
    "PreFlight",
    "PreScorePlugin",
    "PreemptionPlugin",
    "Problem",
    "Proposal",
    "QueueSortPlugin",
    "QueuedPod",
    "Registration",
    "Registry",
    "ReservePlugin",
    "ResourceFilterPlugin",
    "Room",
    "Rows",
    "ScorePlugin",
    "Scores",
    "Service",
    "StandingTerm",
    "Status",
    "Statuses",
    "StorageClass",
    "Taint",
    "Taints",
    "Toleration",
    "Topic",
    "Volume",
    "Wait",
    "WaitingPod",
    "fit_message",
    "idiv",
    "on",
    "packed",
    "pod_fields",
    "pods_matching",
    "scale",
    "skip",
    "stable_hash",
    "wait",
]


def __getattr__(name: str) -> Any:
    return deprecated.look_up(name)

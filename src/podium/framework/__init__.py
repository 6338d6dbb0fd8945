"""All a plugin author sees: ``from podium import framework as fwk``."""

from typing import Any

from podium.framework import deprecated
from podium.framework.args import Args, NoArgs, Problem
from podium.framework.cycle_state import CycleState, PodsToActivate
from podium.framework.dependencies import Dependencies
from podium.framework.diagnosis import NodeStatuses, fit_message
from podium.framework.events import ClusterEvent, Hint, Registration, on
from podium.framework.extender import Extender, Filtered
from podium.framework.handle import Client, EventNote, EventRecorder, Handle, Lister
from podium.framework.plugin import (
    BindPlugin,
    EnqueueExtensions,
    FilterPlugin,
    NotSignable,
    PermitPlugin,
    Plugin,
    Point,
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
    Scores,
    Statuses,
    pod_fields,
)
from podium.framework.preemption import Candidate, Candidates, PreemptionPlugin, Proposal
from podium.framework.queued_pod import QueuedPod
from podium.framework.registry import Registry
from podium.framework.scores import idiv, scale
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
from podium.state.overlay import Overlay
from podium.state.pod_groups import Clause, PodQuery
from podium.state.pod_info import PodInfo
from podium.state.rows import LabelView, NodeInfo, PodsOnRows, Rows

__all__ = [
    "SUCCESS",
    "Args",
    "Aspect",
    "BindPlugin",
    "Candidate",
    "Candidates",
    "Clause",
    "Client",
    "ClusterEvent",
    "Code",
    "Column",
    "CycleState",
    "Dependencies",
    "EnqueueExtensions",
    "EventNote",
    "EventRecorder",
    "Extender",
    "FilterPlugin",
    "Filtered",
    "Handle",
    "Hint",
    "LabelView",
    "Lister",
    "NoArgs",
    "NodeInfo",
    "NodeStatuses",
    "Nominate",
    "NotSignable",
    "Overlay",
    "PermitPlugin",
    "Plugin",
    "PodInfo",
    "PodQuery",
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
    "Rows",
    "ScorePlugin",
    "Scores",
    "Status",
    "Statuses",
    "Wait",
    "WaitingPod",
    "fit_message",
    "idiv",
    "on",
    "packed",
    "pod_fields",
    "scale",
    "skip",
    "wait",
]


def __getattr__(name: str) -> Any:
    return deprecated.look_up(name)

"""How a release of Kubernetes names, derives and registers events.

The queue, the event handlers and the conformance replay are built with the rules of one release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from podium.api import quantity
from podium.api.objects import Node, Pod
from podium.api.resources import WRITTEN, Nanos, RequestRule, is_held, pod_requests, request_rule
from podium.framework.events import (
    ACTIONS,
    ASSIGNED_POD,
    POD_KINDS,
    TARGET_POD,
    UNSCHEDULABLE_POD,
    UNSCHEDULED_POD,
    ClusterEvent,
    Registration,
)
from podium.release import LATEST, V1_36, V1_37, Release

Registrations = list[Registration]
Changes = Iterable[tuple[str, object]]
"""Names of actions, each with whether it happened, in the order in which it is reported."""


@dataclass(frozen=True, slots=True)
class EventRules:
    """The events of one release.

    Events of pods without a node have the resource ``waiting_pod``; changes of a rejected pod have
    ``own_pod`` when its own hints are asked. ``added`` to ``updated_unknown`` are event labels of
    pods without a node, for metrics. ``request_rule`` finds the requests of a pod, and ``scaled``
    compares those before and after a change. ``own_plugins`` turns the registrations of podium's
    plugins, which are those of 1.37, into those of the release; ``implicit`` adds to those of all
    plugins.
    """

    waiting_pod: str
    own_pod: str
    added: str
    updated: str
    deleted: str
    updated_unknown: str  # the queue does not have the pod
    nominating: tuple[str, ...]  # a pod that becomes active by one of these is nominated
    nominates_gated: bool  # a new pod is nominated at once, instead of when it becomes active
    request_rule: RequestRule
    scaled: Callable[[Nanos, Nanos], Changes]
    own_plugins: Callable[[Registrations], Registrations]
    implicit: Callable[[Registrations], Registrations]

    def pod_events(self, old: Pod, new: Pod) -> list[ClusterEvent]:
        """Return the events that an update of a pod stands for, at least one."""
        return self._pod_events(ASSIGNED_POD if new.node_name else self.waiting_pod, old, new)

    def own_events(self, old: Pod, new: Pod) -> list[ClusterEvent]:
        """Return the events that an update of a pod stands for to that pod itself."""
        return self._pod_events(ASSIGNED_POD if new.node_name else self.own_pod, old, new)

    def _pod_events(self, resource: str, old: Pod, new: Pod) -> list[ClusterEvent]:
        actions = [action for action, happened in self._pod_changes(old, new) if happened]
        return [ClusterEvent.named(resource, action) for action in actions or ("Update",)]

    def _pod_changes(self, old: Pod, new: Pod) -> Changes:
        before, after = _requests(old, self.request_rule), _requests(new, self.request_rule)
        gates_gone = bool(old.spec.scheduling_gates) and not new.spec.scheduling_gates
        return (
            ("UpdatePodLabel", old.labels != new.labels),
            *self.scaled(before, after),
            ("UpdatePodSchedulingGatesEliminated", gates_gone),
            ("UpdatePodToleration", len(old.spec.tolerations) != len(new.spec.tolerations)),
            ("UpdatePodGeneratedResourceClaim", _claim_statuses(old) != _claim_statuses(new)),
        )


def node_events(old: Node, new: Node) -> list[ClusterEvent]:
    """Return the events that an update of a node stands for; none for a heartbeat."""
    changed = (
        ("UpdateNodeTaint", old.spec.unschedulable and not new.spec.unschedulable),
        ("UpdateNodeAllocatable", _amounts(old) != _amounts(new)),
        ("UpdateNodeLabel", old.labels != new.labels),
        ("UpdateNodeTaint", old.spec.taints != new.spec.taints),
        ("UpdateNodeCondition", _conditions(old) != _conditions(new)),
        ("UpdateNodeAnnotation", old.annotations != new.annotations),
        (
            "UpdateNodePreemptionPolicy",
            old.spec.pod_preemption_policy != new.spec.pod_preemption_policy,
        ),
        (
            "UpdateNodeDeclaredFeature",
            old.status.declared_features != new.status.declared_features,
        ),
    )
    return [ClusterEvent.named("Node", action) for action, differs in changed if differs]


def _amounts(node: Node) -> dict[str, int]:
    return {name: quantity.parse(q) for name, q in node.status.allocatable.items()}


def _conditions(node: Node) -> dict[str, str]:
    return {condition.type: condition.status for condition in node.status.conditions}


# --- requests of pods -----------------------------------------------------------------------------


def scaled_down_or_up(before: Nanos, after: Nanos) -> Changes:
    """Return whether a pod requests less or more; it may do both (1.37)."""
    return (
        ("UpdatePodScaleDown", _exceed(before, after)),
        ("UpdatePodScaleUp", _exceed(after, before)),
    )


def scaled_down(before: Nanos, after: Nanos) -> Changes:
    """Return whether a pod requests less (1.36)."""
    return (("UpdatePodScaleDown", _exceed(before, after)),)


def _requests(pod: Pod, rule: RequestRule) -> Nanos:
    if is_held(pod):
        return pod_requests(pod, rule)
    return pod_requests(pod, WRITTEN)


def _exceed(requests: Nanos, others: Nanos) -> bool:
    """Return whether a resource is requested of which the others request less, or nothing."""
    return requests != others and any(
        name not in others or quantity.milli(amount) > quantity.milli(others[name])
        for name, amount in requests.items()
    )


def _claim_statuses(pod: Pod) -> object:
    return (pod.status.resource_claim_statuses, pod.status.extended_resource_claim_status)


# --- registrations --------------------------------------------------------------------------------

CLAIM: Final = "resource.k8s.io/ResourceClaim"
FIRST_TAINTS: Final = Registration(ClusterEvent.named("Node", "UpdateNodeTaint"))


def as_they_are(registrations: Registrations) -> Registrations:
    return registrations


def on_all_pods(registrations: Registrations) -> Registrations:
    """Return the registrations as in 1.36: for all pods, and not for deleted resource claims.

    Registrations of one kind with the same hint become one. It has a topic if they share it.
    """
    merged: dict[tuple[str, object], Registration] = {}
    for each in registrations:
        event = _as_in_1_36(each.event)
        known = merged.get((event.resource, each.hint))
        actions = event.actions | (known.event.actions if known else 0)
        # The topic of one registration must not hide what another one asks for.
        topic = each.topic if known is None or known.topic == each.topic else None
        merged[event.resource, each.hint] = Registration(
            ClusterEvent(event.resource, actions), each.hint, topic
        )
    return list(merged.values())


def _as_in_1_36(event: ClusterEvent) -> ClusterEvent:
    if event.resource in POD_KINDS:
        return ClusterEvent("Pod", event.actions)
    if event.resource == CLAIM:
        return ClusterEvent(CLAIM, event.actions & ~ACTIONS["Delete"])
    return event


def with_first_taints(registrations: Registrations) -> Registrations:
    """Add changes of taints for a plugin that registers new nodes, as 1.36 does.

    A new node often starts with taints that are removed a moment later.
    """
    on_node = [r.event.actions for r in registrations if r.event.resource == "Node"]
    adds = any(actions & ACTIONS["Add"] for actions in on_node)
    taints = any(actions & ACTIONS["UpdateNodeTaint"] for actions in on_node)
    return [*registrations, FIRST_TAINTS] if adds and not taints else registrations


# --- releases -------------------------------------------------------------------------------------

_RULES: Final[Mapping[Release, EventRules]] = {
    V1_36: EventRules(
        waiting_pod=UNSCHEDULABLE_POD,
        own_pod=UNSCHEDULABLE_POD,
        added="UnschedulablePodAdd",
        updated="UnschedulablePodUpdate",
        deleted="UnschedulablePodDelete",
        updated_unknown="UnschedulablePodUpdate",
        nominating=("UnschedulablePodAdd", "UnschedulablePodUpdate"),
        nominates_gated=False,
        request_rule=request_rule(V1_36),
        scaled=scaled_down,
        own_plugins=on_all_pods,
        implicit=with_first_taints,
    ),
    V1_37: EventRules(
        waiting_pod=UNSCHEDULED_POD,
        own_pod=TARGET_POD,
        added="UnscheduledPodAdd",
        updated="UnscheduledPodUpdate",
        deleted="UnscheduledPodDelete",
        updated_unknown="UnscheduledPodAdd",
        nominating=(),
        nominates_gated=True,
        request_rule=request_rule(V1_37),
        scaled=scaled_down_or_up,
        own_plugins=as_they_are,
        implicit=as_they_are,
    ),
}


def event_rules(release: Release = LATEST) -> EventRules:
    return _RULES[release]

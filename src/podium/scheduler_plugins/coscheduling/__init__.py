"""Coscheduling: the pods of a PodGroup start when enough of them have a node, or none does.

A pod joins a group by the label ``scheduling.x-k8s.io/pod-group``. The contract is that of
scheduler-plugins: names, arguments, messages and events.

QueueSort   keeps groups together: priority, then the age of the group.
PreEnqueue  leaves a group that failed alone for a while.
PreFilter   refuses a pod while its group lacks pods or resources.
PostFilter  gives up the waiting members when one of them cannot be placed.
Permit      holds a pod until ``minMember`` of its group have a node.
Unreserve   gives up the other waiting members, too.
Requeue     when a member is added, or the group is added or changes; if the group names resources,
            also when a node or room on a node is added.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from podium import framework as fwk
from podium.api.objects import Pod
from podium.api.pod_groups import coscheduling_group_key
from podium.framework.args import invalid
from podium.scheduler_plugins.coscheduling.holds import Holds
from podium.scheduler_plugins.coscheduling.min_resources import missing
from podium.scheduler_plugins.coscheduling.pod_groups import (
    RESOURCE,
    Members,
    PodGroup,
    PodGroups,
)

DEFAULT_WAIT_SECONDS = 60.0
# How long a group counts as checked, if no time to wait is configured.
DEFAULT_CHECKED_SECONDS = 3.0
RECENTLY = "podGroup {} failed recently"
NOTHING_TO_SAY = fwk.Status.unschedulable()


class Coscheduling(
    fwk.QueueSortPlugin,
    fwk.PreEnqueuePlugin,
    fwk.PreFilterPlugin,
    fwk.PostFilterPlugin,
    fwk.PermitPlugin,
    fwk.ReservePlugin,
    fwk.EnqueueExtensions,
):
    """Holds the pods of a PodGroup at Permit until enough of them have a node.

    ``_allowed`` has the pods that Permit let go and that the watch does not show bound yet.

    ``_failed`` is when a group failed last. ``_checked`` and ``_backing_off`` are moments until
    which a group counts as having enough resources, or is not tried.
    """

    name = "Coscheduling"
    is_steady = False  # a group that fails is older no more

    class Args(fwk.Args, frozen=True, rename="camel"):
        permit_waiting_time_seconds: int = 60
        pod_group_backoff_seconds: int = 0
        pod_group_reject_percentage: int = 10

        def validate(self) -> Iterable[fwk.Problem]:
            return _problems(self)

    def __init__(self, args: Args, handle: fwk.Handle) -> None:
        self._args = args
        self._handle = handle
        self._groups = PodGroups(handle.lister(RESOURCE))
        self._members = Members()
        self._allowed: set[str] = set()
        self._failed: dict[str, float] = {}
        self._checked: dict[str, float] = {}
        self._backing_off: dict[str, float] = {}
        self._holds = Holds(handle.clock, self._resume)
        self._leave_pods = handle.follow_pods(self._on_pod)

    def close(self) -> None:
        self._leave_pods()
        self._holds.close()

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        self._members.on_pod(old, new)
        if new is not None and new.node_name:
            self._allowed.discard(new.uid)
        elif new is None and old is not None:
            self._allowed.discard(old.uid)
            if not self._members.of(key := coscheduling_group_key(old)):
                self._failed.pop(key, None)
                self._holds.forget(key)

    def sign(self, pod: Pod) -> Hashable:
        if coscheduling_group_key(pod):
            raise fwk.NotSignable
        return ()

    def depends_on(self, pod: Pod) -> fwk.Dependencies:
        return fwk.Dependencies()

    # --- QueueSort -------------------------------------------------------------------------------

    def less(self, first: fwk.QueuedPod, second: fwk.QueuedPod) -> bool:
        return self.sort_key(first) < self.sort_key(second)

    def sort_key(self, queued: fwk.QueuedPod) -> tuple[int, float, str, str]:
        name = coscheduling_group_key(queued.pod) or queued.key
        return -queued.info.priority, self._age(queued), name, queued.key

    def _age(self, queued: fwk.QueuedPod) -> float:
        """Return when the pod, or its group, first came or last failed."""
        own = queued.timestamp if queued.first_queued is None else queued.first_queued
        key = coscheduling_group_key(queued.pod)
        if not key:
            return own
        if key in self._failed:
            return self._failed[key]
        group = self._groups.get(key)
        return own if group is None else group.created

    # --- PreEnqueue ------------------------------------------------------------------------------

    def pre_enqueue(self, pod: Pod) -> fwk.Status | None:
        key = coscheduling_group_key(pod)
        if key and self._holds.refuses(key):
            return fwk.Status.unresolvable(RECENTLY.format(key))
        return None

    def _resume(self, key: str) -> None:
        self._handle.activate(each for each in self._members.of(key) if not each.node_name)

    # --- PreFilter -------------------------------------------------------------------------------

    def pre_filter(self, state: fwk.CycleState, pod: Pod, nodes: fwk.Rows) -> fwk.Status | None:
        key = coscheduling_group_key(pod)
        group = self._groups.get(key) if key else None
        if group is None:
            return None
        why = self._why_not(pod, key, group, nodes)
        return fwk.Status.unresolvable(why) if why else None

    def _why_not(self, pod: Pod, key: str, group: PodGroup, nodes: fwk.Rows) -> str:
        """Return why the group cannot be placed whatever nodes the pod fits on; or nothing."""
        if self._is_before(self._backing_off, key) and self._holds.refuses(key):
            return RECENTLY.format(key)
        members = self._members.of(key)
        if len(members) < group.min_member:
            numbers = f"current pods number: {len(members)}, minMember of group: {group.min_member}"
            return f"pre-filter pod {pod.name} cannot find enough sibling pods, {numbers}"
        if self._members.gated(key) > len(members) - group.min_member:
            return (
                f"pre-filter pod {pod.name} cannot proceed due to gated pods in the same PodGroup"
            )
        return self._resource_gap(key, group, nodes)

    def _resource_gap(self, key: str, group: PodGroup, nodes: fwk.Rows) -> str:
        if group.min_resources is None or self._is_before(self._checked, key):
            return ""
        wanted = {**group.min_resources, "pods": group.min_member}
        placed = self._handle.cluster.pods
        own = [placed[each.uid] for each in self._members.of(key) if each.uid in placed]
        if gap := missing(nodes, wanted, own):
            return f"resource gap: {gap}"
        seconds = self._args.permit_waiting_time_seconds or DEFAULT_CHECKED_SECONDS
        self._checked[key] = self._handle.clock.now() + seconds
        return ""

    def _is_before(self, moments: dict[str, float], key: str) -> bool:
        until = moments.get(key)
        if until is None or self._handle.clock.now() < until:
            return until is not None
        del moments[key]
        return False

    # --- PostFilter ------------------------------------------------------------------------------

    def post_filter(
        self, state: fwk.CycleState, pod: Pod, statuses: fwk.NodeStatuses
    ) -> tuple[fwk.Nominate | None, fwk.Status]:
        key = coscheduling_group_key(pod)
        group = self._groups.get(key) if key else None
        if group is None:
            return None, fwk.Status.unschedulable("can not find pod group")
        lacking = group.min_member - self._assigned(key)
        # With only a few members missing, the others may still be placed.
        if (
            lacking <= 0
            or lacking * 100 <= group.min_member * self._args.pod_group_reject_percentage
        ):
            return None, NOTHING_TO_SAY
        self._reject_waiting(key, "optimistic rejection in PostFilter")
        self._fail(key, group, self._args.pod_group_backoff_seconds)
        why = f"gets rejected due to Pod {pod.name} is unschedulable even after PostFilter"
        return None, fwk.Status.unschedulable(f"PodGroup {key} {why}")

    # --- Permit ----------------------------------------------------------------------------------

    def permit(
        self, state: fwk.CycleState, pod: Pod, node_name: str
    ) -> fwk.Status | fwk.Wait | None:
        key = coscheduling_group_key(pod)
        if not key:
            return None
        group = self._groups.get(key)
        if group is None:
            return fwk.Status.unschedulable("PodGroup not found")
        if self._is_short(pod, key, group):
            return self._wait(state, pod, key, group)
        self._failed.pop(key, None)
        self._holds.forget(key)
        self._allowed.add(pod.uid)
        for waiting in self._waiting(key):
            self._allowed.add(waiting.pod.uid)
            waiting.allow(self.name)
        return None

    def _is_short(self, pod: Pod, key: str, group: PodGroup) -> bool:
        """Return whether the group lacks members, counting this one.

        There are never more than those that are bound, and all pods of any group on their way. For
        most members of a large group that is answer enough, and no other one is looked at.
        """
        on_their_way = len(self._allowed) + len(self._handle.waiting_pods)
        if self._members.bound(key) + on_their_way + 1 < group.min_member:
            return True
        return self._assigned(key, besides=pod) + 1 < group.min_member

    def _wait(self, state: fwk.CycleState, pod: Pod, key: str, group: PodGroup) -> fwk.Wait:
        """Wait; the first member of the group that does so has the others tried, too."""
        if next(self._waiting(key), None) is None:
            others = (each for each in self._members.of(key) if each.uid != pod.uid)
            state.get(fwk.PodsToActivate).pods.update((each.key, each) for each in others)
        seconds = group.timeout or self._args.permit_waiting_time_seconds or DEFAULT_WAIT_SECONDS
        return fwk.wait(seconds)

    # --- Unreserve -------------------------------------------------------------------------------

    def unreserve(self, state: fwk.CycleState, pod: Pod, node_name: str) -> None:
        self._allowed.discard(pod.uid)
        key = coscheduling_group_key(pod)
        group = self._groups.get(key) if key else None
        if group is not None:
            self._reject_waiting(key, "rejection in Unreserve")
            self._fail(key, group)

    # --- members ---------------------------------------------------------------------------------

    def _assigned(self, key: str, besides: Pod | None = None) -> int:
        """Count the members that are bound or on their way to a node."""
        own = "" if besides is None else besides.uid
        placed = self._handle.cluster.pods
        return sum(
            each.uid in placed and each.uid != own and self._stays(each)
            for each in self._members.of(key)
        )

    def _stays(self, member: Pod) -> bool:
        """Return whether a placed member keeps its node.

        One whose wait has ended in vain keeps its room for a moment longer, until its binding has
        noticed. It must not count: the group would start without it.
        """
        if member.node_name or member.uid in self._allowed:
            return True
        waiting = self._handle.waiting_pods.get(member.uid)
        return waiting is not None and waiting.outcome is None

    def _waiting(self, key: str) -> Iterator[fwk.WaitingPod]:
        for member in self._members.of(key):
            waiting = self._handle.waiting_pods.get(member.uid)
            if waiting is not None and waiting.outcome is None:
                yield waiting

    def _reject_waiting(self, key: str, why: str) -> None:
        for waiting in list(self._waiting(key)):
            waiting.reject(self.name, why)

    def _fail(self, key: str, group: PodGroup, backoff: float = 0.0) -> None:
        """Note that the group failed, and leave it alone for a while.

        A group that lacks pods holds no room. It is tried as soon as another pod comes.
        """
        now = self._handle.clock.now()
        self._checked.pop(key, None)
        self._failed[key] = now
        if len(self._members.of(key)) < group.min_member:
            return
        self._holds.start(key, backoff)
        if backoff and not self._is_before(self._backing_off, key):
            self._backing_off[key] = now + backoff

    # --- events ----------------------------------------------------------------------------------

    def events_to_register(self) -> list[fwk.Registration]:
        return [
            fwk.on("Pod", "add", hint=_is_of_its_group),
            fwk.on(RESOURCE, "add|update", hint=_is_its_group),
            fwk.on("Node", "add|allocatable", hint=self._waits_for_resources),
            fwk.on("AssignedPod", "delete|scale-down", hint=self._waits_for_resources),
        ]

    def _waits_for_resources(self, pod: Pod, old: object, new: object) -> bool:
        group = self._groups.get(coscheduling_group_key(pod))
        return group is not None and group.min_resources is not None


def _is_of_its_group(pod: Pod, old: Pod | None, new: Pod) -> bool:
    return coscheduling_group_key(new) == coscheduling_group_key(pod)


def _is_its_group(pod: Pod, old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> bool:
    metadata = new["metadata"]
    return f"{metadata.get('namespace')}/{metadata['name']}" == coscheduling_group_key(pod)


def _problems(args: Coscheduling.Args) -> Iterator[fwk.Problem]:
    wait, backoff = args.permit_waiting_time_seconds, args.pod_group_backoff_seconds
    if wait < 0:
        yield invalid("permitWaitingTimeSeconds", wait, "must be greater than 0")
    if backoff < 0:
        yield invalid("podGroupBackoffSeconds", backoff, "must be greater than 0")
    if not 0 <= args.pod_group_reject_percentage <= 100:
        percentage = args.pod_group_reject_percentage
        yield invalid("podGroupRejectPercentage", percentage, "must be between 0 and 100")

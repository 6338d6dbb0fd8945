"""Takes what informers report into the state and the queue, through the gate.

Each handler takes (old, new): without an old object it is an addition, without a new one a
deletion.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from time import perf_counter

from podium.api.meta import ApiObject
from podium.api.objects import Node, Pod
from podium.cycle.services import Services
from podium.errors import CacheError, PodiumError
from podium.framework.event_rules import EventRules, event_rules, node_events
from podium.framework.events import ClusterEvent
from podium.live.gate import Gate
from podium.logs import get_logger
from podium.metrics import Metrics
from podium.queue.scheduling_queue import SchedulingQueue

log = get_logger(__name__)

ASSIGNED_POD_ADD = ClusterEvent.named("AssignedPod", "Add")
ASSIGNED_POD_DELETE = ClusterEvent.named("AssignedPod", "Delete")
SLICE_UPDATE = ClusterEvent.named("resource.k8s.io/ResourceSlice", "Update")
TAINT_RULE = "resource.k8s.io/DeviceTaintRule"
NODE_ADD = ClusterEvent.named("Node", "Add")
NODE_DELETE = ClusterEvent.named("Node", "Delete")


@dataclass(frozen=True, slots=True)
class EventHandlers:
    """Handles changes of objects. ``profiles`` are our scheduler names."""

    gate: Gate
    services: Services
    queue: SchedulingQueue
    profiles: Container[str]
    metrics: Metrics
    events: EventRules = event_rules()  # noqa: RUF009  # frozen
    timer: Callable[[], float] = perf_counter

    # --- what informers call ---------------------------------------------------------------------

    def on_pod(self, old: Pod | None, new: Pod | None) -> None:
        self.gate.pass_through(self._pod, old, new)

    def on_node(self, old: Node | None, new: Node | None) -> None:
        self.gate.pass_through(self._node, old, new)

    def on_object(self, resource: str) -> Callable[[ApiObject | None, ApiObject | None], None]:
        """Return a handler for another kind; ``resource`` is the name of its events."""

        handler = self._taint_rule if resource == TAINT_RULE else self._object

        def handle(old: ApiObject | None, new: ApiObject | None) -> None:
            self.gate.pass_through(handler, resource, old, new)

        return handle

    def on_events_only(self, resource: str) -> Callable[[object | None, object | None], None]:
        """Return a handler for a kind that the state does not keep: it only wakes pods."""

        def handle(old: object | None, new: object | None) -> None:
            self.gate.pass_through(self._wake, resource, old, new)

        return handle

    # --- pods ------------------------------------------------------------------------------------

    def _pod(self, old: Pod | None, new: Pod | None) -> None:
        if new is None:
            self._pod_deleted(old)
        elif old is not None and old.uid != new.uid:  # deleted and created again, and we missed it
            self._pod_deleted(old)
            self._pod_added(new)
        elif old is None:
            self._pod_added(new)
        elif old.node_name:
            self._assigned_updated(new)
        elif new.node_name:
            self._bound(old, new)
        elif self._is_ours(old):
            self._pending_updated(old, new)

    def _pod_added(self, pod: Pod) -> None:
        if pod.node_name:
            self._assigned_added(pod)
        elif self._is_ours(pod):
            log.v(3, "Add event for unscheduled pod", pod=pod.key, podUID=pod.uid)
            begin = self.timer()
            self.queue.add(pod)
            self._timed(begin, self.events.added)

    def _pod_deleted(self, pod: Pod | None) -> None:
        if pod is None:
            return
        if pod.node_name:
            self._assigned_deleted(pod)
        elif self._is_ours(pod):
            self._pending_deleted(pod)

    def _assigned_added(self, pod: Pod) -> None:
        log.v(3, "Add event for scheduled pod", pod=pod.key, podUID=pod.uid)
        begin = self.timer()
        try:
            self.services.cluster.add_pod(pod)
        except PodiumError as fault:
            log.problem(
                "Scheduler cache AddPod failed", pod=pod.key, podUID=pod.uid, err=str(fault)
            )
        self._happened(begin, [ASSIGNED_POD_ADD], None, pod)

    def _bound(self, old: Pod, new: Pod) -> None:
        self._assigned_added(new)
        if self._is_ours(old):
            self.queue.delete(old)

    def _assigned_updated(self, new: Pod) -> None:
        log.v(4, "Update event for scheduled pod", pod=new.key, podUID=new.uid)
        known = self.services.cluster.pods.get(new.uid)
        if known is None:  # it was not valid before
            self._assigned_added(new)
            return
        begin, before = self.timer(), known.pod  # not always old, which may be invalid
        try:
            self.services.cluster.update_pod(new)
        except CacheError as fault:
            log.problem(
                "Scheduler cache UpdatePod failed", pod=new.key, podUID=new.uid, err=str(fault)
            )
        except PodiumError as fault:  # invalid: the state keeps the old version
            log.problem(
                "Scheduler cache UpdatePod failed", pod=new.key, podUID=new.uid, err=str(fault)
            )
            return
        self._happened(begin, self.events.pod_events(before, new), before, new)

    def _assigned_deleted(self, pod: Pod) -> None:
        log.v(3, "Delete event for scheduled pod", pod=pod.key, podUID=pod.uid)
        begin = self.timer()
        try:
            self.services.cluster.remove_pod(pod)
        except CacheError as fault:
            log.problem(
                "Scheduler cache RemovePod failed", pod=pod.key, podUID=pod.uid, err=str(fault)
            )
        self._happened(begin, [ASSIGNED_POD_DELETE], pod, None)

    def _pending_updated(self, old: Pod, new: Pod) -> None:
        if new.metadata.resource_version and _version(old) == _version(new):
            return  # it was seen before
        begin = self.timer()
        if self.services.cluster.is_assumed(new.uid):
            if new.is_terminating and not old.is_terminating:
                self._assumed_deleted(new)
        else:
            self._update_queue(old, new)
        labels = (event.label for event in self.events.pod_events(old, new))
        for label in dict.fromkeys((self.events.updated, *labels)):
            self._timed(begin, label)

    def _update_queue(self, old: Pod, new: Pod) -> None:
        self.queue.update(old, new)
        nominated = old.nominated_node_name
        if nominated and nominated != new.nominated_node_name:
            self._room_left(old)

    def _pending_deleted(self, pod: Pod) -> None:
        log.v(3, "Delete event for unscheduled pod", pod=pod.key, podUID=pod.uid)
        begin = self.timer()
        self.queue.delete(pod)
        if self.services.cluster.is_assumed(pod.uid):
            self._assumed_deleted(pod)
        elif pod.nominated_node_name:
            self._room_left(pod)
        self._timed(begin, self.events.deleted)

    def _room_left(self, pod: Pod) -> None:
        """Wake pods of the same or lower priority: the pod gave up its nominated node."""
        self.queue.on_event(ASSIGNED_POD_DELETE, pod, None, max_priority=pod.priority)

    def _assumed_deleted(self, pod: Pod) -> None:
        """Remove a deleted pod from its node. A pod that waits on Permit is left to its binding."""
        info = self.services.cluster.pods[pod.uid]
        node = self.services.cluster.table.names[info.row]
        assumed = info.pod.bound_to(node)
        if not self.services.waiting_pods.reject(pod.uid):
            self.services.cluster.forget(pod.uid)  # PreBind or Bind will fail: the pod is gone
        self.queue.on_event(ASSIGNED_POD_DELETE, assumed, None)

    def _is_ours(self, pod: Pod) -> bool:
        return pod.scheduler_name in self.profiles

    # --- nodes -----------------------------------------------------------------------------------

    def _node(self, old: Node | None, new: Node | None) -> None:
        if new is None:
            if old is not None:
                self._node_deleted(old)
            return
        begin = self.timer()
        known = self.services.cluster.node(new.name)  # not always old, which may be invalid
        before = known.node if known is not None else None
        self.services.cluster.set_node(new)
        if before is None:
            log.v(3, "Add event for node", node=new.name)
            self._happened(begin, [NODE_ADD], None, new)
        else:
            self._happened(begin, node_events(before, new), before, new)

    def _node_deleted(self, node: Node) -> None:
        log.v(3, "Delete event for node", node=node.name)
        begin = self.timer()
        self.queue.on_event(NODE_DELETE, node, None)  # before it leaves the state, as upstream
        try:
            self.services.cluster.remove_node(node.name)
        except CacheError as fault:
            log.problem("Scheduler cache RemoveNode failed", node=node.name, err=str(fault))
        self._timed(begin, NODE_DELETE.label)

    # --- everything else -------------------------------------------------------------------------

    def _object(self, resource: str, old: ApiObject | None, new: ApiObject | None) -> None:
        begin = self.timer()
        if new is not None:
            self.services.cluster.set_object(new)
        elif old is not None:
            self.services.cluster.remove_object(type(old), old.key)
        self._wake(resource, old, new, begin)

    def _taint_rule(self, resource: str, old: ApiObject | None, new: ApiObject | None) -> None:
        """A rule changes devices as if their slices had changed."""
        self._object(resource, old, new)
        for before, after in self.services.devices.take_newly_tainted():
            self._happened(self.timer(), [SLICE_UPDATE], before, after)

    def _wake(
        self, resource: str, old: object | None, new: object | None, begin: float | None = None
    ) -> None:
        """Wake pods, if a plugin registered the event; else it is not timed either, as upstream."""
        event = event_of(resource, old, new)
        if self.queue.awaits(event):
            self._happened(self.timer() if begin is None else begin, [event], old, new)

    # --- waking pods ------------------------------------------------------------------------------

    def _happened(
        self, begin: float, events: Iterable[ClusterEvent], old: object | None, new: object | None
    ) -> None:
        """Wake pods. Each event is timed with the change to the state and its own handling."""
        noted = self.timer() - begin
        for event in events:
            start = self.timer()
            self.queue.on_event(event, old, new)
            self._timed(start - noted, event.label)

    def _timed(self, begin: float, label: str) -> None:
        self.metrics.event_seconds.observe(self.timer() - begin, label)


def event_of(resource: str, old: object | None, new: object | None) -> ClusterEvent:
    action = "Delete" if new is None else "Add" if old is None else "Update"
    return ClusterEvent.named(resource, action)


def _version(pod: Pod) -> str:
    return pod.metadata.resource_version

"""Takes what informers report about pods of groups and about groups, with GenericWorkload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from podium.api.meta import ApiObject
from podium.api.objects import Pod
from podium.api.pod_groups import SchedulingGroup
from podium.framework.events import ClusterEvent
from podium.live.event_handlers import EventHandlers, event_of
from podium.queue.group_queue import GroupQueue
from podium.state.grouped_cluster import GroupedClusterState

UNSCHEDULED_POD_ADD: Final = ClusterEvent.named("UnscheduledPod", "Add")


@dataclass(frozen=True, slots=True)
class GroupEventHandlers(EventHandlers):
    """Handles changes of pods and groups. The state knows of each before the queue does.

    A deleted pod leaves the queue first, as upstream.
    """

    queue: GroupQueue

    @property
    def _cluster(self) -> GroupedClusterState:
        cluster = self.services.cluster
        assert isinstance(cluster, GroupedClusterState), "GenericWorkload needs a grouped state"
        return cluster

    def _pod_added(self, pod: Pod) -> None:
        is_waiting = not pod.node_name and self._is_ours(pod)
        if is_waiting and pod.group_key:
            self._cluster.see_member(pod)
        EventHandlers._pod_added(self, pod)
        if is_waiting:  # it may complete a gang
            self.queue.on_event(UNSCHEDULED_POD_ADD, None, pod)

    def _pending_updated(self, old: Pod, new: Pod) -> None:
        if new.group_key:
            self._cluster.see_member(new)
        EventHandlers._pending_updated(self, old, new)

    def _pending_deleted(self, pod: Pod) -> None:
        EventHandlers._pending_deleted(self, pod)
        if pod.group_key:
            self._cluster.remove_member(pod)

    def _object(self, resource: str, old: ApiObject | None, new: ApiObject | None) -> None:
        begin = self.timer()
        if isinstance(new, SchedulingGroup):
            self._cluster.set_object(new)
            self.queue.set_group(new)
        elif isinstance(old, SchedulingGroup):
            self._cluster.remove_object(type(old), old.key)
            self.queue.remove_group(old)
        else:
            EventHandlers._object(self, resource, old, new)
            return
        self._happened(begin, [event_of(resource, old, new)], old, new)

"""How pod groups move between the parts of the queue: by hints, and by what holds members back."""

from __future__ import annotations

from collections.abc import Collection

from podium.framework.queued_pod import QueuedPod
from podium.framework.queued_pod_group import QueuedPodGroup
from podium.queue.in_flight import ClusterChange
from podium.queue.moves import Moves
from podium.queue.requeueing import Strategy


class GroupMoves(Moves):
    """Moves in which a ``QueuedPodGroup`` moves as one: its members decide together."""

    def _reconsider(self, pods: Collection[QueuedPod], change: ClusterChange) -> None:
        super()._reconsider([q for q in pods if not isinstance(q, QueuedPodGroup)], change)
        for queued in pods:
            if isinstance(queued, QueuedPodGroup):
                strategy = self._strategy(queued, change)
                if strategy is not Strategy.SKIP:
                    self._requeue(queued, strategy, change.label)

    def _strategy(self, queued: QueuedPodGroup, change: ClusterChange) -> Strategy:
        """Return where a change moves the group: the best that it does for a member.

        The member that stands for the group is asked first; often its answer is enough.
        """
        first = queued.find(queued.pod.key)
        if first is not None and not self._backoff.is_backing_off(queued):
            strategy = self._requeueing.strategy(first, change)
            if strategy is not Strategy.SKIP:
                return strategy  # there is no backoff to wait for
        found = {strategy for _, strategy in self._requeueing.moves(queued.members, change)}
        if Strategy.IMMEDIATELY in found:
            return Strategy.IMMEDIATELY
        return Strategy.AFTER_BACKOFF if found else Strategy.SKIP

    def _passes(self, queued: QueuedPod, label: str) -> bool:
        """Whether PreEnqueue admits all members. If not, the group is held."""
        if not isinstance(queued, QueuedPodGroup):
            return super()._passes(queued, label)
        gated = self._gated_member(queued)
        if gated is None:
            queued.gating_plugin = ""
            return True
        self._gate_group(queued, gated, label)
        return False

    def _gated_member(self, queued: QueuedPodGroup) -> QueuedPod | None:
        """Return the last member that PreEnqueue refuses.

        The one that was refused before is asked first: while it is, no other answer matters, and a
        large gang whose pods arrive one by one is not asked as a whole each time.
        """
        if queued.is_gated:
            before = queued.find(queued.pod.key)
            if before is not None and self._is_refused(before):
                return before
        refused = [member for member in queued.members if self._is_refused(member)]
        return refused[-1] if refused else None

    def _is_refused(self, member: QueuedPod) -> bool:
        plugin = self._gating.refusing_plugin(member)
        if plugin:
            self._hold_back(member, plugin)
        return bool(plugin)

    def _hold_back(self, member: QueuedPod, plugin: str) -> None:
        member.gating_plugin = plugin
        member.unschedulable_plugins |= {plugin}

    def _gate(self, queued: QueuedPod, plugin: str, label: str) -> None:
        if not isinstance(queued, QueuedPodGroup):
            super()._gate(queued, plugin, label)
            return
        member = queued.find(queued.pod.key) or queued.members[0]
        self._hold_back(member, plugin)
        self._gate_group(queued, member, label)

    def _gate_group(self, queued: QueuedPodGroup, member: QueuedPod, label: str) -> None:
        queued.represent(member)
        queued.gating_plugin = member.gating_plugin
        queued.was_flushed = False
        self._hold(queued, label)

    def _enter_active(self, queued: QueuedPod, label: str) -> None:
        if isinstance(queued, QueuedPodGroup):
            for member in queued.members:
                if member.first_queued is None:
                    member.first_queued = self._clock.now()
        super()._enter_active(queued, label)

    def _entered(self, queue: str, queued: QueuedPod, label: str) -> None:
        if isinstance(queued, QueuedPodGroup):
            self._observer.group_entered(queue, label, len(queued.members))
        else:
            super()._entered(queue, queued, label)

    def _went_as_hinted(self, queue: str, queued: QueuedPod, label: str) -> None:
        if isinstance(queued, QueuedPodGroup):
            self._observer.group_as_hinted(queue, label)
        else:
            super()._went_as_hinted(queue, queued, label)

    def _park(self, queued: QueuedPodGroup, gated: QueuedPod, label: str) -> None:
        """Take a group out of its sub-queue: one of its members is gated."""
        self._active.remove(queued.key)
        self._backoff.remove(queued.key)
        self._gate_group(queued, gated, label)

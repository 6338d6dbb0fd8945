"""Which pods of a PodGroup are waiting, assumed and assigned: the quorum of a gang is counted here.

``GroupedClusterState`` keeps it in step with the pods on nodes. Event handlers report the pods
without a node. It exists only with the feature gate GenericWorkload.
"""

from __future__ import annotations

from collections.abc import Iterator

from podium.api.objects import Pod


class GroupMembers:
    """The known pods of one group, by uid.

    Invariant: every pod is in ``pods`` and in exactly one of ``unscheduled``, ``assumed`` and
    ``assigned``. These are dicts because they keep the order in which pods were seen.
    """

    __slots__ = ("assigned", "assumed", "pods", "unscheduled")

    def __init__(self) -> None:
        self.pods: dict[str, Pod] = {}
        self.unscheduled: dict[str, None] = {}
        self.assumed: dict[str, None] = {}
        self.assigned: dict[str, None] = {}

    @property
    def scheduled_count(self) -> int:
        return len(self.assumed) + len(self.assigned)

    def scheduled(self) -> Iterator[Pod]:
        """Return the pods that have a node, or are about to get one."""
        return (self.pods[uid] for part in (self.assigned, self.assumed) for uid in part)

    def see(self, pod: Pod) -> None:
        """Take a pod as the API shows it; without a node it may be assumed already."""
        uid = pod.uid
        self.pods[uid] = pod
        if pod.node_name:
            self.unscheduled.pop(uid, None)
            self.assumed.pop(uid, None)
            self.assigned[uid] = None
        elif uid not in self.assumed:
            self.assigned.pop(uid, None)
            self.unscheduled[uid] = None

    def assume(self, uid: str) -> None:
        """A pod of which only the deletion was seen is ignored, here and in ``forget``."""
        if self.unscheduled.pop(uid, _ABSENT) is not _ABSENT:
            self.assumed[uid] = None

    def forget(self, uid: str) -> None:
        if self.assumed.pop(uid, _ABSENT) is not _ABSENT:
            self.unscheduled[uid] = None

    def restore(self, pod: Pod, *, is_assumed: bool) -> None:
        """Add a pod again that was removed for a dry run."""
        self.pods[pod.uid] = pod
        (self.assumed if is_assumed else self.assigned)[pod.uid] = None

    def remove(self, uid: str) -> None:
        for part in (self.pods, self.unscheduled, self.assumed, self.assigned):
            part.pop(uid, None)

    def check(self) -> None:
        parts = (self.unscheduled, self.assumed, self.assigned)
        listed = sorted(uid for part in parts for uid in part)
        assert listed == sorted(self.pods), f"{listed} are not the pods {sorted(self.pods)}"


_ABSENT = object()

NO_MEMBERS = GroupMembers()
"""The members of a group without any; nothing may be added to it."""

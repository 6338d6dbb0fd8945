"""What the queue reports: counts that can be read, and events for an observer such as metrics."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Pending(NamedTuple):
    """Number of pods in each sub-queue. Gated pods are not counted as unschedulable here."""

    active: int
    backoff: int
    unschedulable: int
    gated: int

    @property
    def total(self) -> int:
        return sum(self)

    @property
    def incomplete(self) -> int:
        return 0  # there are no groups

    @property
    def returning(self) -> int:
        return 0

    def __str__(self) -> str:
        """Format as in upstream's dump of the queue, which counts gated pods as unschedulable."""
        held = self.unschedulable + self.gated
        return f"activeQ:{self.active}; backoffQ:{self.backoff}; unschedulablePods:{held}"


class GroupPending(NamedTuple):
    """Number of pods in each sub-queue, members of groups included.

    ``incomplete`` pods wait for their PodGroup to be known, ``pending`` ones for their group to
    come back from its attempt.
    """

    active: int
    backoff: int
    unschedulable: int
    gated: int
    incomplete: int
    pending: int  # the name of upstream's metric; ``returning`` is clearer

    @property
    def total(self) -> int:
        return sum(self)

    @property
    def returning(self) -> int:
        return self.pending

    def __str__(self) -> str:
        """Format as in upstream's dump of the queue."""
        held = self.unschedulable + self.gated
        queues = f"activeQ:{self.active}; backoffQ:{self.backoff}; unschedulableEntities:{held}"
        pending, incomplete = self.pending, self.incomplete
        members = f"pendingPodGroupMemberPods:{pending}; incompletePodGroupPods:{incomplete}"
        return f"{queues}; {members}"


class QueueObserver(Protocol):
    """Is called as things happen. Gauges are read from the queue's own counts instead."""

    def incoming(self, queue: str, event: str) -> None:
        """A pod entered ``active``, ``backoff`` or ``unschedulable`` because of this event."""

    def group_entered(self, queue: str, event: str, members: int) -> None:
        """A pod group with so many waiting members entered a queue because of this event."""

    def group_as_hinted(self, queue: str, event: str) -> None:
        """The pod group that just entered this queue went where its hints send it."""

    def as_hinted(self, queue: str, event: str) -> None:
        """The pod that just entered this queue went where its hints send it.

        That is ``unschedulable`` if no hint says yes, ``active`` if one of a pending plugin does,
        and ``backoff`` if one of another plugin does. As an entity it is not counted then.
        """

    def point(self, profile: str, point: str, status: str, seconds: float) -> None:
        """PreEnqueue ran for a pod of this profile; as upstream, ``status`` is always Success."""

    def hints(self, plugin: str, event: str, hint: str, count: int, seconds: float) -> None:
        """A hint returned ``Queue`` or ``QueueSkip`` for so many pods, or raised: ``Error``.

        ``seconds`` is the mean time of a call.
        """


class NoObserver:
    """An observer that ignores everything, for shells without metrics."""

    def incoming(self, queue: str, event: str) -> None:
        pass

    def group_entered(self, queue: str, event: str, members: int) -> None:
        pass

    def group_as_hinted(self, queue: str, event: str) -> None:
        pass

    def as_hinted(self, queue: str, event: str) -> None:
        pass

    def point(self, profile: str, point: str, status: str, seconds: float) -> None:
        pass

    def hints(self, plugin: str, event: str, hint: str, count: int, seconds: float) -> None:
        pass

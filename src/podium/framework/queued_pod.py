"""A pod in the queue, with what the queue remembers about it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from copy import copy
from dataclasses import dataclass, field

from podium.api.objects import Pod
from podium.state.pod_info import PodInfo

NOBODY: frozenset[str] = frozenset()


@dataclass(slots=True, eq=False)
class QueuedPod:
    """One pod with its history. The queue keeps it; the scheduler says which plugins rejected it.

    ``timestamp`` is when it last entered the queue; ``attempts`` counts the tries so far, and
    ``first_queued`` is when it first got past PreEnqueue, ``None`` before. ``backoff_expiry`` is
    a whole second, worked out when it is first asked for after a failure. ``failed_as``
    names the pod's equivalence class if the last attempt would have rejected every pod of it.
    """

    info: PodInfo
    key: str = field(init=False)  # asked for in every step, and it never changes
    timestamp: float = 0.0
    attempts: int = 0
    first_queued: float | None = None
    unschedulable_count: int = 0
    consecutive_errors: int = 0
    backoff_expiry: float | None = None
    unschedulable_plugins: frozenset[str] = NOBODY
    pending_plugins: frozenset[str] = NOBODY
    gating_plugin: str = ""
    was_flushed: bool = False  # it left the unschedulable pods because its time was up
    flushed_at: float = 0.0
    failed_as: Hashable = None

    def __post_init__(self) -> None:
        self.key = self.info.pod.key

    @classmethod
    def of(cls, pod: Pod, timestamp: float = 0.0) -> QueuedPod:
        return cls(PodInfo(pod), timestamp)

    @property
    def pod(self) -> Pod:
        return self.info.pod

    @property
    def uid(self) -> str:
        return self.info.uid

    @property
    def rejectors(self) -> frozenset[str]:
        """The plugins whose events may help this pod."""
        if not self.pending_plugins:  # as nearly always; events ask for thousands of pods
            return self.unschedulable_plugins
        return self.unschedulable_plugins | self.pending_plugins

    @property
    def is_gated(self) -> bool:
        return bool(self.gating_plugin)

    def rejected_by(self, unschedulable: Iterable[str] = (), pending: Iterable[str] = ()) -> None:
        """Replace the rejecting plugins by those of the last attempt; none means that it failed."""
        self.unschedulable_plugins = frozenset(unschedulable)
        self.pending_plugins = frozenset(pending)
        self.gating_plugin = ""

    def copy(self) -> QueuedPod:
        """Return another value with the same history."""
        return copy(self)

    def postpone(self, seconds: float) -> None:
        """Let everything that has happened so far have happened later."""
        self.timestamp += seconds
        if self.flushed_at:
            self.flushed_at += seconds
        if self.first_queued is not None:
            self.first_queued += seconds
        if self.backoff_expiry is not None:
            self.backoff_expiry += seconds

    def replace(self, pod: Pod) -> None:
        """Take the new version of the pod."""
        if self.failed_as is not None and not _look_alike(self.info.pod, pod):
            self.failed_as = None
        self.info = PodInfo(pod)


def _look_alike(one: Pod, other: Pod) -> bool:
    """Whether two versions of a pod agree in all that plugins may sign."""
    mine, its = one.metadata, other.metadata
    return (
        one.spec == other.spec
        and mine.labels == its.labels
        and mine.annotations == its.annotations
        and mine.owner_references == its.owner_references
    )

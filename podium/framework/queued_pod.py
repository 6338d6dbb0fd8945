"""A pod that waits for its turn, with what the queue remembers of it."""

from __future__ import annotations

from dataclasses import dataclass

from podium.api.objects import Pod
from podium.state.pod_info import PodInfo


@dataclass(slots=True)
class QueuedPod:
    """``timestamp`` is when it last entered the queue; ``attempts`` counts the tries so far."""

    info: PodInfo
    timestamp: float = 0.0
    attempts: int = 0

    @classmethod
    def of(cls, pod: Pod, timestamp: float = 0.0) -> QueuedPod:
        return cls(PodInfo(pod), timestamp)

    @property
    def pod(self) -> Pod:
        return self.info.pod

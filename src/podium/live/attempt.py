"""One try of one pod: what its binding and its failure must know of how it began."""

from __future__ import annotations

from typing import NamedTuple

from podium.api.objects import Pod
from podium.framework.queued_pod import QueuedPod


class Attempt(NamedTuple):
    """``start`` is when the pod was taken from the queue."""

    queued: QueuedPod
    profile: str
    start: float

    @property
    def pod(self) -> Pod:
        return self.queued.pod

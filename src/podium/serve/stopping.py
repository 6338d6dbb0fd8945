"""A core for explanations that can be stopped: it checks before each attempt."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from podium.cycle.cycle import Cycle
from podium.cycle.offline import Background, OfflineCore
from podium.cycle.services import Services
from podium.framework.nominator import Nominator
from podium.framework.profile import Profile
from podium.framework.queued_pod import QueuedPod
from podium.state.cluster import ClusterState


class StoppableCore:
    """An ``OfflineCore`` that calls ``check`` before each attempt; what it raises ends the work."""

    def __init__(self, core: OfflineCore, check: Callable[[], None]) -> None:
        self._core = core
        self._check = check

    @property
    def services(self) -> Services:
        return self._core.services

    @property
    def cluster(self) -> ClusterState:
        return self._core.cluster

    @property
    def nominator(self) -> Nominator:
        return self._core.nominator

    @property
    def profiles(self) -> Mapping[str, Profile]:
        return self._core.profiles

    @property
    def background(self) -> Background:
        return self._core.background

    def cycle(self, queued: QueuedPod) -> Cycle:
        self._check()
        return self._core.cycle(queued)

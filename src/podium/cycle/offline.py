"""The core as shells without a cluster drive it: what they need of the one that ``app`` builds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from podium.cycle.cycle import Cycle
from podium.cycle.services import Services
from podium.framework.nominator import Nominator
from podium.framework.profile import Profile
from podium.framework.queued_pod import QueuedPod
from podium.state.cluster import ClusterState


class Background(Protocol):
    """Work that plugins have spawned, such as evictions."""

    def run(self) -> None: ...


class OfflineCore(Protocol):
    """``app`` stands above the shells, so they name what they use of its core."""

    @property
    def services(self) -> Services: ...
    @property
    def cluster(self) -> ClusterState: ...
    @property
    def nominator(self) -> Nominator: ...
    @property
    def profiles(self) -> Mapping[str, Profile]: ...
    @property
    def background(self) -> Background: ...
    def cycle(self, queued: QueuedPod) -> Cycle: ...

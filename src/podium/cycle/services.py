"""What all profiles of a scheduler share, and the Handle each profile's plugins get."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from podium.api.objects import Pod
from podium.clock import Clock
from podium.cycle.extenders import Extenders
from podium.cycle.pod_classes import PodClasses
from podium.cycle.record import Records
from podium.cycle.scoreboard import Scoreboard
from podium.cycle.verdicts import UNTRACKED
from podium.framework.cycle_state import CycleState
from podium.framework.dependencies import EVERYTHING
from podium.framework.handle import Client, EventRecorder, Lister, PluginMetrics
from podium.framework.nominated import NominatedPods, filter_with_nominated
from podium.framework.nominator import Nominator
from podium.framework.plugin import Point, Scores, Statuses
from podium.framework.pods_in_pre_bind import PodsInPreBind
from podium.framework.profile import Profile
from podium.framework.reading import Reading
from podium.framework.waiting_pods import WaitingPods
from podium.logs import Logger, get_logger
from podium.state.cluster import ClusterState
from podium.state.rows import PodsOnRows, Rows


class Objects(Protocol):
    """The objects of one kind, plain dicts."""

    def get(self, key: str) -> Mapping[str, Any] | None: ...
    def objects(self) -> Iterator[Mapping[str, Any]]: ...


def _nothing(resource: str) -> Objects | None:
    """Where there is no API server there are no other objects."""
    return None


class Uncounted:
    """Metrics where nobody reads any."""

    def preempted(self, victims: int) -> None:
        """Nobody counts."""

    def evicted(self, result: str, seconds: float) -> None:
        """Nobody counts."""


@dataclass(slots=True, kw_only=True)
class Services:
    """The parts that cycles work with; a shell provides the last five."""

    cluster: ClusterState
    pod_classes: PodClasses
    nominator: Nominator = field(default_factory=Nominator)
    waiting_pods: WaitingPods = field(default_factory=WaitingPods)
    pods_in_pre_bind: PodsInPreBind = field(default_factory=PodsInPreBind)
    records: Records = field(default_factory=Records)
    extenders: Extenders = field(default_factory=Extenders)
    metrics: PluginMetrics = field(default_factory=Uncounted)
    seed: int = 0
    next_start: int = 0  # where the next walk over a sample of the nodes begins
    clock: Clock
    client: Client
    events: EventRecorder
    spawn: Callable[[str, Coroutine[Any, Any, None]], None]
    activate: Callable[[Iterable[Pod]], None]
    custom: Callable[[str], Objects | None] = _nothing  # those of kinds that the state lacks
    listed: set[str] = field(default_factory=set)  # the kinds that plugins look up so


class CustomLister:
    """Looks up objects when it is asked: a plugin gets it before anything is watched."""

    def __init__(self, services: Services, resource: str) -> None:
        self._services = services
        self._resource = resource

    def get(self, key: str) -> Mapping[str, Any] | None:
        known = self._services.custom(self._resource)
        return None if known is None else known.get(key)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        known = self._services.custom(self._resource)
        return iter(()) if known is None else known.objects()


class ProfileHandle:
    """The Handle of one profile. Its profile is set once the plugins are built."""

    def __init__(self, services: Services, profile_name: str) -> None:
        self._services = services
        self.profile: Profile | None = None
        self.profile_name = profile_name
        self.cluster = services.cluster
        self.nominator = services.nominator
        self.waiting_pods = services.waiting_pods
        self.pods_in_pre_bind = services.pods_in_pre_bind
        self.clock = services.clock
        self.client = services.client
        self.events = services.events
        self.metrics = services.metrics
        self.log: Logger = get_logger(f"podium.plugins.{profile_name}")

    @property
    def _profile(self) -> Profile:
        if self.profile is None:
            raise RuntimeError("the profile is still being built: ask again in a cycle")
        return self.profile

    def plugins(self, point: Point) -> Sequence[str]:
        return [plugin.name for plugin in self._profile.plugins[point]]

    def run_filters(self, state: CycleState, pod: Pod, nodes: Rows) -> Statuses:
        nominated = NominatedPods(self.cluster, self.nominator, pod)
        return filter_with_nominated(self._profile, state, pod, nodes, nominated)

    def run_scores(self, state: CycleState, pod: Pod, nodes: Rows) -> Scores:
        profile = self._profile
        reads = dict.fromkeys((plugin.name for plugin in profile.judges), EVERYTHING)
        board = Scoreboard(profile, self.cluster, Reading(reads, (), (), profile.pre_scores))
        board.refresh(state, pod, Rows(self.cluster, nodes.index), UNTRACKED)
        totals: Scores = nodes.take(board.total)
        return totals

    def add_pods(self, state: CycleState, pod: Pod, others: PodsOnRows) -> None:
        self._profile.add_pods(state, pod, others)

    def remove_pods(self, state: CycleState, pod: Pod, others: PodsOnRows) -> None:
        self._profile.remove_pods(state, pod, others)

    def follows_pods(self, state: CycleState) -> bool:
        return self._profile.follows_pods(state)

    def lister(self, resource: str) -> Lister:
        self._services.listed.add(resource)
        return CustomLister(self._services, resource)

    def activate(self, pods: Iterable[Pod]) -> None:
        self._services.activate(pods)

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        self._services.spawn(name, work)

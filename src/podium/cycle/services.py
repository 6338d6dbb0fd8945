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
from podium.cycle.sampling import NodeWalk
from podium.cycle.scoreboard import Scoreboard
from podium.cycle.verdicts import UNTRACKED
from podium.devices import DeviceRules
from podium.framework.cluster_devices import ClusterDevices
from podium.framework.cycle_state import CycleState
from podium.framework.dependencies import EVERYTHING
from podium.framework.handle import Client, EventRecorder, Lister, PluginMetrics, PodHandler
from podium.framework.nominated import filter_with_nominated
from podium.framework.nominator import Nominator
from podium.framework.plugin import Statuses
from podium.framework.pods_in_pre_bind import PodsInPreBind
from podium.framework.points import Point
from podium.framework.profile import Profile
from podium.framework.reading import Reading
from podium.framework.resource_filter import Room
from podium.framework.scores import Scores
from podium.framework.waiting_pods import WaitingPods
from podium.logs import Logger, get_logger
from podium.state.cluster import ClusterState
from podium.state.rows import PodsOnRows, Rows


class KindObjects(Protocol):
    """The objects of one kind, plain dicts."""

    def get(self, key: str) -> Mapping[str, Any] | None: ...
    def objects(self) -> Iterator[Mapping[str, Any]]: ...


def no_objects(resource: str) -> KindObjects | None:
    """Without an API server there are no objects of other kinds."""
    return None


def no_pods(handler: PodHandler) -> Callable[[], None]:
    """Without a watch no pod ever changes."""
    return lambda: None


class NoMetrics:
    """Counts nothing: for shells without metrics."""

    def preempted(self, victims: int) -> None:
        """Count nothing."""

    def evicted(self, result: str, seconds: float) -> None:
        """Count nothing."""

    def preemption_executed(self, preemptor: str, result: str, seconds: float) -> None:
        """Count nothing."""

    def preemption_evaluated(self, preemptor: str, result: str, seconds: float) -> None:
        """Count nothing."""

    def workload_preemption(self, result: str) -> None:
        """Count nothing."""

    def workload_victims(self, preemptor: str, pods: int, groups: int, violations: int) -> None:
        """Count nothing."""

    def device_wait_ended(self, profile: str, driver: str, status: str) -> None:
        """Count nothing."""

    def waited_for_devices(self, profile: str, driver: str, status: str, seconds: float) -> None:
        """Count nothing."""

    def claim_created(self, status: str) -> None:
        """Count nothing."""


Spawn = Callable[[str, Coroutine[Any, Any, None]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The parts that the cycles of a scheduler and the handles of its plugins share.

    It is complete when it is built, and no part is replaced later. The shell provides the clock and
    what follows it. ``devices`` are those of the cluster, with the rules that the shell gives.
    """

    cluster: ClusterState
    pod_classes: PodClasses
    nominator: Nominator = field(default_factory=Nominator)
    waiting_pods: WaitingPods = field(default_factory=WaitingPods)
    pods_in_pre_bind: PodsInPreBind = field(default_factory=PodsInPreBind)
    records: Records = field(default_factory=Records)
    extenders: Extenders = field(default_factory=Extenders)
    node_walk: NodeWalk = field(default_factory=NodeWalk)
    seed: int = 0
    clock: Clock
    client: Client
    events: Mapping[str, EventRecorder]  # by profile
    spawn: Spawn
    activate: Callable[[Iterable[Pod]], None]
    metrics: PluginMetrics = field(default_factory=NoMetrics)
    objects_of: Callable[[str], KindObjects | None] = no_objects  # of kinds that the state lacks
    follow_pods: Callable[[PodHandler], Callable[[], None]] = no_pods
    listed: set[str] = field(default_factory=set)  # the kinds that plugins have listers for
    device_rules: DeviceRules = DeviceRules()  # noqa: RUF009  # frozen
    devices: ClusterDevices = field(init=False)

    def __post_init__(self) -> None:
        devices = ClusterDevices(self.cluster, self.device_rules)
        object.__setattr__(self, "devices", devices)  # the dataclass is frozen


class CustomLister:
    """Looks objects up at each call: a plugin gets its lister before the kind is watched."""

    def __init__(self, services: Services, resource: str) -> None:
        self._services = services
        self._resource = resource

    def get(self, key: str) -> Mapping[str, Any] | None:
        known = self._services.objects_of(self._resource)
        return None if known is None else known.get(key)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        known = self._services.objects_of(self._resource)
        return iter(()) if known is None else known.objects()


class ProfileHandle:
    """The Handle of one profile.

    Plugins get it before their profile is built: ``profiles``, by name, has it from then on.
    """

    def __init__(
        self, services: Services, profile_name: str, profiles: Mapping[str, Profile]
    ) -> None:
        self._services = services
        self._profiles = profiles
        self.profile_name = profile_name
        self.state = services.cluster
        self.cluster = services.cluster.view
        self.devices = services.devices
        self.nominator = services.nominator
        self.waiting_pods = services.waiting_pods
        self.pods_in_pre_bind = services.pods_in_pre_bind
        self.clock = services.clock
        self.client = services.client
        self.events = services.events[profile_name]
        self.metrics = services.metrics
        self.log: Logger = get_logger(f"podium.plugins.{profile_name}")

    @property
    def _profile(self) -> Profile:
        profile = self._profiles.get(self.profile_name)
        if profile is None:
            raise RuntimeError("the profile is still being built: ask again in a cycle")
        return profile

    def plugins(self, point: Point) -> Sequence[str]:
        return [plugin.name for plugin in self._profile.plugins[point]]

    def run_filters(self, state: CycleState, pod: Pod, nodes: Rows) -> Statuses:
        nominated = self.nominator.ahead_of(pod, self.state.table)
        return filter_with_nominated(self._profile, state, pod, nodes, nominated)

    def run_scores(self, state: CycleState, pod: Pod, nodes: Rows) -> Scores:
        profile = self._profile
        reads = dict.fromkeys((plugin.name for plugin in profile.judges), EVERYTHING)
        board = Scoreboard(profile, self.state, Reading(reads, (), (), profile.pre_scores))
        board.refresh(state, pod, Rows(self.state, nodes.index), UNTRACKED)
        totals: Scores = nodes.take(board.total)
        return totals

    def add_pods(self, state: CycleState, pod: Pod, others: PodsOnRows) -> None:
        self._profile.add_pods(state, pod, others)

    def remove_pods(self, state: CycleState, pod: Pod, others: PodsOnRows) -> None:
        self._profile.remove_pods(state, pod, others)

    def follows_pods(self, state: CycleState) -> bool:
        return self._profile.follows_pods(state)

    def room_for(self, state: CycleState, pod: Pod) -> Room:
        return Room(self._profile, self.state, state, pod, self.nominator)

    def lister(self, resource: str) -> Lister:
        self._services.listed.add(resource)
        return CustomLister(self._services, resource)

    def follow_pods(self, handler: PodHandler) -> Callable[[], None]:
        return self._services.follow_pods(handler)

    def activate(self, pods: Iterable[Pod]) -> None:
        self._services.activate(pods)

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        self._services.spawn(name, work)

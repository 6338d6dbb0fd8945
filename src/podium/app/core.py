"""The core built from a configuration: profiles with their plugins, for every kind of shell."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any

from podium.api.objects import Pod
from podium.api.resources import request_rule
from podium.app.own_plugins import in_tree_with_legacy
from podium.app.profiles import DraftProfiles, ProfileBuilder
from podium.clock import Clock, StillClock
from podium.config.model import Configuration
from podium.config.model import Profile as ProfileConfig
from podium.cycle.cycle import Cycle
from podium.cycle.extenders import Extenders
from podium.cycle.placement_cycle import PlacementCycle, PlacementRows
from podium.cycle.pod_classes import PodClasses
from podium.cycle.record import Records
from podium.cycle.services import KindObjects, Services, Spawn, no_objects, no_pods
from podium.errors import ConfigError, Problem
from podium.framework.extender import Extender
from podium.framework.handle import Client, EventNote, EventRecorder, PodHandler
from podium.framework.offline import OfflineClient
from podium.framework.plugin import Plugin
from podium.framework.profile import Profile
from podium.framework.queued_pod import QueuedPod
from podium.framework.registry import Registry
from podium.state.cluster import ClusterState


class NoEvents:
    """Drops all events: for shells without a cluster."""

    def record(self, regarding: Pod, related: Pod | None, event: EventNote) -> None:
        """Drop it."""


class Background:
    """Work that plugins have spawned. The shell runs it between two cycles."""

    def __init__(self) -> None:
        self._waiting: list[Coroutine[Any, Any, None]] = []

    def add(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        self._waiting.append(work)

    def run(self) -> None:
        """Run all of it until it is done."""
        work, self._waiting = self._waiting, []
        if work:
            asyncio.run(_all(work))


async def _all(work: list[Coroutine[Any, Any, None]]) -> None:
    await asyncio.gather(*work)


class Core:
    """Everything that decides, without I/O: feed ``cluster``, then start a cycle per pod.

    A cycle starts at PreFilter: ask the profile's ``run_pre_enqueue`` first whether a pod may be
    tried. A placed pod is assumed; ``cluster.add_pod`` confirms it once it is bound, and
    ``cluster.forget`` takes it back. After a rejection ``nominator.add`` takes what the outcome
    nominates.
    """

    def __init__(self, services: Services, builder: ProfileBuilder, draft: DraftProfiles) -> None:
        self.services = services
        self.builder = builder
        self.cluster = services.cluster
        self.nominator = services.nominator
        self.records = services.records
        self.profiles: Mapping[str, Profile] = builder.profiles
        self.adopt(draft)

    def start_cycle(self, queued: QueuedPod) -> Cycle:
        """One attempt for this pod; ``LookupError`` when no profile has its scheduler name."""
        name = queued.pod.scheduler_name
        profile = self.profiles.get(name)
        if profile is None:
            raise LookupError(f'profile not found for scheduler name "{name}"')
        return Cycle(self.services, profile, queued, self._percentages[name])

    def start_placement_cycle(self, queued: QueuedPod, within: PlacementRows) -> PlacementCycle:
        """One attempt for a member of a pod group, on the rows of one placement only."""
        name = queued.pod.scheduler_name
        profile, percentage = self.profiles[name], self._percentages[name]
        return PlacementCycle(self.services, profile, queued, percentage, within=within)

    def adopt(self, draft: DraftProfiles) -> list[Plugin]:
        """Use these profiles from the next cycle on. Return the plugins that are left behind."""
        self.configuration = draft.configuration
        self._percentages = {
            each.scheduler_name: _percentage(draft.configuration, each)
            for each in draft.configuration.profiles
        }
        self.services.pod_classes.clear()
        self.cluster.protect_nodes(any(p.has_outside_plugins for p in draft.profiles.values()))
        return self.builder.adopt(draft)


def _percentage(configuration: Configuration, profile: ProfileConfig) -> int | None:
    own = profile.percentage_of_nodes_to_score
    return configuration.percentage_of_nodes_to_score if own is None else own


class OfflineCore(Core):
    """A core for shells without a queue and a cluster.

    ``background.run`` does what plugins have spawned, such as evictions: the client is told, and
    the shell removes the pods.
    """

    def __init__(
        self,
        services: Services,
        builder: ProfileBuilder,
        draft: DraftProfiles,
        background: Background,
    ) -> None:
        super().__init__(services, builder, draft)
        self.background = background

    def cycle(self, queued: QueuedPod) -> Cycle:
        """``start_cycle``, counting attempts as a queue would."""
        queued.attempts += 1
        return self.start_cycle(queued)


def build(  # noqa: PLR0913  # all that a core can be given, each by its name
    configuration: Configuration,
    *,
    registry: Registry | None = None,
    clock: Clock | None = None,
    client: Client | None = None,
    extenders: Iterable[Extender] = (),
    spawn: Spawn | None = None,
    activate: Callable[[Iterable[Pod]], None] | None = None,
    events: EventRecorder | None = None,
    seed: int = 0,
    reuses: bool = True,
    records: Records | None = None,
    cluster: ClusterState | None = None,
    objects_of: Callable[[str], KindObjects | None] = no_objects,
    follow_pods: Callable[[PodHandler], Callable[[], None]] = no_pods,
) -> OfflineCore:
    """Build a core with the profiles of this configuration.

    Extenders must run in this process, and cycles are then driven by ``await run_extended(cycle)``.
    ``spawn`` runs the work of plugins instead of the core's ``background``. ``seed`` decides among
    nodes with equal scores. Without ``reuses`` every pod is judged from scratch, for comparison.
    ``records`` keeps the records of attempts; by default with the detail of each. ``cluster`` is
    an empty state, by default one that knows no pod groups. ``objects_of`` returns the objects of
    custom kinds by their full names, and ``follow_pods`` calls a handler for all changes of pods.
    """
    _refuse_http(configuration)
    registry = registry or in_tree_with_legacy()
    if cluster is None:
        cluster = ClusterState(request_rule(registry.release))
    background = Background()
    names = (each.scheduler_name for each in configuration.profiles)
    services = Services(
        cluster=cluster,
        pod_classes=PodClasses(cluster, enabled=reuses),
        records=Records() if records is None else records,  # not "or": empty Records are falsy
        extenders=Extenders(extenders, configuration.parallelism),
        clock=clock or StillClock(),
        client=client or OfflineClient(),
        events=dict.fromkeys(names, events or NoEvents()),
        seed=seed,
        spawn=spawn or background.add,
        activate=activate or no_queue,
        objects_of=objects_of,
        follow_pods=follow_pods,
        device_rules=registry.device_rules,
    )
    builder = ProfileBuilder(services)
    draft = builder.draft(configuration, registry)
    return OfflineCore(services, builder, draft, background)


def _refuse_http(configuration: Configuration) -> None:
    if configuration.extenders:
        text = "only a running scheduler calls extenders over HTTP: leave them out here"
        problem = Problem("extenders", text)
        raise ConfigError("<config>", [problem])


def no_queue(pods: Iterable[Pod]) -> None:
    """Shells without a queue have nothing to activate."""

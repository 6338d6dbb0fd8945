"""``podium.Simulation``: ask what the scheduler would do, in memory, without a cluster.

simulation = podium.Simulation.from_objects(objects)
trial = simulation.fork()
trial.add(pod, replicas=20)
print(trial.schedule())
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from html import escape
from importlib import import_module
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from podium import snapshot
from podium.api.meta import ApiObject
from podium.api.nodes import ZONE
from podium.api.objects import Node, Pod
from podium.app import OfflineCore
from podium.config.feature_gates import FeatureGates
from podium.errors import SimulationError
from podium.garbage import without_collector
from podium.queue.scheduling_queue import SchedulingQueue
from podium.release import Release
from podium.simulation import outcome
from podium.simulation.building import (
    ConfigurationSource,
    gates_of,
    read_configuration,
    registry_of,
)
from podium.simulation.cloning import clone
from podium.simulation.draining import Drain
from podium.simulation.figures import Figures, measure, use_row
from podium.simulation.fitting import Judged, fit_by_needs, fit_by_trial, judge
from podium.simulation.kinds import NODE, POD, deciding_first, is_new, kind_of
from podium.simulation.limits import MOST_ADDED, check_number, too_many
from podium.simulation.loading import objects_of
from podium.simulation.lookup import KindObjects, require, unknown_object
from podium.simulation.naming import new_names
from podium.simulation.results import DrainResult, FitResult, ScheduleResult, Unplaced
from podium.simulation.scheduling import run_apart
from podium.simulation.tables import counts, html_table
from podium.simulation.world import Image, World
from podium.snapshot import ObjectStream, Snapshot

Manifest = ApiObject | Mapping[str, Any]
SECONDS: Final = 120.0
MOST: Final = 100_000


class Simulation:
    """A cluster in memory, and the scheduler that decides about it.

    Build one with ``from_objects``, ``from_snapshot`` or ``from_kubeconfig``. A simulation and its
    forks share one scheduler, so that a fork costs only what differs; use them in one thread.
    """

    def __init__(self, world: World, image: Image) -> None:
        self._world = world
        self._image = image  # the state to return to, while another fork is in use
        self._saved = image  # the state of the last commit
        self.notes: tuple[str, ...] = ()  # what a snapshot lacks, and what that means
        # The snapshot that it was built from, without its objects; None if there was none.
        self.taken: Snapshot | None = None

    @classmethod
    def from_objects(  # noqa: PLR0913  # all that a simulation can be given, each by its name
        cls,
        objects: Iterable[Manifest],
        configuration: ConfigurationSource | None = None,
        release: Release | str | None = None,
        plugins: Iterable[object] = (),
        seed: int | None = None,
        *,
        feature_gates: Iterable[str] = (),
    ) -> Simulation:
        """Build a simulation from manifests, or objects of ``podium.api``.

        ``configuration`` is a KubeSchedulerConfiguration: its file, its content or podium's value.
        ``release`` is what to behave as, such as "1.36". ``plugins`` are classes, factories or
        decorated functions, as for ``podium.Scheduler``. ``seed`` decides among nodes with equal
        scores: the same seed gives the same placements. ``feature_gates`` are settings such as
        "GenericWorkload=false".
        """
        gates = gates_of(release, feature_gates)
        empty = cls._empty(configuration, gates, plugins, seed)
        with without_collector():
            return empty._loaded(objects)

    @classmethod
    def from_snapshot(  # noqa: PLR0913  # all that a simulation can be given, each by its name
        cls,
        source: Snapshot | str | PathLike[str],
        configuration: ConfigurationSource | None = None,
        release: Release | str | None = None,
        plugins: Iterable[object] = (),
        seed: int | None = None,
        *,
        reschedule: bool = False,
        feature_gates: Iterable[str] = (),
    ) -> Simulation:
        """Build a simulation from a snapshot or its file, or any file that ``snapshot.load`` takes.

        Configuration and release are by default those of the snapshot, if it has them. Pending pods
        are queued in the order of their creation. With ``reschedule`` all pods are pending except
        those that stay with their nodes, such as those of DaemonSets.
        """
        with _streamed(source) as stream:
            taken = stream.taken
            if configuration is None:
                configuration = taken.configuration
            else:
                taken = taken.without_configuration()
            gates = gates_of(taken.release if release is None else release, feature_gates)
            empty = cls._empty(configuration, gates, plugins, seed)
            empty.notes = (*taken.notes, *map(str, taken.missing))
            empty.taken = taken
            with without_collector():
                return empty._loaded(objects_of(stream, gates, reschedule=reschedule))

    @classmethod
    def from_kubeconfig(
        cls,
        path: str | PathLike[str] | None = None,
        context: str = "",
        **options: Any,
    ) -> Simulation:
        """Build a simulation of a running cluster, which is only read, never written to.

        Without a path it is the cluster that kubectl would use. ``options`` are those of
        ``from_snapshot``.
        """

        async def read() -> Snapshot:
            async with snapshot.connect(None if path is None else Path(path), context) as cluster:
                return await snapshot.read_cluster(cluster)

        return cls.from_snapshot(run_apart(read()), **options)

    @classmethod
    def _empty(
        cls,
        configuration: ConfigurationSource | None,
        gates: FeatureGates,
        plugins: Iterable[object],
        seed: int | None,
    ) -> Simulation:
        registry = registry_of(gates, plugins)
        read = read_configuration(configuration, registry, gates)
        world = World(read, registry, gates, seed or 0)
        return cls(world, world.image())

    def _loaded(self, objects: Iterable[Manifest]) -> Simulation:
        """Add the first objects; those that decide about others come before them."""
        parts: dict[int, list[Manifest]] = {}
        for each in objects:
            parts.setdefault(deciding_first(each), []).append(each)
        for _, some in sorted(parts.items()):
            loaded: list[ApiObject] = []
            followed: list[ApiObject] = []
            for given in some:
                # Most objects of a large cluster are there as they are to be stored.
                if isinstance(given, ApiObject) and given.uid:
                    loaded.append(given)
                    if _is_pending(given):
                        followed.append(given)
                    continue
                made = list(self._world.admission.admit(given))
                created = not isinstance(given, ApiObject) and is_new(given)
                loaded += made
                followed += [each for each in made if created or _is_pending(each)]
            self._world.load(loaded)
            self._world.follow(followed)
        self._image = self._saved = self._world.image()
        self._enter(is_there=True)
        return self

    def __repr__(self) -> str:
        named = (len(self.nodes), "nodes"), (len(self.pods), "pods"), (len(self.pending), "pending")
        return f"<Simulation: {counts(*named)}>"

    def _repr_html_(self) -> str:
        """Return what notebooks show: the summary, and how full the cluster is."""
        rows = [use_row("", each) for each in self.figures().resources]
        return f"<p>{escape(repr(self).strip('<>'))}</p>{html_table(rows)}"

    # --- reading ---------------------------------------------------------------------------------

    @property
    def nodes(self) -> Mapping[str, Node]:
        """Return the nodes by name."""
        return KindObjects(self._all, NODE)

    @property
    def pods(self) -> Mapping[str, Pod]:
        """All pods by ``namespace/name``, with and without a node."""
        return KindObjects(self._all, POD)

    @property
    def pending(self) -> Mapping[str, Pod]:
        """Return the pods without a node that this scheduler is responsible for, in any order."""
        return {queued.key: queued.pod for queued in self._enter().scheduling.queue.pods()}

    @property
    def core(self) -> OfflineCore:
        """The core that decides, in the state of this simulation until another fork is used."""
        return self._enter().core

    @property
    def queue(self) -> SchedulingQueue:
        """The scheduling queue, valid as long as ``core`` is."""
        return self._enter().scheduling.queue

    def objects(self, kind: str) -> Mapping[str, Any]:
        """Return the objects of a kind such as ``Service`` or ``apps/ReplicaSet`` by key."""
        return KindObjects(self._all, kind)

    def _all(self, kind: str) -> Mapping[str, Any]:
        return self._enter().all(kind)

    # --- changing --------------------------------------------------------------------------------

    def add(
        self, *objects: Manifest, replicas: int | None = None, most: int = MOST_ADDED
    ) -> list[ApiObject]:
        """Add objects, or new versions of objects that are there; return them as they are stored.

        With ``replicas``, each pod is added so many times, as NAME-0, NAME-1 and so on. A new
        workload, such as a Deployment, comes with its pods. Nothing is added if something is wrong,
        or if this were more than ``most`` objects in all.
        """
        world = self._enter()
        before = world.image()
        added: list[ApiObject] = []
        try:
            for each in sorted(objects, key=deciding_first):
                for one in world.admission.admit(each, replicas):
                    world.check()
                    self._refuse_other(one)
                    if len(added) >= most:
                        raise too_many(most)
                    added.append(world.put(one))
        except BaseException:
            world.restore(before)
            raise
        return added

    def _refuse_other(self, obj: ApiObject) -> None:
        """Raise if another pod has this name; a new version of a pod has its uid."""
        known = self._world.find(POD, obj.key) if isinstance(obj, Pod) else None
        if known is not None and known.uid != obj.uid:
            raise SimulationError(f"Pod {obj.key} is there already: give the new one another name")

    def clone_node(self, name: str, count: int = 1) -> list[str]:
        """Add nodes like this one, with pods like those of its DaemonSets; return their names."""
        world = self._enter()
        require(NODE, [name], world.all(NODE))
        check_number("the number of nodes", count)
        free = new_names(name, lambda name: world.find(NODE, name) is not None)
        names = list(islice(free, count))
        for new in names:
            world.check()
            clone(world, name, new)
        return names

    def remove(self, *objects: Manifest | str) -> None:
        """Remove objects: those given, or pods by ``namespace/name`` and nodes by name.

        Pods of a removed node are not evicted: ``drain`` it first.
        """
        world = self._enter()
        for kind, key in [self._located(each) for each in objects]:
            world.delete(kind, key)

    @contextmanager
    def observing(self) -> Iterator[Callable[[str, str, ApiObject | None], None]]:
        """Take objects as watches of the real cluster show them: by kind and key, ``None`` if gone.

        Nothing else changes, unlike after ``add`` and ``remove``, when controllers act. Afterwards
        earlier forks cannot be used any more, and ``rollback`` returns to what was observed last:
        no history is kept, so this can go on for ever.
        """
        world = self._enter()
        try:
            yield world.observe
        finally:
            world.begin_history()
            self._saved = world.image()

    def _located(self, given: Manifest | str) -> tuple[str, str]:
        if not isinstance(given, str):
            obj = self._world.admission.admit_one(given)
            kind, key = kind_of(obj), obj.key
            if self._world.find(kind, key) is None:
                raise unknown_object(kind, key, self._world.all(kind))
            return kind, key
        for kind, key in ((NODE, given), (POD, given), (POD, f"default/{given}")):
            if self._world.find(kind, key) is not None:
                return kind, key
        there = {*self._world.all(NODE), *self._world.all(POD)}
        raise unknown_object("Pod or Node", given, there)

    # --- scheduling ------------------------------------------------------------------------------

    def schedule(self, seconds: float = SECONDS) -> ScheduleResult:
        """Schedule all pending pods until nothing happens any more.

        Time passes only in the simulation: at most ``seconds``, for pods that are retried or wait.
        """
        world = self._enter()
        world.events.clear()
        attempts = world.scheduling.run(seconds)
        placed, victims = outcome.placed(world), outcome.victims(world)
        return ScheduleResult(placed, self.unplaced, victims, attempts)

    @property
    def unplaced(self) -> tuple[Unplaced, ...]:
        """The pending pods, and what the scheduler last said about each of them."""
        return outcome.unplaced(self._enter())

    # --- questions -------------------------------------------------------------------------------

    def drain(self, *nodes: str, ignore_budgets: bool = False) -> DrainResult:
        """Cordon these nodes and evict their pods; controllers replace them on other nodes.

        As with ``kubectl drain``, pods of DaemonSets stay, and disruption budgets are respected:
        pods are evicted as soon as the replacements of others have a node.
        """
        world = self._enter()
        require(NODE, nodes, world.all(NODE))
        drain = Drain(world, self.schedule, ignores_budgets=ignore_budgets)
        return drain.run(tuple(dict.fromkeys(nodes)))

    def fit(self, pod: Manifest, most: int = MOST) -> FitResult:
        """Return how many more pods like this one fit without evicting others, and where.

        At most ``most`` pods are tried where it cannot be worked out. The simulation stays as it
        is.
        """
        subject = self._world.admission.admit_one(pod)
        if not isinstance(subject, Pod):
            raise SimulationError(f"{kind_of(subject)} {subject.key}: fit takes a Pod")
        spec = replace(subject.spec, preemption_policy="Never", node_name="")
        subject = replace(subject, spec=spec)
        found = fit_by_needs(self._enter(), subject)
        return fit_by_trial(self.fork(), subject, most) if found is None else found

    def judge(self, pod: Pod) -> Judged:
        """Ask the filters about all nodes, and change nothing."""
        return judge(self._enter(), pod)

    def figures(self, topology: str = ZONE) -> Figures:
        """Return how full and how fragmented the cluster is, by the values of a node label."""
        world = self._enter()
        return measure(world.core.cluster, len(world.scheduling.queue.pods()), topology)

    def explain(self, pod: Manifest | str, **options: Any) -> Any:
        """Explain why a pod is pending, or why it has its node; by name, or one that is new.

        Returns an ``Explanation`` of ``podium.explain``, whose ``explain`` takes the options.
        """
        return import_module("podium.explain").explain(self, pod, **options)  # a layer above

    @contextmanager
    def stoppable(self, check: Callable[[], None]) -> Iterator[None]:
        """Call ``check`` between the steps of all work until the block ends, also that of forks.

        What it raises ends the work. Drop the fork that was in use, or roll it back.
        """
        world, before = self._world, self._world.check
        world.check = check
        try:
            yield
        finally:
            world.check = before

    def check(self) -> None:
        """Do what ``stoppable`` asks for between two steps; for tools that use ``core``."""
        self._world.check()

    # --- forks -----------------------------------------------------------------------------------

    def fork(self) -> Simulation:
        """Return an independent copy. It costs as much as there are pending pods, no more."""
        made = Simulation(self._world, self._enter().image())
        made.notes, made.taken = self.notes, self.taken
        return made

    def commit(self) -> None:
        """Make the present state the one that ``rollback`` returns to."""
        self._saved = self._enter().image()

    def rollback(self) -> None:
        """Return to the state of the last ``commit``, or to how this simulation began."""
        self._enter().restore(self._saved)

    def _enter(self, *, is_there: bool = False) -> World:
        """Bring the shared world into the state of this simulation."""
        world = self._world
        current = _CURRENT.get(world)
        owner = current() if current is not None else None
        if owner is self:
            return world
        if not is_there:
            if owner is not None:
                owner._image = world.image()
            world.restore(self._image)
        _CURRENT[world] = weakref.ref(self)
        return world


# Whose state each world is in. A fork that is gone needs no image of its state.
_CURRENT: weakref.WeakKeyDictionary[World, weakref.ref[Simulation]] = weakref.WeakKeyDictionary()


def _streamed(source: Snapshot | str | PathLike[str]) -> AbstractContextManager[ObjectStream]:
    if isinstance(source, Snapshot):
        return nullcontext(source.stream())
    return snapshot.streamed(Path(source), is_checked=False)


def _is_pending(obj: ApiObject) -> bool:
    """Whether an object is a pod without a node: its claims may still have to be made."""
    return isinstance(obj, Pod) and not obj.node_name

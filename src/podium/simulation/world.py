"""The simulated cluster behind a simulation and its forks: objects, one core, one scheduler.

It is in the state of one simulation at a time. ``image`` keeps that state, and ``restore`` goes
back to one that was kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from msgspec.structs import replace

from podium import app
from podium.api.meta import ApiObject
from podium.api.objects import Node, Pod
from podium.api.pod_groups import SchedulingGroup
from podium.api.pods import JOB_TRACKING
from podium.api.resources import request_rule
from podium.app.feature_gates import LiveOptions
from podium.app.queue_rules import Rules, rules_of
from podium.clock import FakeClock
from podium.config import Configuration
from podium.config.feature_gates import FeatureGates
from podium.errors import SimulationError
from podium.framework.event_rules import EventRules, event_rules
from podium.framework.queued_pod import QueuedPod
from podium.framework.queued_pod_group import QueuedPodGroup, pods_of
from podium.framework.registry import Registry
from podium.framework.status import Nominate
from podium.metrics import Metrics
from podium.queue.options import QueueOptions
from podium.simulation.client import LocalClient
from podium.simulation.controllers import Controllers
from podium.simulation.custom_objects import CUSTOM_KINDS, CustomObjects, PodFollowers
from podium.simulation.events import Events
from podium.simulation.history import Change, Version, path
from podium.simulation.kinds import POD, POD_GROUPS, kind_of, seen
from podium.simulation.replacing import is_replaced, replacement
from podium.simulation.scheduling import Scheduling
from podium.state.grouped_cluster import GroupedClusterState
from podium.state.kinds import ASPECTS

if TYPE_CHECKING:
    from podium.simulation.admission import Admission

T = TypeVar("T", bound=ApiObject)

_LONGEST_VERSION: Final = 20  # digits of a number of 64 bits
_STOP_SECONDS: Final = 1.0  # that the containers of a deleted pod take, as in `podium up`
# Longer than any time for which plugins of podium remember what was done in another fork.
_PAUSE_SECONDS: Final = 60.0
_OUTDATED: Final = (
    "this fork is older than what the simulation has observed since: make a new one with fork()"
)


@dataclass(frozen=True, slots=True)
class Parts:
    """What all schedulers of a world share."""

    options: LiveOptions
    events: EventRules
    rules: Rules
    times: QueueOptions
    metrics: Metrics


class WaitingEntity(NamedTuple):
    """A pending pod or pod group as it was queued, and in which part of the queue.

    ``pods`` has each pod as it was, with the node that was nominated for it.
    """

    queued: QueuedPod
    queue: str
    pods: tuple[tuple[Pod, str | None], ...]


class Image(NamedTuple):
    """A state of the whole simulated cluster, to which it can return."""

    version: Version
    waiting: tuple[WaitingEntity, ...]
    walk: int  # where the next walk over a sample of the nodes starts
    now: float
    changed_at: float


class World:
    """All objects by kind and key, and the scheduler that decides about them.

    Invariants: ``core.cluster`` has the objects of the kinds that it keeps, and the pods that have
    a node and have not ended; the queue has the other pods of our profiles. ``departing`` has the
    pods that are being deleted. ``_changes`` are those since ``_version``. ``changed_at`` is the
    time of the latest change of anything but pending pods. Time never goes back, not even in
    ``restore``, because plugins rely on it.
    """

    def __init__(
        self, configuration: Configuration, registry: Registry, gates: FeatureGates, seed: int
    ) -> None:
        self.check: Callable[[], None] = lambda: None  # called between steps; raises to stop
        self._gates = gates
        self._seed = seed
        self.clock = FakeClock()
        self.events = Events()
        self.client = LocalClient()
        self.client.cluster = self
        self._followers = PodFollowers()
        options = LiveOptions(gates, clock=self.clock)
        self.core = app.build(
            configuration,
            registry=registry,
            cluster=options.cluster(request_rule(gates.release)),
            clock=self.clock,
            client=self.client,
            spawn=lambda name, work: self.scheduling.tasks.spawn(name, work),
            activate=lambda pods: self.scheduling.activate(tuple(pods)),
            events=self.events,
            seed=seed,
            objects_of=self._custom,
            follow_pods=self._followers.add,
        )
        self.parts = self._parts(configuration, options)
        self.controllers = Controllers(self)
        self.departing: dict[str, Pod] = {}  # by key
        self._objects: dict[str, dict[str, ApiObject]] = {}
        self._version = Version()
        self._changes: list[Change] = []
        self._writes = 0
        self.changed_at = self.clock.now()
        self.scheduling = Scheduling(self)

    @cached_property
    def admission(self) -> Admission:
        """What turns manifests into objects of this world, in all its forks."""
        from podium.simulation.admission import Admission  # slow to load: an API server is in it

        return Admission(self, self._gates, self._seed)

    def _parts(self, configuration: Configuration, options: LiveOptions) -> Parts:
        release = options.gates.release
        events = event_rules(release)
        times = QueueOptions.of(
            configuration, events, options.max_in_unschedulable, options.has_composites
        )
        rules = rules_of(self.core.profiles, self.core.services, events)
        return Parts(options, events, rules, times, Metrics(release=release))

    # --- objects ---------------------------------------------------------------------------------

    def find(self, kind: str, key: str) -> ApiObject | None:
        return self._objects.get(kind, _NOTHING).get(key)

    def pod(self, key: str) -> Pod | None:
        return seen(_pod(self.find(POD, key)))

    def all(self, kind: str) -> Mapping[str, Any]:
        """Return the objects of a kind by key, as they are now."""
        return self._objects.get(kind, _NOTHING)

    def groups(self) -> Iterator[SchedulingGroup]:
        """Return the groups of both kinds."""
        return (group for kind in POD_GROUPS for group in self.all(kind).values())

    def _custom(self, resource: str) -> CustomObjects | None:
        kind = CUSTOM_KINDS.get(resource)
        return None if kind is None else CustomObjects(self.all, kind)

    def kinds(self) -> Iterator[str]:
        return (kind for kind, objects in self._objects.items() if objects)

    def load(self, objects: Iterable[ApiObject]) -> None:
        """Add the objects of a new world; its pending pods are queued in order."""
        listed = sorted(objects, key=_loading_order)
        self._writes = max(self._writes, *map(_number, listed), 0)
        placed: list[Pod] = []
        pending: list[Change] = []
        for obj in listed:
            change = Change(kind_of(obj), obj.key, None, obj)
            self._store(change)
            if isinstance(obj, Pod):
                if not obj.spec.node_name:
                    pending.append(change)
                elif not obj.has_ended:
                    placed.append(obj)
            elif isinstance(obj, SchedulingGroup):
                self.scheduling.watch(change)
            else:
                self._show(change)
        self.core.cluster.add_pods(placed)
        for change in pending:
            self.scheduling.watch(change)

    def follow(self, objects: Iterable[ApiObject]) -> None:
        """Let controllers look at objects that are new, and were loaded."""
        for obj in objects:
            self.controllers.follow(Change(kind_of(obj), obj.key, None, obj))

    def put(self, obj: T) -> T:
        """Create an object, or replace it by a new version; return it as it is stored."""
        kind, key = kind_of(obj), obj.key
        self._writes += 1
        meta = replace(obj.metadata, resource_version=str(self._writes))
        stored: T = replace(obj, metadata=meta)
        self._happened(Change(kind, key, self.find(kind, key), stored))
        return stored

    def delete(self, kind: str, key: str) -> None:
        self._writes += 1
        old = self.find(kind, key)
        if old is not None:
            self._happened(Change(kind, key, old, None))

    def observe(self, kind: str, key: str, obj: ApiObject | None) -> None:
        """Take an object as a watch of the real cluster shows it; ``None`` if it is gone.

        Simulated controllers do nothing about it: the real ones have done or will do their work.
        """
        old = self.find(kind, key)
        if old is not None and (obj is None or not _is_newer_version(obj, old)):
            self._observed(Change(kind, key, old, None))
            old = None
        if obj is not None:
            self._writes = max(self._writes, _number(obj))
            self._observed(Change(kind, key, old, obj))

    def _observed(self, change: Change) -> None:
        self._store(change)
        self._date(change)
        self.scheduling.watch(change)

    def begin_history(self) -> None:
        """Let the present be the first version: there is no way back to images taken before."""
        self._changes = []
        self._version = Version()

    @property
    def writes(self) -> int:
        """A number that grows with every write."""
        return self._writes

    def _happened(self, change: Change) -> None:
        """Store a change; report it to the scheduler as a watch would, and to controllers."""
        before = self._turn_of(change.old)
        self._store(change)
        self._date(change)
        self.scheduling.watch(change)
        self._changes.append(change._replace(turns=(before, self._turn_of(change.new))))
        self.controllers.follow(change)

    def _turn_of(self, obj: ApiObject | None) -> int:
        placed = self.core.cluster.pods.get(obj.uid) if isinstance(obj, Pod) else None
        return 0 if placed is None else placed.turn

    def _date(self, change: Change) -> None:
        if not (_is_pending(change.old) and _is_pending(change.new)):
            self.changed_at = self.clock.now()

    def _store(self, change: Change) -> None:
        kind, key, old, new, _ = change
        objects = self._objects.setdefault(kind, {})
        if new is None:
            del objects[key]
        else:
            objects[key] = new
        if kind == POD:
            if self.departing or (new is not None and new.is_terminating):
                self._follow_deletion(change)
            if self._followers:
                self._followers.tell(seen(_pod(old)), seen(_pod(new)))

    def _follow_deletion(self, change: Change) -> None:
        """Let a pod that is being deleted leave after a moment, as its kubelet does."""
        pod = change.new
        if isinstance(pod, Pod) and pod.is_terminating and not _held(pod):
            if change.key not in self.departing:
                self._depart_soon(pod)
            self.departing[change.key] = pod
        else:
            self.departing.pop(change.key, None)

    def _depart_soon(self, pod: Pod) -> None:
        seconds = stop_seconds(pod.metadata.deletion_grace_period_seconds)
        self.clock.call_later(seconds, lambda: self._depart(pod))

    def _depart(self, pod: Pod) -> None:
        leaving = self.departing.get(pod.key)
        if leaving is not None and leaving.uid == pod.uid:
            self.delete(POD, pod.key)
            if is_replaced(leaving):
                self.put(replacement(leaving))

    # --- forks -----------------------------------------------------------------------------------

    def image(self) -> Image:
        """Keep the present state. It costs as much as there are pending pods."""
        self._seal()
        queue, nominator = self.scheduling.queue, self.core.nominator
        waiting = tuple(
            WaitingEntity(
                queued.copy(),
                part,
                tuple((each.pod, nominator.node_of(each.uid)) for each in pods_of(queued)),
            )
            for queued, part in queue.waiting()
        )
        walk = self.core.services.node_walk.start
        return Image(self._version, waiting, walk, self.clock.now(), self.changed_at)

    def restore(self, image: Image) -> None:
        """Return to a state that was kept; the present one is lost unless it was kept too."""
        if image.version.root is not self._version.root:
            raise SimulationError(_OUTDATED)
        self.scheduling.close()
        passed = math.ceil(self.clock.now() - image.now) + _PAUSE_SECONDS
        self.clock.advance(image.now + passed - self.clock.now())
        self._seal()
        for change in path(self._version, image.version):
            self._store(change)
            self._show(change)
        self._version = image.version
        self.changed_at = image.changed_at + passed
        self.core.services.node_walk.start = image.walk
        self.scheduling = Scheduling(self)
        for group in self.groups():
            self.scheduling.know_group(group)
        for waiting in image.waiting:
            self._queue(waiting, passed)
        for pod in self.departing.values():
            self._depart_soon(pod)

    def _seal(self) -> None:
        self._version = self._version.then(tuple(self._changes))
        self._changes = []

    def _queue(self, waiting: WaitingEntity, passed: float) -> None:
        queued = waiting.queued.copy()
        members = pods_of(queued)
        for member, (pod, _) in zip(members, waiting.pods, strict=True):
            member.replace(pod)  # a PodInfo of its own: that of a placed pod changes
            member.postpone(passed)
        if isinstance(queued, QueuedPodGroup):
            queued.postpone(passed)
        self.scheduling.queue.restore(queued, waiting.queue)
        for member, (_, nominated) in zip(members, waiting.pods, strict=True):
            if nominated is not None:
                self.core.nominator.add(member.info, Nominate(nominated))

    def _show(self, change: Change) -> None:
        """Change the state of the core, without waking pods."""
        cluster, old, new = self.core.cluster, change.old, change.new
        match old, new:
            case Pod() | None, Pod() | None:
                self._show_pod(seen(old), seen(new), change.turns[1])
            case _, Node():
                cluster.set_node(new)
            case Node(), None:
                cluster.remove_node(change.key)
            case _ if type(old or new) in ASPECTS:
                if old is not None:  # else an older version would be taken for a late one
                    cluster.remove_object(type(old), change.key)
                if new is not None:
                    cluster.set_object(new)

    def _show_pod(self, old: Pod | None, new: Pod | None, turn: int) -> None:
        cluster = self.core.cluster
        if old is not None and old.node_name:
            cluster.remove_pod(old)
        elif old is not None and isinstance(cluster, GroupedClusterState):
            cluster.remove_member(old)
        if new is not None and new.node_name:
            cluster.add_pod(new, turn)
        elif new is not None and new.group_key and isinstance(cluster, GroupedClusterState):
            cluster.see_member(new)


_NOTHING: Final[Mapping[str, ApiObject]] = {}


def _is_newer_version(obj: ApiObject, old: ApiObject) -> bool:
    """Whether this is the same object, and not older, as after the server lost its last writes."""
    return obj.uid == old.uid and _number(obj) >= _number(old)


def stop_seconds(grace: float | None) -> float:
    """Return how long a pod with this grace period takes to stop; None is the usual period."""
    return _STOP_SECONDS if grace is None else min(_STOP_SECONDS, float(grace))


def _pod(obj: ApiObject | None) -> Pod | None:
    assert isinstance(obj, Pod | None)
    return obj


def _is_pending(obj: ApiObject | None) -> bool:
    return isinstance(obj, Pod) and not obj.node_name


def _held(pod: Pod) -> bool:
    """Whether finalizers keep a deleted pod; the controller of jobs removes its own at once."""
    return any(each != JOB_TRACKING for each in pod.metadata.finalizers)


def _loading_order(obj: ApiObject) -> int:
    """Put nodes first, so that pods and other objects find their rows."""
    return 0 if isinstance(obj, Node) else 1


def _number(obj: ApiObject) -> int:
    version = obj.metadata.resource_version
    return int(version) if version.isdecimal() and len(version) <= _LONGEST_VERSION else 0

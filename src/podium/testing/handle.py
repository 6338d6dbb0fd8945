"""What plugins need of a scheduler, for tests that run without one."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec

from podium.api.meta import ApiObject
from podium.api.objects import (
    Condition,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodExtendedResourceClaimStatus,
    ResourceClaim,
)
from podium.clock import FakeClock
from podium.cycle.pod_classes import PodClasses
from podium.cycle.services import ProfileHandle, Services
from podium.devices import DeviceRules
from podium.errors import NotFound
from podium.framework.handle import EventNote, PodHandler
from podium.framework.offline import patched
from podium.framework.plugin import Plugin
from podium.framework.points import Point, points_of
from podium.framework.profile import Profile
from podium.logs import get_logger
from podium.state.cluster import ClusterState, load
from podium.state.rows import Rows

T = TypeVar("T", bound=ApiObject)

_PROFILE: Final = "default-scheduler"


class FakeClient:
    """Remembers what was written, in order: ``("delete", "default/web")``."""

    def __init__(self) -> None:
        self.writes: list[tuple[Any, ...]] = []

    async def bind(self, pod: Pod, node_name: str) -> None:
        self.writes.append(("bind", pod.key, pod.uid, node_name))

    async def delete_pod(self, pod: Pod) -> None:
        self.writes.append(("delete", pod.key))

    async def patch_pod_condition(self, pod: Pod, condition: Condition) -> None:
        self.writes.append(("condition", pod.key, condition))

    async def clear_nominated_node_name(self, pod: Pod) -> None:
        self.writes.append(("clear nomination", pod.key))

    async def bind_volume(
        self, volume: PersistentVolume, claim: ObjectReference, annotations: Mapping[str, str]
    ) -> PersistentVolume:
        self.writes.append(("bind volume", volume.name, claim.name, dict(annotations)))
        return _next_version(volume)

    async def annotate_claim(
        self, claim: PersistentVolumeClaim, annotations: Mapping[str, str]
    ) -> PersistentVolumeClaim:
        self.writes.append(("annotate", claim.key, dict(annotations)))
        return _next_version(claim)

    async def set_finalizers(
        self, claim: ResourceClaim, finalizers: Sequence[str]
    ) -> ResourceClaim:
        self.writes.append(("finalizers", claim.key, tuple(finalizers)))
        metadata = msgspec.structs.replace(claim.metadata, finalizers=tuple(finalizers))
        return _next_version(msgspec.structs.replace(claim, metadata=metadata))

    async def patch_claim_status(
        self, claim: ResourceClaim, status: Mapping[str, object]
    ) -> ResourceClaim:
        self.writes.append(("claim status", claim.key, dict(status)))
        changed = msgspec.structs.replace(claim, status=patched(claim.status, status))
        return _next_version(changed)

    async def remove_consumer(self, claim: ResourceClaim, uid: str) -> ResourceClaim:
        self.writes.append(("remove consumer", claim.key, uid))
        left = [consumer for consumer in claim.status.reserved_for if consumer.uid != uid]
        status = patched(claim.status, {"reservedFor": left})
        return _next_version(msgspec.structs.replace(claim, status=status))

    async def create_claim(self, claim: ResourceClaim) -> ResourceClaim:
        name = f"{claim.metadata.generate_name}made"
        metadata = msgspec.structs.replace(claim.metadata, name=name, uid=f"uid-{name}")
        self.writes.append(("create claim", f"{claim.namespace}/{name}", claim.spec))
        return _next_version(msgspec.structs.replace(claim, metadata=metadata))

    async def delete_claim(self, claim: ResourceClaim) -> None:
        self.writes.append(("delete claim", claim.key))

    async def set_extended_claim(self, pod: Pod, status: PodExtendedResourceClaimStatus) -> None:
        self.writes.append(("extended claim", pod.key, status))

    async def read(self, kind: type[T], key: str) -> T:
        raise NotFound(f"{kind.__name__} {key}")


def _next_version(obj: T) -> T:
    version = str(int(obj.metadata.resource_version or 0) + 1)
    metadata = msgspec.structs.replace(obj.metadata, resource_version=version)
    return msgspec.structs.replace(obj, metadata=metadata)


class FakeEvents:
    """Remembers (key of the pod, key of the related pod or "", the event)."""

    def __init__(self) -> None:
        self.recorded: list[tuple[str, str, EventNote]] = []

    def record(self, regarding: Pod, related: Pod | None, event: EventNote) -> None:
        self.recorded.append((regarding.key, related.key if related else "", event))


class FakeLister:
    """Objects by key, plain dicts as in a manifest."""

    def __init__(self, objects: Mapping[str, Mapping[str, Any]]) -> None:
        self._objects = objects

    def get(self, key: str) -> Mapping[str, Any] | None:
        return self._objects.get(key)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self._objects.values())


class FakeHandle(ProfileHandle):
    """A handle on a cluster of its own: ``FakeHandle(node("a"), pod("web", node="a"))``.

    It does what a scheduler's does, but writes, events, spawned work and activated pods wait in
    ``client.writes``, ``events.recorded``, ``spawned`` and ``activated``. ``use(*plugins)`` makes
    these its profile; ``custom`` holds what listers find, by resource and key; ``change_pod`` calls
    the plugins that follow pods.
    """

    client: FakeClient
    clock: FakeClock
    events: FakeEvents

    def __init__(
        self,
        *objects: ApiObject,
        cluster: ClusterState | None = None,
        device_rules: DeviceRules | None = None,
    ) -> None:
        self.spawned: list[tuple[str, Coroutine[Any, Any, None]]] = []
        self.activated: list[Pod] = []
        self._followers: list[PodHandler] = []
        self.custom: dict[str, dict[str, Mapping[str, Any]]] = {}
        state = ClusterState() if cluster is None else cluster
        services = Services(
            cluster=state,
            pod_classes=PodClasses(state),
            clock=FakeClock(),
            client=FakeClient(),
            events={_PROFILE: FakeEvents()},
            spawn=lambda name, work: self.spawned.append((name, work)),
            activate=self.activated.extend,
            device_rules=device_rules or DeviceRules(),
        )
        self._used: dict[str, Profile] = {}
        super().__init__(services, _PROFILE, self._used)
        self.log = get_logger("podium.testing")
        self.use()
        load(state, objects)

    def use(self, *plugins: Plugin) -> None:
        self._used[_PROFILE] = profile_of(plugins)

    @property
    def profile(self) -> Profile:
        """The profile of the plugins that ``use`` was given."""
        return self._used[_PROFILE]

    @property
    def rows(self) -> Rows:
        """All nodes."""
        return self.cluster.nodes()

    def lister(self, resource: str) -> FakeLister:
        return FakeLister(self.custom.setdefault(resource, {}))

    def follow_pods(self, handler: PodHandler) -> Callable[[], None]:
        self._followers.append(handler)
        return lambda: self._followers.remove(handler)

    def change_pod(self, old: Pod | None, new: Pod | None) -> None:
        """Report a change of a pod, as the watch of a scheduler would."""
        for handler in self._followers:
            handler(old, new)


def profile_of(plugins: Sequence[Plugin], weights: Mapping[str, int] | None = None) -> Profile:
    """Each plugin at every point it implements, in this order; weights are 1 unless given."""
    by_point = {point: _at(point, plugins) for point in Point}
    ones = {plugin.name: 1 for plugin in plugins}
    return Profile(_PROFILE, by_point, ones | dict(weights or {}))


def _at(point: Point, plugins: Iterable[Plugin]) -> list[Plugin]:
    return [plugin for plugin in plugins if point in points_of(type(plugin))]

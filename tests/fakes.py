"""What plugins need of a scheduler, for tests that run without one."""

from collections.abc import Coroutine, Iterable, Sequence
from typing import Any

import msgspec

from podium.api.objects import Condition, Pod
from podium.clock import FakeClock
from podium.cycle.services import Uncounted
from podium.errors import NotFound
from podium.framework.cycle_state import CycleState
from podium.framework.handle import EventNote
from podium.framework.nominated import NominatedPods, filter_with_nominated
from podium.framework.nominator import Nominator
from podium.framework.plugin import Plugin, Point, Statuses, points_of
from podium.framework.pods_in_pre_bind import PodsInPreBind
from podium.framework.profile import Profile
from podium.framework.waiting_pods import WaitingPods
from podium.logs import get_logger
from podium.state.cluster import ClusterState, load
from podium.state.rows import PodsOnRows, Rows


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

    async def bind_volume(self, volume: Any, claim: Any, annotations: Any) -> Any:
        self.writes.append(("bind volume", volume.name, claim.name, dict(annotations)))
        return _next_version(volume)

    async def annotate_claim(self, claim: Any, annotations: Any) -> Any:
        self.writes.append(("annotate", claim.key, dict(annotations)))
        return _next_version(claim)

    async def read(self, kind: Any, key: str) -> Any:
        raise NotFound(f"{kind.__name__} {key}")


def _next_version(obj: Any) -> Any:
    version = str(int(obj.metadata.resource_version or 0) + 1)
    metadata = msgspec.structs.replace(obj.metadata, resource_version=version)
    return msgspec.structs.replace(obj, metadata=metadata)


class FakeEvents:
    """Remembers (key of the pod, key of the related pod or "", the event)."""

    def __init__(self) -> None:
        self.recorded: list[tuple[str, str, EventNote]] = []

    def record(self, regarding: Pod, related: Pod | None, event: EventNote) -> None:
        self.recorded.append((regarding.key, related.key if related else "", event))


class FakeHandle:
    """A handle on a cluster of its own: ``FakeHandle(node("a"), pod("web", node="a"))``.

    ``use(*plugins)`` makes them its profile, in this order at every point. Spawned work waits in
    ``spawned``, activated pods in ``activated``.
    """

    def __init__(self, *objects: Any, cluster: ClusterState | None = None) -> None:
        self.profile_name = "default-scheduler"
        self.cluster = cluster or ClusterState()
        load(self.cluster, objects)
        self.nominator = Nominator()
        self.waiting_pods = WaitingPods()
        self.pods_in_pre_bind = PodsInPreBind()
        self.clock = FakeClock()
        self.client = FakeClient()
        self.events = FakeEvents()
        self.metrics = Uncounted()
        self.log = get_logger("tests")
        self.activated: list[Pod] = []
        self.spawned: list[tuple[str, Coroutine[Any, Any, None]]] = []
        self.profile = Profile(self.profile_name, {}, {})

    def use(self, *plugins: Plugin) -> None:
        by_point = {
            point: [plugin for plugin in plugins if point in points_of(type(plugin))]
            for point in Point
        }
        self.profile = Profile(self.profile_name, by_point, {})

    @property
    def rows(self) -> Rows:
        return self.cluster.rows()

    def plugins(self, point: Point) -> Sequence[str]:
        return [plugin.name for plugin in self.profile.plugins[point]]

    def run_filters(self, state: CycleState, pod: Pod, nodes: Rows) -> Statuses:
        nominated = NominatedPods(self.cluster, self.nominator, pod)
        return filter_with_nominated(self.profile, state, pod, nodes, nominated)

    def add_pods(self, state: CycleState, pod: Pod, others: PodsOnRows) -> None:
        self.profile.add_pods(state, pod, others)

    def remove_pods(self, state: CycleState, pod: Pod, others: PodsOnRows) -> None:
        self.profile.remove_pods(state, pod, others)

    def follows_pods(self, state: CycleState) -> bool:
        return self.profile.follows_pods(state)

    def activate(self, pods: Iterable[Pod]) -> None:
        self.activated += pods

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        self.spawned.append((name, work))

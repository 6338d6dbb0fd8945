"""What a plugin may ask of the scheduler, as one Protocol.

In a cycle (PreFilter to Permit) everything may be read: the cluster stands still. In a binding or a
spawned task only ``client``, ``clock``, ``events``, ``waiting_pods``, ``activate`` and ``spawn``
are valid, and single objects of the cluster as they are at the moment: it may change between two
awaits. All of it belongs to the event loop's thread, but for three things that plugins may do from
threads of their own: ``activate``, look waiting pods up, and allow, reject or preempt them.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

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
from podium.clock import Clock
from podium.framework.cluster_devices import ClusterDevices
from podium.framework.cycle_state import CycleState
from podium.framework.nominator import Nominator
from podium.framework.plugin import Statuses
from podium.framework.pods_in_pre_bind import PodsInPreBind
from podium.framework.points import Point
from podium.framework.resource_filter import Room
from podium.framework.scores import Scores
from podium.framework.waiting_pods import WaitingPods
from podium.logs import Logger
from podium.state.cluster_view import ClusterView
from podium.state.rows import PodsOnRows, Rows

T = TypeVar("T", bound=ApiObject)

# (None, new) is an addition, (old, new) an update, (old, None) a deletion.
PodHandler = Callable[[Pod | None, Pod | None], None]


class Client(Protocol):
    """The requests that plugins send to the API: nearly all are writes, each as a patch.

    Each raises ``NotFound`` for an object that is gone, and ``ApiError`` when the API refuses or
    does not answer: then nobody knows whether the write was carried out.
    """

    async def bind(self, pod: Pod, node_name: str) -> None:
        """Bind this pod, and none of the same name with another uid, to the node."""

    async def delete_pod(self, pod: Pod) -> None:
        """Delete with the pod's own grace period and no preconditions."""

    async def patch_pod_condition(self, pod: Pod, condition: Condition) -> None:
        """Set one condition in the pod's status."""

    async def clear_nominated_node_name(self, pod: Pod) -> None:
        """Empty ``status.nominatedNodeName``."""

    async def bind_volume(
        self, volume: PersistentVolume, claim: ObjectReference, annotations: Mapping[str, str]
    ) -> PersistentVolume:
        """Set ``spec.claimRef`` and add annotations; returns the volume as it is then.

        ``Conflict`` when the volume has another resource version than this one.
        """

    async def annotate_claim(
        self, claim: PersistentVolumeClaim, annotations: Mapping[str, str]
    ) -> PersistentVolumeClaim:
        """Add annotations; returns the claim as it is then. ``Conflict`` as above."""

    async def set_finalizers(
        self, claim: ResourceClaim, finalizers: Sequence[str]
    ) -> ResourceClaim:
        """Replace the finalizers of a claim; returns it as it is then. ``Conflict`` as above."""

    async def patch_claim_status(
        self, claim: ResourceClaim, status: Mapping[str, object]
    ) -> ResourceClaim:
        """Set these fields of the status, or remove them (``None``); ``Conflict`` as above.

        Fields that podium does not know stay as they are. Returns the claim as it is then.
        """

    async def remove_consumer(self, claim: ResourceClaim, uid: str) -> ResourceClaim:
        """Remove one consumer from ``status.reservedFor``, in whatever version the claim is now.

        Returns the claim as it is then.
        """

    async def create_claim(self, claim: ResourceClaim) -> ResourceClaim:
        """Create a claim; returns it with the name that the API has given to it."""

    async def delete_claim(self, claim: ResourceClaim) -> None: ...

    async def set_extended_claim(self, pod: Pod, status: PodExtendedResourceClaimStatus) -> None:
        """Set ``status.extendedResourceClaimStatus`` of the pod."""

    async def read(self, kind: type[T], key: str) -> T:
        """Return the object as the API has it now, which the watch may not have shown yet."""


@dataclass(frozen=True, slots=True)
class EventNote:
    """A Kubernetes event to record: type, reason and action as upstream's, and a note."""

    type: str
    reason: str
    action: str
    note: str


class EventRecorder(Protocol):
    """Kubernetes events: what people see in ``kubectl describe``."""

    def record(self, regarding: Pod, related: Pod | None, event: EventNote) -> None: ...


class PluginMetrics(Protocol):
    """Counts of podium's own plugins, for metrics. Only a running scheduler keeps them."""

    def preempted(self, victims: int) -> None:
        """A preemption begins to evict this many pods."""

    def evicted(self, result: str, seconds: float) -> None:
        """The evictions of a preemption ended, with ``success`` or ``error``."""

    def preemption_executed(self, preemptor: str, result: str, seconds: float) -> None:
        """The evictions for a ``pod`` or a ``podgroup`` ended, with ``success`` or ``error``."""

    def preemption_evaluated(self, preemptor: str, result: str, seconds: float) -> None:
        """Victims were looked for; ``result`` is the code of the status."""

    def workload_preemption(self, result: str) -> None:
        """Preemption for a pod group was tried; ``result`` is the code of the status."""

    def workload_victims(self, preemptor: str, pods: int, groups: int, violations: int) -> None:
        """Victims were chosen: how many pods, units of groups, and violated budgets."""

    def device_wait_ended(self, profile: str, driver: str, status: str) -> None:
        """A pod has waited for a device with binding conditions; ``status`` is how that ended."""

    def waited_for_devices(self, profile: str, driver: str, status: str, seconds: float) -> None:
        """A pod waited this long for its devices; called once for each device, with its driver."""

    def claim_created(self, status: str) -> None:
        """A claim for extended resources was created, with ``success`` or ``failure``."""


class Lister(Protocol):
    """The objects of one kind as the API server has them, plain dicts as in a manifest."""

    def get(self, key: str) -> Mapping[str, Any] | None:
        """By ``namespace/name``, or by the name of an object without a namespace."""

    def __iter__(self) -> Iterator[Mapping[str, Any]]: ...


class Handle(Protocol):
    """Given to every plugin when it is built."""

    @property
    def profile_name(self) -> str: ...
    @property
    def cluster(self) -> ClusterView:
        """The cluster, to be read in a cycle; nothing but assumptions can be written to it."""

    @property
    def devices(self) -> ClusterDevices:
        """The devices of the cluster, which all profiles share."""

    @property
    def nominator(self) -> Nominator: ...
    @property
    def waiting_pods(self) -> WaitingPods: ...
    @property
    def pods_in_pre_bind(self) -> PodsInPreBind: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def client(self) -> Client: ...
    @property
    def events(self) -> EventRecorder: ...
    @property
    def metrics(self) -> PluginMetrics: ...
    @property
    def log(self) -> Logger: ...

    def plugins(self, point: Point) -> Sequence[str]:
        """Return the names of this profile's plugins at a point, in order."""

    def run_filters(self, state: CycleState, pod: Pod, nodes: Rows) -> Statuses:
        """Judge these nodes, leaving room for nominated pods. In a cycle only."""

    def run_scores(self, state: CycleState, pod: Pod, nodes: Rows) -> Scores:
        """Each node's total, by all PreScore and Score plugins. In a cycle only."""

    def add_pods(self, state: CycleState, pod: Pod, others: PodsOnRows) -> None:
        """Let every PreFilter's state follow pods that a dry run adds. In a cycle only."""

    def remove_pods(self, state: CycleState, pod: Pod, others: PodsOnRows) -> None:
        """Let every PreFilter's state follow pods that a dry run removes. In a cycle only."""

    def follows_pods(self, state: CycleState) -> bool:
        """Whether ``add_pods`` and ``remove_pods`` reach any plugin in this cycle."""

    def room_for(self, state: CycleState, pod: Pod) -> Room:
        """Return what would be free without the pods of lower priority. Only works in a cycle."""

    def lister(self, resource: str) -> Lister:
        """The objects of a kind such as ``foos.v1.example.com``: it is watched from then on.

        Ask for it in the constructor. What it says is no part of a signature: a plugin that reads
        it in a cycle must not have one.
        """

    def follow_pods(self, handler: PodHandler) -> Callable[[], None]:
        """Call the handler for every change of a pod, pending or placed, as the watch shows it.

        Ask for it in the constructor: the handler is called for each known pod first. Pods that
        have ended are not known. Call what this returns in ``close``: it ends the calls.
        """

    def activate(self, pods: Iterable[Pod]) -> None:
        """Move these pods to the active queue, if they wait elsewhere. From any thread."""

    def spawn(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Run in the background: supervised, logged by name, cancelled when the scheduler stops."""

"""One small base class per extension point: what a plugin author implements.

A plugin's class line is its table of contents. The per-node forms are enough; the forms over all
nodes exist for speed, and their defaults are plain loops over the per-node ones.
"""

from __future__ import annotations

from abc import ABC, ABCMeta, abstractmethod
from asyncio import CancelledError
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any, ClassVar

from podium.api.meta import ApiObject
from podium.api.objects import Pod
from podium.framework import deprecated
from podium.framework.args import Args, NoArgs
from podium.framework.cycle_state import CycleState
from podium.framework.dependencies import EVERYTHING, Dependencies
from podium.framework.events import Registration
from podium.framework.scores import Scores, as_score, as_score_array
from podium.framework.status import (
    SUCCESS,
    Nominate,
    PreFilterResult,
    PreFlight,
    Status,
    Wait,
    as_status,
)
from podium.logs import get_logger
from podium.state.column import Column
from podium.state.pod_info import PodInfo
from podium.state.rows import NodeInfo, PodsOnRows, Rows

if TYPE_CHECKING:
    from podium.api.pod_groups import SchedulingGroup
    from podium.framework.diagnosis import NodeStatuses
    from podium.framework.group_trial import GroupTrial, Nominations
    from podium.framework.handle import Handle
    from podium.framework.placements import GroupAssignments, Placement
    from podium.framework.queued_pod import QueuedPod

log = get_logger(__name__)

Statuses = Column[Status]


class PluginClass(ABCMeta):
    """Lets authors name the interfaces of a plugin in any order.

    ``PreFilterExtensions`` is a ``PreFilterPlugin``. Python refuses a class that names both, the
    general one first; here the general one is left out, since the other includes it.
    """

    def __new__(
        mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any
    ) -> PluginClass:
        def is_included(base: type) -> bool:
            return any(other is not base and issubclass(other, base) for other in bases)

        bases = tuple(base for base in bases if not is_included(base))
        return super().__new__(mcs, name, bases, namespace, **options)


def is_in_tree(plugin: object) -> bool:
    """Return whether podium comes with this plugin."""
    return type(plugin).__module__.startswith("podium.")


class Plugin(metaclass=PluginClass):
    """The base of all plugins: a name, arguments, and what lets equal pods be judged once."""

    name: ClassVar[str] = ""
    Args: ClassVar[type[Args]] = NoArgs

    # Of its scores, where `--plugin` enables it; what a configuration says comes first.
    weight: ClassVar[int] = 1

    # What a pod must share with an earlier one for this plugin to answer the same on an unchanged
    # cluster; ``None``: it cannot tell, and is asked for every pod. Others are still reused.
    sign: ClassVar[Callable[..., Hashable] | None] = None

    # The kinds of objects that the plugin reads, beside pods, nodes and those whose events it
    # registers: the scheduler watches them all, and reading any other kind raises.
    watches: ClassVar[Sequence[type[ApiObject]]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        deprecated.rename_methods(cls)

    def __init__(self, args: Any, handle: Handle) -> None:
        """Keep what cycles need. ``args`` are of the plugin's own type; raising refuses them."""

    def depends_on(self, pod: Pod) -> Dependencies:
        """Return what of the cluster the results for this pod depend on. The default: everything.

        Called once for all pods of equal signature: where the answer depends on the cluster,
        ``sign`` must tell these cases apart.
        """
        return EVERYTHING

    def close(self) -> None:
        """Release what the plugin holds; called once when the scheduler stops."""


class NotSignable(Exception):
    """Raised by ``sign`` for a pod whose result must not be reused."""


class PreEnqueuePlugin(Plugin, ABC):
    """Keeps a pod out of the active queue."""

    @abstractmethod
    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Anything but success gates the pod until one of this plugin's events comes."""

    def held(self) -> Collection[str] | None:
        """Return the uids of all pods that ``pre_enqueue`` would refuse now.

        It saves asking about each gated pod whenever an event comes. The default, ``None``, is
        for plugins that cannot tell.
        """
        return None


class QueueSortPlugin(Plugin, ABC):
    """Decides which pod is tried first. A scheduler has exactly one.

    ``is_steady`` is false if the place of a pod depends on more than the pod, and may change while
    it waits. What counts is its place when it becomes active.
    """

    is_steady: ClassVar[bool] = True

    @abstractmethod
    def less(self, first: QueuedPod, second: QueuedPod) -> bool:
        """Whether ``first`` comes before ``second``."""

    def sort_key(self, queued: QueuedPod) -> Any:
        """Return a value that orders as ``less`` does: whoever overrides one overrides both.

        A tuple of numbers makes long queues fast.
        """
        return cmp_to_key(self._compare)(queued)

    def _compare(self, first: QueuedPod, second: QueuedPod) -> int:
        return self.less(second, first) - self.less(first, second)


class PreFilterPlugin(Plugin, ABC):
    """Looks at the pod and all nodes once, before any node is filtered."""

    @abstractmethod
    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: Rows
    ) -> PreFilterResult | Status | None:
        """Prepare; ``fwk.skip()`` leaves this plugin's Filter out; a rejection fails the pod."""


class PreFilterExtensions(PreFilterPlugin):
    """A PreFilter whose state follows pods as a dry run adds them to nodes or removes them.

    Each row is a world of its own: a change on one row is seen when that row is judged, and only
    then. ``State`` names the type that these methods change; it must implement ``clone()``, which
    is checked at registration.
    """

    State: ClassVar[type]

    @abstractmethod
    def add_pod(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo) -> Status | None:
        """Follow a dry run in which ``other`` is put on ``node``."""

    @abstractmethod
    def remove_pod(
        self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo
    ) -> Status | None:
        """Follow a dry run in which ``other`` is taken off ``node``."""

    def add_pods(self, state: CycleState, pod: Pod, others: PodsOnRows) -> Status | None:
        """``add_pod`` for many pods, each in the world of its row."""
        return self._each(self.add_pod, state, pod, others)

    def remove_pods(self, state: CycleState, pod: Pod, others: PodsOnRows) -> Status | None:
        """``remove_pod`` for many pods, each in the world of its row."""
        return self._each(self.remove_pod, state, pod, others)

    @staticmethod
    def _each(
        change: Callable[[CycleState, Pod, PodInfo, NodeInfo], Status | None],
        state: CycleState,
        pod: Pod,
        others: PodsOnRows,
    ) -> Status | None:
        for other, node in others:
            status = change(state, pod, other, node)
            if status is not None and not status.ok:
                return status
        return None


class PreFilterExtensionsForMany(PreFilterExtensions):
    """PreFilterExtensions whose rule takes many pods at once, for speed."""

    def add_pod(self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo) -> Status | None:
        return self.add_pods(state, pod, PodsOnRows.alone(other, node))

    def remove_pod(
        self, state: CycleState, pod: Pod, other: PodInfo, node: NodeInfo
    ) -> Status | None:
        return self.remove_pods(state, pod, PodsOnRows.alone(other, node))

    @abstractmethod
    def add_pods(self, state: CycleState, pod: Pod, others: PodsOnRows) -> Status | None: ...

    @abstractmethod
    def remove_pods(self, state: CycleState, pod: Pod, others: PodsOnRows) -> Status | None: ...


class FilterPlugin(Plugin, ABC):
    """Decides whether the pod may run on a node. It has ``filter``, ``filter_all`` or both."""

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """``None`` or success: it may. A rejection says why not; an error fails the attempt."""
        return next(iter(self.filter_all(state, pod, node.alone())))

    def filter_all(self, state: CycleState, pod: Pod, nodes: Rows) -> Statuses:
        """``filter`` for all candidate nodes still in the race."""
        ask = self.filter
        answers = [ask(state, pod, node) for node in nodes]
        # Most answers are None: to look at each again would take a tenth of a short filter's time.
        if not any(answers) and answers.count(None) == len(answers):
            return Column.uniform(SUCCESS, len(answers))
        return Column.of([SUCCESS if each is None else as_status(each) for each in answers])


class PostFilterPlugin(Plugin, ABC):
    """Tries to make room when no node fits."""

    @abstractmethod
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> tuple[Nominate | None, Status]:
        """Success ends the search for help; a rejection adds its reasons to the pod's message."""


class PodGroupPostFilterPlugin(Plugin, ABC):
    """Tries to make room when the members of a pod group do not fit together."""

    @abstractmethod
    async def pod_group_post_filter(self, trial: GroupTrial) -> tuple[Nominations, Status]:
        """Success ends the search for help; a rejection adds its reasons to the group's message."""


class PlacementGeneratePlugin(Plugin, ABC):
    """Proposes sets of nodes, of which one is to take all members of a pod group."""

    @abstractmethod
    def generate_placements(
        self, group: SchedulingGroup, parent: Placement
    ) -> Sequence[Placement] | Status:
        """Return placements within ``parent``; an empty list rejects the group. It may raise."""


class PlacementScorePlugin(Plugin, ABC):
    """Compares the placements that a pod group fits into."""

    @abstractmethod
    def score_placement(self, group: SchedulingGroup, assignments: GroupAssignments) -> int:
        """Return how good a placement is with its members there; higher is better. It may raise."""

    def normalize_placement_scores(self, group: SchedulingGroup, scores: Scores) -> Scores:
        """Bring the scores of all placements into 0..100. The default leaves them alone."""
        return scores


class PreScorePlugin(Plugin, ABC):
    """Looks at the pod and the feasible nodes once, before any is scored."""

    @abstractmethod
    def pre_score(self, state: CycleState, pod: Pod, nodes: Rows) -> Status | None:
        """Prepare; ``fwk.skip()`` leaves this plugin's Score out: it adds 0 to every node."""


class ScorePlugin(Plugin, ABC):
    """Ranks the feasible nodes, from 0 to 100 after ``normalize_score``.

    It has ``score``, ``score_all`` or both.
    """

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        """Return how good this node is for the pod; higher is better. It may raise."""
        return as_score(self.score_all(state, pod, node.alone())[0])

    def score_all(self, state: CycleState, pod: Pod, nodes: Rows) -> Scores:
        """``score`` for all feasible nodes."""
        ask = self.score
        return as_score_array([ask(state, pod, node) for node in nodes])

    def normalize_score(self, state: CycleState, pod: Pod, scores: Scores, nodes: Rows) -> Scores:
        """Bring the scores of all feasible nodes into 0..100. The default leaves them alone."""
        return scores


class ReservePlugin(Plugin, ABC):
    """Reserves what a pod uses on its node, in memory. One of the two methods may be left out."""

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Reserve; a rejection or an error undoes all reservations of the pod."""
        return None

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> Any:
        """Undo; called for every Reserve plugin, reserved or not. May be async."""
        return None


class PermitPlugin(Plugin, ABC):
    """Decides last before binding: go on, stop, or wait."""

    @abstractmethod
    def permit(self, state: CycleState, pod: Pod, node_name: str) -> Status | Wait | None:
        """``fwk.wait(seconds)`` holds the pod until it is allowed, rejected or out of time."""


class PreBindPlugin(Plugin, ABC):
    """Does what must be done before a pod is bound, such as binding its volumes."""

    def pre_bind_pre_flight(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> PreFlight | Status | None:
        """Say quickly whether ``pre_bind`` has work; ``fwk.skip()`` leaves it out."""
        return None

    @abstractmethod
    async def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Anything but success stops the binding."""


class BindPlugin(Plugin, ABC):
    """Binds the pod to its node. The first that does not skip decides."""

    @abstractmethod
    async def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None: ...


class PostBindPlugin(Plugin, ABC):
    """Called after a pod was bound."""

    @abstractmethod
    async def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None: ...


class EnqueueExtensions(Plugin, ABC):
    """Names the events that may make a pod schedulable that this plugin rejected."""

    @abstractmethod
    def events_to_register(self) -> list[Registration]: ...


def close(plugins: Iterable[Plugin], profile: str) -> None:
    """Close each plugin. A failure is logged, and the others are closed nevertheless."""
    for plugin in plugins:
        try:
            plugin.close()
        # A plugin may await something that it has cancelled, or call sys.exit().
        except (Exception, CancelledError, SystemExit):
            log.error("plugin failed to close", plugin=plugin.name, profile=profile)

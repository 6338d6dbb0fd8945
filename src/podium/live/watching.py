"""What the scheduler watches: pods, nodes, and the kinds that its plugins declare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

from podium.api.meta import ApiObject
from podium.api.objects import Node, Pod
from podium.client.http import Connection
from podium.client.informer import Informer
from podium.client.known_objects import Handler
from podium.client.resources import NODES, PODS, Resource, custom_resource, resource_of
from podium.framework.deprecated import OLD_KINDS
from podium.framework.events import POD_KINDS
from podium.live.catching_up import CatchingUp
from podium.live.event_handlers import EventHandlers
from podium.live.informer_metrics import InformerMetrics
from podium.live.tasks import Tasks
from podium.logs import get_logger
from podium.state.kinds import ASPECTS

log = get_logger(__name__)

T = TypeVar("T")

# The kinds that the state keeps, by the name that plugins use for their events.
IN_STATE: Final = {resource_of(kind).event_name: kind for kind in ASPECTS}
USUAL_RESOURCES: Final[Mapping[type[ApiObject], Resource[Any]]] = {}
# A healthy watch receives something every minute and a half.
STALE_SECONDS: Final = 180.0
# What schedulers write without the API server noticing that they did not know of one another: two
# pods on one node, one device in two claims.
_UNGUARDED: Final = ("Pod", "ResourceClaim")
_ALWAYS: Final = (*POD_KINDS, *OLD_KINDS, "Node", "*")


class Watching:
    """The informers of one scheduler; they call its event handlers.

    ``resources_by_kind`` says how to read kinds that a release serves in another version than
    usual. ``_watched`` has every name that ``watch`` was given, with its informer if it is a kind
    that the state does not keep.
    """

    def __init__(
        self,
        connection: Connection,
        handlers: EventHandlers,
        names: Iterable[str],
        nodes_and_pods: tuple[Resource[Node], Resource[Pod]] = (NODES, PODS),
        resources_by_kind: Mapping[type[ApiObject], Resource[Any]] = USUAL_RESOURCES,
    ) -> None:
        self._connection = connection
        self._handlers = handlers
        self._resources_by_kind = resources_by_kind
        nodes, pods = nodes_and_pods
        self.informers: list[Informer[Any]] = []
        self._metrics = InformerMetrics(handlers.metrics, self.informers)
        # Nodes first, so that a pod finds the row of its node.
        self._nodes = self._informer(nodes, handlers.on_node)
        self._pods = self._informer(pods, handlers.on_pod)
        self._watched: dict[str, Informer[Any] | None] = {}
        self._tasks: Tasks | None = None
        self.watch(names)

    def watch(self, names: Iterable[str]) -> None:
        """Watch the kinds with these event names, unless they are watched already."""
        known = len(self.informers)
        for name in names:
            if name not in self._watched:
                self._watched[name] = None
                self._watch(name)
        if self._tasks is not None:
            self._run(self.informers[known:], self._tasks)

    def _watch(self, name: str) -> None:
        if name in IN_STATE:
            kind = IN_STATE[name]
            resource = self._resources_by_kind.get(kind) or resource_of(kind)
            self._informer(resource, self._handlers.on_object(name))
        elif _is_custom(name):
            handler = self._handlers.on_events_only(name)
            self._watched[name] = self._informer(custom_resource(name), handler)
        elif name not in _ALWAYS:
            log.warning("Incorrect event registration", gvk=name)

    def _informer(self, resource: Resource[T], handler: Handler[T]) -> Informer[T]:
        informer = Informer(self._connection, resource)
        informer.subscribe(self._metrics.timed(resource, handler))
        self.informers.append(informer)
        return informer

    def start(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._run(self.informers, tasks)

    def _run(self, informers: Iterable[Informer[Any]], tasks: Tasks) -> None:
        for informer in informers:
            tasks.spawn(f"watch of {informer.resource.name}", informer.run())

    async def wait_synced(self) -> None:
        """Wait until each kind is listed and watched, or is missing where that is allowed."""
        for informer in self.informers:
            await informer.wait_synced()

    @property
    def has_synced(self) -> bool:
        return all(informer.has_synced for informer in self.informers)

    def failing(self) -> str | None:
        """Return why the known pods or nodes may be out of date; from any thread."""
        for informer in self.informers:
            if informer.resource.needed and informer.trouble is not None:
                return f"{informer.resource.name}: {informer.trouble}"
            if informer.resource.needed and informer.silent_seconds > STALE_SECONDS:
                return f"{informer.resource.name}: silent for {informer.silent_seconds:.0f} s"
        return None

    def custom(self, name: str) -> Informer[Any] | None:
        """Return the informer of a kind that the state does not keep, if it is watched."""
        return self._watched.get(name)

    def follow_pods(self, handler: Handler[Pod]) -> None:
        """Call this handler for every change of a pod, after the event handlers."""
        self._pods.subscribe(handler)

    def leave_pods(self, handler: Handler[Pod]) -> None:
        """Stop calling a handler that follows pods."""
        self._pods.unsubscribe(handler)

    async def catch_up(self) -> None:
        """Wait until the watches show all that another scheduler has written so far."""
        written = [one for one in self.informers if one.resource.kind in _UNGUARDED]
        await CatchingUp(self._connection, written).run()

    def nodes(self) -> Iterable[Node]:
        return self._nodes.objects()

    def pods(self) -> Iterable[Pod]:
        return self._pods.objects()

    def pod(self, key: str) -> Pod | None:
        return self._pods.get(key)


def check(names: Iterable[str]) -> None:
    """Raise what ``watch`` would raise for these names, before anything is changed."""
    for name in names:
        if name not in IN_STATE and _is_custom(name):
            custom_resource(name)


def _is_custom(name: str) -> bool:
    """Whether this is the full name of a kind that the state does not keep."""
    return name.count(".") >= 2

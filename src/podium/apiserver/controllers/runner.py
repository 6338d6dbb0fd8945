"""Runs controllers: maps watch events to keys and calls reconcile, with all timing by the Clock.

Everything happens in calls that the clock makes. With a FakeClock ``clock.advance(0)`` therefore
runs all controllers until nothing is left to do, and a test needs no event loop and no waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Protocol

from podium.apiserver.controllers.pods import PodView, view
from podium.apiserver.statuses import Json, Refusal
from podium.apiserver.store import Key, ObjectStore
from podium.apiserver.watches import ADDED, DELETED, MODIFIED, Event, Item, Watch
from podium.clock import Timer
from podium.logs import get_logger

_SLICE = 32  # calls of reconcile before other work gets its turn
_FIRST_RETRY, _LAST_RETRY = 0.1, 60.0

log = get_logger(__name__)


class Change:
    """A watch event, decoded at most once for all controllers."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self.type = event.type
        self.key = event.key

    @cached_property
    def obj(self) -> Json:
        return self._event.new.decode()

    @cached_property
    def old(self) -> Json | None:
        return self._event.old.decode() if self._event.old and self.type == MODIFIED else None

    @cached_property
    def pod(self) -> PodView:
        return view(self._event.new)

    @cached_property
    def old_pod(self) -> PodView | None:
        return view(self._event.old) if self._event.old and self.type == MODIFIED else None

    @property
    def is_new(self) -> bool:
        return self.type == ADDED

    @property
    def is_gone(self) -> bool:
        return self.type == DELETED


Keys = Iterable[Key]
Mapper = Callable[[Change], Keys]


class Controller(Protocol):
    """Moves one object at a time from its present state towards the wanted one."""

    name: str

    @property
    def watches(self) -> Mapping[str, Mapper]:
        """The resources to follow, each with a function from a change to the keys it affects."""

    def reconcile(self, key: Key) -> float | None:
        """Act on one key. A returned number asks for another call after that many seconds."""


def itself(change: Change) -> Keys:
    return (change.key,)


Work = tuple[int, Key]  # the number of a controller, and a key


class Runner:
    """Runs all controllers of one cluster.

    It works in rounds: changes are read between two rounds. So a controller with a thousand pods is
    called once after all of them changed, and not a thousand times.

    Work is in at most one of ``_due`` (this round) and ``_coming`` (the next), and may have a timer
    that adds it later. ``_known`` holds each object as it was last passed to the controllers, so
    that a new list after a 410 is passed on as differences.
    """

    def __init__(self, store: ObjectStore, controllers: Sequence[Controller]) -> None:
        self._store = store
        self._clock = store.clock
        self._controllers = list(controllers)
        self._followers: dict[str, list[tuple[int, Mapper]]] = {}
        self._watches: dict[str, Watch] = {}
        self._known: dict[str, dict[Key, Item]] = {}  # by resource, as passed to controllers
        self._changed: dict[str, None] = {}  # resources with unread changes, in order
        self._due: dict[Work, None] = {}  # work of this round
        self._coming: dict[Work, None] = {}  # work of the next round
        self._timers: dict[Work, Timer] = {}
        self._failures: dict[Work, int] = {}
        self._next: Timer | None = None
        self._running = False

    def start(self) -> None:
        """List everything, then follow changes."""
        self._running = True
        for number, controller in enumerate(self._controllers):
            for resource, mapper in controller.watches.items():
                self._followers.setdefault(resource, []).append((number, mapper))
        for resource in self._followers:
            self._known[resource] = {}
            self._list(resource)

    def stop(self) -> None:
        self._running = False
        for watch in self._watches.values():
            watch.close()
        for timer in (*self._timers.values(), *filter(None, [self._next])):
            timer.cancel()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left to do now; timers do not count."""
        return not (self._due or self._coming or self._changed)

    def _list(self, resource: str) -> None:
        """Pass on the differences between the known and the present objects, then watch."""
        listing = self._store.list(resource)
        gone = dict(self._known[resource])
        for item in listing.items:
            old = gone.pop(item.key, None)
            if old is None or old.version != item.version:
                self._take(resource, Event(item.version, MODIFIED if old else ADDED, old, item))
        for item in gone.values():
            self._take(resource, Event(listing.version, DELETED, item, item))
        notify = partial(self._on_change, resource)
        self._watches[resource] = self._store.watch(resource, listing.version, notify)
        self._wake()

    def _take(self, resource: str, event: Event) -> None:
        if event.type == DELETED:
            self._known[resource].pop(event.key, None)
        else:
            self._known[resource][event.key] = event.new
        self._concern(resource, Change(event))

    def _on_change(self, resource: str) -> None:
        self._changed[resource] = None
        self._wake()

    def _wake(self) -> None:
        if self._next is None and self._running:
            self._next = self._clock.call_later(0, self._step)

    def _step(self) -> None:
        """Do a part of a round; the rest follows after other work had its turn."""
        self._next = None
        if not self._running:
            return
        if not self._due:
            self._read_changes()
            self._due, self._coming = self._coming, {}
        for _ in range(min(_SLICE, len(self._due))):
            work = next(iter(self._due))
            del self._due[work]
            self._run(work)
        if not self.is_idle:
            self._wake()

    def _read_changes(self) -> None:
        changed, self._changed = self._changed, {}
        for resource in changed:
            try:
                while events := self._watches[resource].poll():
                    for event in events:
                        self._take(resource, event)
            except Refusal:  # 410: more changes in a round than the history holds
                self._watches[resource].close()
                self._list(resource)

    def _concern(self, resource: str, change: Change) -> None:
        for number, mapper in self._followers[resource]:
            try:
                self._coming.update(((number, key), None) for key in mapper(change))
            except Exception:  # an object that one controller cannot read must not affect others
                name = self._controllers[number].name
                log.error("a controller failed to read a change", controller=name, key=change.key)

    def _run(self, work: Work) -> None:
        number, key = work
        self._forget_timer(work)
        controller = self._controllers[number]
        try:
            again = controller.reconcile(key)
        except Exception as error:  # one failing object must not stop the others
            again = self._failed(work)
            if not isinstance(error, Refusal):
                log.error("reconcile failed, retrying", controller=controller.name, key=key)
            else:
                log.info(
                    "the API refused a controller's write, retrying",
                    controller=controller.name,
                    key=key,
                    why=str(error),
                )
        else:
            self._failures.pop(work, None)
        if again is not None:
            self._timers[work] = self._clock.call_later(again, partial(self._on_timer, work))

    def _failed(self, work: Work) -> float:
        count = self._failures[work] = self._failures.get(work, 0) + 1
        delay: float = _FIRST_RETRY * 2 ** min(count - 1, 20)
        return min(_LAST_RETRY, delay)

    def _on_timer(self, work: Work) -> None:
        self._timers.pop(work, None)
        self._coming[work] = None
        self._wake()

    def _forget_timer(self, work: Work) -> None:
        timer = self._timers.pop(work, None)
        if timer is not None:
            timer.cancel()

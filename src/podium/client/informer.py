"""The objects of one kind as the API server has them, and calls of handlers for every change.

informer = Informer(connection, PODS)
informer.subscribe(handler)     # (None, new) · (old, new) · (old, None)
task = asyncio.create_task(informer.run())
await informer.wait_synced()
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from podium.client.http import Connection
from podium.client.known_objects import Handler, KnownObjects, meta_of
from podium.client.reflector import Reflector
from podium.client.resources import Resource
from podium.errors import PodiumError

T = TypeVar("T")


class Informer(Generic[T]):
    """Watches one kind. Handlers are called on the loop, one change at a time and in order."""

    def __init__(self, connection: Connection, resource: Resource[T]) -> None:
        self.resource = resource
        self._clock = connection.clock
        self._known = KnownObjects(resource)
        self._reflector = Reflector(connection, resource, self._known)

    def subscribe(self, handler: Handler[T]) -> None:
        """Call this handler for every change; first for each known object, as an addition."""
        self._known.subscribe(handler)

    def unsubscribe(self, handler: Handler[T]) -> None:
        """Stop calling this handler."""
        self._known.unsubscribe(handler)

    def expect(self, raws: Iterable[bytes]) -> None:
        """Take the JSON of objects as known; the first list then reports what differs from them."""
        for raw in raws:
            self._known.put(meta_of(raw), raw)

    def get(self, key: str) -> T | None:
        return self._known.get(key)

    def objects(self) -> Iterator[T]:
        """Iterate over the objects that are known now; from any thread."""
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    @property
    def has_synced(self) -> bool:
        """Whether the kind is listed and watched, or is missing where that is allowed."""
        return self._reflector.synced.is_set()

    async def wait_synced(self) -> None:
        await self._reflector.synced.wait()

    async def list_again(self) -> None:
        """List the kind once more, and wait until that is done."""
        await self._reflector.list_again()

    @property
    def trouble(self) -> PodiumError | None:
        """Return what keeps the kind from being watched at the moment, if anything."""
        return self._reflector.trouble.error

    @property
    def is_missing(self) -> bool:
        """Whether podium works without the kind: it is not installed, or may not be read."""
        return self._reflector.trouble.is_lasting

    @property
    def version(self) -> str:
        """The resource version up to which all changes are known; empty before the first list."""
        return self._reflector.version

    @property
    def watches(self) -> int:
        """Return how many watches were opened: while the number stays, no change was missed."""
        return self._reflector.watches

    @property
    def silent_seconds(self) -> float:
        """The time since the server last sent something; infinite before the first time.

        A healthy watch is never silent for much more than a minute and a half.
        """
        return self._clock.now() - self._reflector.heard_at

    async def run(self) -> None:
        """Watch the kind until cancelled."""
        await self._reflector.run()

"""One kind of object as the API server has it: to look up, and to be told of every change.

informer = Informer(connection, PODS)
informer.subscribe(handler)     # (None, new) · (old, new) · (old, None)
task = asyncio.create_task(informer.run())
await informer.wait_synced()
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from podium.client.http import Connection
from podium.client.known_objects import Handler, KnownObjects
from podium.client.reflector import Reflector
from podium.client.resources import Resource
from podium.errors import PodiumError

T = TypeVar("T")


class Informer(Generic[T]):
    """Handlers are called on the loop, one change at a time, in the order of the changes."""

    def __init__(self, connection: Connection, resource: Resource[T]) -> None:
        self.resource = resource
        self._clock = connection.clock
        self._known = KnownObjects(resource)
        self._reflector = Reflector(connection, resource, self._known)

    def subscribe(self, handler: Handler[T]) -> None:
        """What is known already comes as additions, before this returns."""
        self._known.subscribe(handler)

    def get(self, key: str) -> T | None:
        return self._known.get(key)

    def objects(self) -> Iterator[T]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    @property
    def has_synced(self) -> bool:
        """Listed once; or an optional kind that cannot be read, which nobody need wait for."""
        return self._reflector.synced.is_set()

    async def wait_synced(self) -> None:
        await self._reflector.synced.wait()

    @property
    def trouble(self) -> PodiumError | None:
        """What keeps this informer from its work at the moment."""
        return self._reflector.trouble.error

    @property
    def watches(self) -> int:
        """How many were begun: while the number stays, every change was told as it came."""
        return self._reflector.watches

    @property
    def silent_seconds(self) -> float:
        """Since the server was last heard of; infinite before the first time. A watch in good
        health is never silent for much more than a minute."""
        return self._clock.now() - self._reflector.heard_at

    async def run(self) -> None:
        """Follow the kind until cancelled."""
        await self._reflector.run()

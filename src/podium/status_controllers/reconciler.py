"""A loop that looks at objects again after something about them has changed."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from podium.client.api_client import ApiClient
from podium.client.resources import Resource
from podium.clock import Clock
from podium.errors import NotFound, PodiumError
from podium.logs import get_logger

log = get_logger(__name__)

RETRY_SECONDS: Final = 5.0


class Reconciler(ABC):
    """Writes the status of the objects of one kind, one after the other.

    ``_changed`` has the keys to look at, in the order in which they changed. A write that fails is
    tried again after a while; the newest state decides then.
    """

    kind: ClassVar[Resource[Any]]

    def __init__(self, client: ApiClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._changed: dict[str, None] = {}
        self._something = asyncio.Event()

    @property
    def name(self) -> str:
        return f"status of {self.kind.name}"

    def look_at(self, key: str) -> None:
        """Look at this object soon."""
        self._changed[key] = None
        self._something.set()

    async def run(self) -> None:
        """Write statuses until cancelled."""
        while True:
            await self._something.wait()
            self._something.clear()
            while self._changed:
                key = next(iter(self._changed))
                del self._changed[key]
                await self._write(key)

    async def _write(self, key: str) -> None:
        try:
            status = self.status(key)
            if status:
                await self._client.patch_status(self.kind, key, status)
                self.written(key)
        except NotFound:
            return  # deleted meanwhile
        except PodiumError as fault:
            log.warning(f"cannot write the {self.name}; trying again", object=key, why=str(fault))
            self._clock.call_later(RETRY_SECONDS, lambda: self.look_at(key))

    def written(self, key: str) -> None:
        """Take note that the status of this object was written."""
        log.v(4, f"wrote the {self.name}", object=key)

    @abstractmethod
    def status(self, key: str) -> Mapping[str, Any]:
        """Return the fields of the status that have to change; ``None`` removes a field."""

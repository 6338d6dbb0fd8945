"""Watches the Lease of a scheduler that waits for its turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from podium.api.objects import Lease
from podium.bench.live.programs import LeaseName
from podium.client.http import Connection
from podium.client.informer import Informer
from podium.client.resources import LEASES
from podium.clock import Deadline
from podium.errors import WorkloadFailed


class LeaseWatch:
    """Reports when a Lease gets a holder."""

    def __init__(self, connection: Connection, lease: LeaseName) -> None:
        self._clock = connection.clock
        self._acquired: asyncio.Future[float] = asyncio.get_running_loop().create_future()
        by_name = f"metadata.name={lease.name}"
        only = replace(LEASES, namespace=lease.namespace, field_selector=by_name)
        self._informer = Informer(connection, only)
        self._informer.subscribe(self._see)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[LeaseWatch]:
        following = asyncio.create_task(self._informer.run())
        try:
            await self._informer.wait_synced()
            yield self
        finally:
            following.cancel()
            await asyncio.wait({following})

    def _see(self, old: Lease | None, new: Lease | None) -> None:
        if new is not None and new.spec.holder_identity and not self._acquired.done():
            self._acquired.set_result(self._clock.now())

    async def acquired(self, timeout: float) -> float:
        """Wait until the Lease has a holder; return when the watch showed it."""
        try:
            async with Deadline(self._clock, timeout):
                return await self._acquired
        except TimeoutError:
            why = f"the scheduler did not acquire its Lease within {timeout:g} s"
            raise WorkloadFailed(why) from None

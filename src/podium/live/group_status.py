"""Writes the condition of a PodGroup: whether its members were scheduled, and why not."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final, Protocol
from weakref import WeakValueDictionary

from msgspec.structs import replace

from podium.api.objects import Condition, PodGroup
from podium.api.pod_groups import INITIALLY_SCHEDULED
from podium.cycle.services import Spawn
from podium.errors import PodiumError
from podium.framework.status import Status
from podium.logs import get_logger

log = get_logger(__name__)

MOST_REMEMBERED: Final = 1000


class GroupClient(Protocol):
    async def patch_group_condition(self, group: PodGroup, condition: Condition) -> None: ...


@dataclass(frozen=True, slots=True)
class GroupStatuses:
    """Writes conditions in the background. A write that fails is only logged.

    ``_written`` has the last conditions by uid: the next attempt may come before the watch shows
    what was written, and must not take it back.
    """

    client: GroupClient
    spawn: Spawn
    _written: OrderedDict[str, Condition] = field(default_factory=OrderedDict)
    _turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    def write(self, group: PodGroup, status: Status) -> None:
        """Write how a cycle ended, unless the group says so already.

        A group that was scheduled once stays so: later cycles are about members that came later.
        """
        wanted = condition_of(group, status)
        shown = next((c for c in group.status.conditions if c.type == wanted.type), None)
        known = self._written.get(group.uid, shown)
        if known is not None:
            if known.status == "True" and wanted.status != "True":
                return
            if _same(known, wanted):
                return
        self._written[group.uid] = wanted
        if len(self._written) > MOST_REMEMBERED:
            self._written.popitem(last=False)
        self.spawn(f"status of {group.key}", self._write(group, wanted))

    async def _write(self, group: PodGroup, condition: Condition) -> None:
        turn = self._turns.get(group.uid) or asyncio.Lock()
        self._turns[group.uid] = turn
        try:
            async with turn:  # writes about one group keep their order
                await self.client.patch_group_condition(group, condition)
        except PodiumError as error:
            self._written.pop(group.uid, None)
            log.warning("Failed to update PodGroup status", podGroup=group.key, err=str(error))


def condition_of(group: PodGroup, status: Status) -> Condition:
    """Return the condition for how a cycle ended."""
    if status.ok:
        reason = "Scheduled"
    else:
        reason = "Unschedulable" if status.is_rejection else "SchedulerError"
    return Condition(
        type=INITIALLY_SCHEDULED,
        status="True" if status.ok else "False",
        reason=reason,
        message=status.message,
        observed_generation=group.metadata.generation,
    )


def _same(known: Condition, wanted: Condition) -> bool:
    return replace(known, last_transition_time="") == wanted

"""The binding cycle without the feature NominatedNodeNameForExpectation.

Nobody is told where a pod is expected, and PreBinds are not asked beforehand whether they have
work: each is run.
"""

from __future__ import annotations

from podium.framework.binding import Target
from podium.framework.status import SUCCESS, Status
from podium.live.binding import Binder


class QuietBinder(Binder):
    async def _prepare(self, target: Target, waits: bool) -> tuple[Status, frozenset[str]]:
        return SUCCESS, frozenset()

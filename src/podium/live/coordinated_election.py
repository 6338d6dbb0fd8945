"""The protocol of leader election if the API server chooses the leader: CoordinatedLeaderElection.

The server puts the chosen candidate into the Lease; candidates never take it by themselves.
"""

from __future__ import annotations

from collections.abc import Generator

from podium.errors import ApiError, NotFound
from podium.live.election import Answer, Elector, Get, Record, Step, Update
from podium.logs import get_logger

log = get_logger(__name__)


class CoordinatedElector(Elector):
    """Waits until the API server has put this process into the Lease, and renews it then."""

    def _attempt(self, deadline: float) -> Generator[Step, Answer, bool]:
        """Renew the Lease if it is ours, and is to stay so."""
        now = asked_at = self._clock.now()
        try:
            found = yield Get(self._timeout(deadline))
        except NotFound:
            log.v(4, "Lease lock not found", lock=self._lock)
            return False
        except ApiError as fault:
            self._report_error("Error retrieving lease lock", fault)
            return False
        assert found is not None
        self._look_at(found, asked_at)
        if not self._may_renew(found, now):
            return False
        self._metrics.slow_renewals.inc(self.settings.resource_name)
        mine = Record(
            self.identity,
            int(self.settings.lease_duration),
            found.acquire_time,
            now,
            found.transitions,
            found.strategy,
        )
        return (yield from self._write(Update(mine, self._timeout(deadline))))

    def _may_renew(self, found: Record, now: float) -> bool:
        if self._observed_at + found.duration_seconds < now:
            log.v(4, "Lease has expired", lock=self._lock)
            return False
        if not self.is_leader:
            if found.holder:
                self._stand_by(found.holder)
            return False
        if found.preferred_holder:
            # Left to expire, so that this process ends and the other one can lead.
            log.v(4, "Lease is marked as 'end of term'", lock=self._lock)
            return False
        return True

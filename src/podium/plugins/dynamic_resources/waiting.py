"""PreBind: wait until the devices of a pod are prepared, if they ask for that."""

from __future__ import annotations

from typing import Final

from podium import framework as fwk
from podium.api.objects import Pod, ResourceClaim
from podium.clock import sleep
from podium.framework.handle import EventNote
from podium.plugins.dynamic_resources.binding_conditions import (
    BindingFailed,
    is_late,
    is_ready,
    must_be_prepared,
)
from podium.plugins.dynamic_resources.extended import is_in_memory
from podium.plugins.dynamic_resources.pod_claims import PodClaims

POLL_SECONDS: Final = 5.0
TIMEOUT: Final = "device binding timeout"


class Preparation:
    """Waits for the devices of pods whose claims are written."""

    def __init__(self, handle: fwk.Handle, timeout: float) -> None:
        self._handle = handle
        self._timeout = timeout
        self._find = handle.cluster.objects(ResourceClaim).get

    async def wait(self, claims: PodClaims, pod: Pod, node_name: str) -> fwk.Status:
        """Return success when all devices are prepared, or that one never will be."""
        if not any(map(must_be_prepared, claims.claims)):
            return fwk.SUCCESS
        note = f"waiting for binding conditions for device on node {node_name}"
        event = EventNote("Normal", "BindingConditionsPending", "Scheduling", note)
        self._handle.events.record(pod, None, event)
        left = self._timeout
        while True:
            status = self._progress(claims)
            if status is not None:
                return status
            if left <= 0:
                return fwk.Status.error(f"{TIMEOUT}: context deadline exceeded")
            await sleep(self._handle.clock, min(POLL_SECONDS, left))
            left -= POLL_SECONDS

    def _progress(self, claims: PodClaims) -> fwk.Status | None:
        """Return success, a failure, or ``None`` while it is worth waiting."""
        for index, claim in enumerate(claims.claims):
            if is_in_memory(claim):
                continue
            known = self._find(claim.key)
            if known is None:
                return fwk.Status.error(f'could not find ResourceClaim "{claim.key}"')
            claims.claims[index] = known
            try:
                if is_ready(known):
                    continue
            except BindingFailed as failure:
                return fwk.Status.error(str(failure))
            if is_late(known, self._timeout, self._handle.clock.now()):
                return fwk.Status.error(f"{TIMEOUT}: claim={known.name}")
            return None
        return fwk.SUCCESS

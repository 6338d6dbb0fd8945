"""PreBind: wait until the devices of a pod are prepared, if they ask for that."""

from __future__ import annotations

from typing import Final, NamedTuple

from podium import framework as fwk
from podium.api.objects import Pod, ResourceClaim
from podium.clock import sleep
from podium.framework.handle import EventNote
from podium.plugins.dynamic_resources.binding_conditions import (
    BindingFailed,
    is_late,
    is_ready,
    must_be_prepared,
    results_of,
)
from podium.plugins.dynamic_resources.extended import is_in_memory
from podium.plugins.dynamic_resources.pod_claims import PodClaims

POLL_SECONDS: Final = 5.0


class WaitResult(NamedTuple):
    """How a wait ended; ``label`` is its name in metrics."""

    label: str
    status: fwk.Status


class PreparationWait:
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
        start = self._handle.clock.now()
        result = await self._wait_for_end(claims)
        self._count(claims, result.label, self._handle.clock.now() - start)
        return result.status

    async def _wait_for_end(self, claims: PodClaims) -> WaitResult:
        left = self._timeout
        while (result := self._result(claims)) is None:
            await sleep(self._handle.clock, min(POLL_SECONDS, left))
            left -= POLL_SECONDS
            if left <= 0:  # as upstream, without another look
                return _timed_out("context deadline exceeded")
        return result

    def _count(self, claims: PodClaims, label: str, seconds: float) -> None:
        metrics, profile = self._handle.metrics, self._handle.profile_name
        for result in (each for claim in claims.claims for each in results_of(claim)):
            metrics.waited_for_devices(profile, result.driver, label, seconds)
            if result.binding_conditions:
                metrics.device_wait_ended(profile, result.driver, label)

    def _result(self, claims: PodClaims) -> WaitResult | None:
        """Return how the wait has ended, or ``None`` while it is worth waiting."""
        for index, claim in enumerate(claims.claims):
            if is_in_memory(claim):
                continue
            known = self._find(claim.key)
            if known is None:
                missing = f'could not find ResourceClaim "{claim.key}"'
                return WaitResult("error", fwk.Status.error(missing))
            claims.claims[index] = known
            try:
                if is_ready(known):
                    continue
            except BindingFailed as failure:
                return WaitResult("failure", fwk.Status.error(str(failure)))
            if is_late(known, self._timeout, self._handle.clock.now()):
                return _timed_out(f"claim={known.name}")
            return None
        return WaitResult("success", fwk.SUCCESS)


def _timed_out(what: str) -> WaitResult:
    return WaitResult("timeout", fwk.Status.error(f"device binding timeout: {what}"))

"""What a loop that only binds does about claims: it writes them as a scheduler has to."""

from __future__ import annotations

from typing import Final

from podium.api.objects import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequest,
    DeviceRequestAllocationResult,
    Pod,
    ResourceClaim,
)
from podium.api.resource_claims import FINALIZER, claim_keys, consumer
from podium.api.selectors import only_node
from podium.client.api_client import ApiClient
from podium.client.http import Connection
from podium.client.informer import Informer
from podium.client.resources import resource_of
from podium.errors import Conflict

_DRIVER: Final = "bind-loop.podium.dev"


class LoopClaims:
    """Writes allocations of devices that do not exist; the API server does not check them."""

    def __init__(self, connection: Connection, client: ApiClient) -> None:
        self.informer = Informer(connection, resource_of(ResourceClaim))
        self._client = client

    async def write(self, pod: Pod, node_name: str) -> None:
        """Write an allocation for each claim of a pod that has none, and that the pod uses it.

        A scheduler first writes the node that it expects for such a pod, and so does this.
        """
        keys = list(claim_keys(pod))
        if keys:
            await self._client.patch_pod_status(pod, None, node_name)
        for key in keys:
            claim = self.informer.get(key) or await self._client.read(ResourceClaim, key)
            while not await self._has_written(claim, pod, node_name):
                claim = await self._client.read(ResourceClaim, key)

    async def _has_written(self, claim: ResourceClaim, pod: Pod, node_name: str) -> bool:
        """Write one claim; return false if it has changed meanwhile."""
        reserved_for = [*claim.status.reserved_for, consumer(pod)]
        status: dict[str, object] = {"reservedFor": reserved_for}
        try:
            if claim.status.allocation is None:
                status["allocation"] = _allocation(claim, node_name)
                finalizers = {*claim.metadata.finalizers, FINALIZER}
                claim = await self._client.set_finalizers(claim, sorted(finalizers))
            await self._client.patch_claim_status(claim, status)
        except Conflict:
            return False
        return True


def is_ready(pod: Pod) -> bool:
    """Whether all claims that the pod has templates for exist."""
    made = {status.name for status in pod.status.resource_claim_statuses}
    return all(
        entry.name in made
        for entry in pod.spec.resource_claims
        if entry.resource_claim_template_name
    )


def _allocation(claim: ResourceClaim, node_name: str) -> AllocationResult:
    results = tuple(
        DeviceRequestAllocationResult(
            request=_request_name(request),
            driver=_DRIVER,
            pool=node_name,
            device=f"device-{index}",
        )
        for index, request in enumerate(claim.spec.devices.requests)
    )
    return AllocationResult(DeviceAllocationResult(results), only_node(node_name))


def _request_name(request: DeviceRequest) -> str:
    first = request.first_available[:1]
    return f"{request.name}/{first[0].name}" if first else request.name

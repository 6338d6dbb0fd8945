"""The operations about devices and claims, in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from podium.api.objects import (
    ApiObject,
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    decode,
    encode,
)
from podium.bench.allocations import DeviceObjects, allocations
from podium.bench.claims import driver_slices
from podium.bench.ops import AllocResourceClaims, CreateResourceDriver
from podium.bench.scheduling import Scheduling
from podium.bench.templates import uid


class ClaimOperations:
    """Creates slices and allocates claims; ``templates`` has those of claims, by key."""

    def __init__(self, scheduling: Scheduling, serials: Iterator[int]) -> None:
        self._scheduling = scheduling
        self._serials = serials
        self.templates: dict[str, Mapping[str, Any]] = {}

    def put(self, obj: ApiObject) -> None:
        """Create an object; no scheduler looks at templates of claims."""
        if isinstance(obj, ResourceClaimTemplate):
            self.templates[obj.key] = msgspec.json.decode(encode(obj))
        else:
            self._scheduling.put(obj)

    def create_driver(self, op: CreateResourceDriver) -> None:
        for body in driver_slices(op, self._scheduling.cluster.rows().names):
            body["metadata"]["uid"] = uid(next(self._serials))
            self._scheduling.put(decode(ResourceSlice, msgspec.json.encode(body)))

    def allocate(self, op: AllocResourceClaims) -> None:
        cluster = self._scheduling.cluster
        devices = DeviceObjects(
            nodes=[node for node in cluster.table.nodes if node is not None],
            slices=cluster.objects(ResourceSlice),
            classes=cluster.objects(DeviceClass),
            taint_rules=cluster.objects(DeviceTaintRule),
            claims=list(cluster.objects(ResourceClaim)),
        )
        rules = self._scheduling.device_rules
        for claim, allocation in allocations(op.namespace, devices, rules):
            status = msgspec.structs.replace(claim.status, allocation=allocation)
            cluster.set_object(msgspec.structs.replace(claim, status=status))

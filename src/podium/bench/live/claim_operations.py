"""The operations about devices and claims, through the API of a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

from podium.api.objects import (
    ApiObject,
    DeviceClass,
    DeviceTaintRule,
    Node,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from podium.bench.allocations import DeviceObjects, allocations
from podium.bench.claims import driver_slices
from podium.bench.live.claims import ClaimMaker, has_claim_controller
from podium.bench.live.manifests import Json, Manifest, Marking
from podium.bench.live.writer import Writer, at_once
from podium.bench.ops import AllocResourceClaims, CreateResourceDriver
from podium.client.resources import resource_of
from podium.devices import DeviceRules
from podium.errors import NotFound

T = TypeVar("T", bound=ApiObject)


class ClaimOperations:
    """Creates slices and allocates claims, and sees to it that pods get claims from templates."""

    def __init__(self, writer: Writer, marking: Marking, rules: DeviceRules) -> None:
        self._writer = writer
        self._marking = marking
        self._rules = rules
        self._maker: ClaimMaker | None = None
        self._has_controller: bool | None = None

    async def use_templates(self, made: Iterable[Manifest]) -> asyncio.Task[None] | None:
        """Make claims from these templates if the cluster does not; return the task that does."""
        templates = [each for each in made if each.resource is resource_of(ResourceClaimTemplate)]
        if templates and self._has_controller is None:
            self._has_controller = await has_claim_controller(self._writer, self._marking)
        if not templates or self._has_controller:
            return None
        started = None
        if self._maker is None:
            self._maker = ClaimMaker(self._writer, self._marking)
            started = asyncio.create_task(self._maker.run())
        for template in templates:
            self._maker.add_template(template)
        return started

    async def wait_for_claims(self, pods: Iterable[Manifest]) -> None:
        """Wait until these pods have their claims, if this process makes them."""
        if self._maker is not None:
            await self._maker.wait_for_claims(pods)

    async def create_driver(self, op: CreateResourceDriver, nodes: Sequence[str]) -> None:
        bodies = (msgspec.json.encode(body) for body in driver_slices(op, nodes))
        manifests = [self._marking.of_json(ResourceSlice, body) for body in bodies]
        await at_once(manifests, self._writer.create)

    async def allocate(self, op: AllocResourceClaims) -> None:
        devices = DeviceObjects(
            nodes=await self._listed(Node),
            slices=await self._listed(ResourceSlice),
            classes=await self._listed(DeviceClass),
            taint_rules=await self._listed(DeviceTaintRule),
            claims=await self._listed(ResourceClaim),
        )
        await at_once(allocations(op.namespace, devices, self._rules), self._write)

    async def _write(self, allocated: tuple[ResourceClaim, object]) -> None:
        claim, allocation = allocated
        patch: Json = {"status": {"allocation": msgspec.to_builtins(allocation)}}
        await self._writer.patch(resource_of(ResourceClaim), claim.key, patch, "status")

    async def _listed(self, kind: type[T]) -> list[T]:
        """Return all objects of a kind; none if the server does not have it."""
        resource = resource_of(kind)
        try:
            page = await self._writer.connection.get(resource.path)
        except NotFound:
            return []
        items = msgspec.json.decode(page, type=_Items).items or []
        return [resource.decode(bytes(item), None) for item in items]


class _Items(msgspec.Struct):
    items: list[msgspec.Raw] | None = None

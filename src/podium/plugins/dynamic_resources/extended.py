"""Extended resources served by devices: the claim that the scheduler makes up for a pod.

The claim exists only in memory until PreBind. What it asks for depends on the node: a resource that
a device plugin offers there is left to NodeResourcesFit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple
from uuid import uuid4

import msgspec

from podium.api.meta import ObjectMeta, OwnerReference
from podium.api.objects import (
    Container,
    ContainerExtendedResourceRequest,
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    Pod,
    ResourceClaim,
    ResourceClaimSpec,
)
from podium.api.quantity import NANO, parse
from podium.api.resource_claims import EXACT_COUNT
from podium.devices.extended_resources import EXTENDED_CLAIM_ANNOTATION, ExtendedResources

# Not a valid name, so that no claim in the API can have it.
IN_MEMORY: Final = "<extended-resources>"

Mapping = ContainerExtendedResourceRequest


class Needs(NamedTuple):
    """What a pod asks of the devices of a node, and which container gets which request."""

    requests: tuple[DeviceRequest, ...]
    mappings: tuple[Mapping, ...]


def new_claim(pod: Pod) -> ResourceClaim:
    """Return a claim without requests that exists only in memory."""
    owner = OwnerReference("v1", "Pod", pod.name, pod.uid, controller=True)
    metadata = ObjectMeta(
        name=IN_MEMORY,
        generate_name=f"{pod.name}-extended-resources-",
        namespace=pod.namespace,
        uid=str(uuid4()),
        annotations={EXTENDED_CLAIM_ANNOTATION: "true"},
        owner_references=(owner,),
    )
    return ResourceClaim(metadata=metadata)


def with_requests(claim: ResourceClaim, needs: Needs) -> ResourceClaim:
    """Return the claim as it is for a node on which devices serve these needs."""
    spec = ResourceClaimSpec(DeviceClaim(requests=needs.requests))
    return msgspec.structs.replace(claim, spec=spec)


def is_in_memory(claim: ResourceClaim) -> bool:
    return claim.name == IN_MEMORY


def needs_of(pod: Pod, resources: Collection[str], provided: ExtendedResources) -> Needs:
    """Return what the pod asks for if devices serve these resources."""
    requests: list[DeviceRequest] = []
    mappings: list[Mapping] = []
    for resource in sorted(resources):
        provider = provided.classes.get(resource)
        if provider is not None:
            found = _needs_of_one(pod, resource, provider.name)
            requests += found.requests
            mappings += found.mappings
    return Needs(tuple(sorted(requests, key=lambda request: request.name)), tuple(mappings))


class _Use(NamedTuple):
    """A container that asks for a resource: how many devices, and by which request of its own."""

    container: str
    amount: int
    request: str
    position: int  # among init containers and containers


def _needs_of_one(pod: Pod, resource: str, class_name: str) -> Needs:
    """Return the needs of one resource.

    Containers that run at the same time have a request each. Init containers run one after the
    other and before them: they reuse the devices of containers that start later, and share one
    request for what they need beyond those.
    """
    init = pod.spec.init_containers
    short = [at for at, container in enumerate(init) if not container.is_sidecar]
    uses = list(_uses((*init, *pod.spec.containers), resource))
    lasting = [use for use in uses if use.position not in short]
    mappings = [_mapping(use, resource, use.request) for use in lasting]
    requests = [_request(use.request, class_name, use.amount) for use in lasting]
    extra: list[_Use] = []
    passing: list[tuple[_Use, str]] = []
    for use in (use for use in uses if use.position in short):
        missing = use.amount
        for later in (later for later in lasting if later.position >= use.position):
            passing.append((use, later.request))
            missing -= later.amount
            if missing <= 0:
                break
        else:
            passing.append((use, use.request))
            extra.append(use._replace(amount=missing))
    if extra:
        # The first of the largest ones; the other init containers are mapped to its request.
        largest = max(extra, key=lambda use: use.amount)
        requests.insert(0, _request(largest.request, class_name, largest.amount))
        own = {use.request for use in extra}
        passing = [(use, largest.request if name in own else name) for use, name in passing]
    mappings += [_mapping(use, resource, name) for use, name in passing]
    return Needs(tuple(requests), tuple(mappings))


def _uses(containers: Sequence[Container], resource: str) -> Iterator[_Use]:
    for index, container in enumerate(containers):
        requests = container.resources.requests
        count = _whole(requests.get(resource, 0))
        if count:
            name = f"container-{index}-request-{sorted(requests).index(resource)}"
            yield _Use(container.name, count, name, index)


def _whole(amount: str | int | float) -> int:
    """Return a whole amount; 0 for one that is not whole."""
    units, rest = divmod(parse(amount), NANO)
    return 0 if rest else units


def _mapping(use: _Use, resource: str, request: str) -> Mapping:
    return ContainerExtendedResourceRequest(use.container, resource, request)


def _request(name: str, class_name: str, count: int) -> DeviceRequest:
    exactly = ExactDeviceRequest(class_name, allocation_mode=EXACT_COUNT, count=count)
    return DeviceRequest(name, exactly)

"""Claims and classes of devices that are missing, and claims that ask for too many devices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import Final

from msgspec.structs import replace

from podium.api.devices import CELDeviceSelector, DeviceClassSpec, DeviceSelector
from podium.api.objects import DeviceClass, DeviceRequest, ObjectMeta, ResourceClaim, ResourceSlice
from podium.api.resource_claims import (
    EXACT_COUNT,
    POD_CLAIM,
    DeviceClaim,
    ExactDeviceRequest,
    ResourceClaimSpec,
)
from podium.explain.amounts import listed
from podium.explain.case import Case
from podium.explain.edits import ReplaceObject, SetObject
from podium.explain.fixes.candidate import Candidate, creation, deletion, sums
from podium.explain.shortfalls.devices import unknown_classes
from podium.explain.values import Change
from podium.plugins.dynamic_resources.pod_claims import PodClaims

PLUGIN: Final = "DynamicResources"
_MOST_CLASSES: Final = 16
_MOST_SUBSETS: Final = 4  # with more missing classes, not every subset is tried
_MOST_COUNTS: Final = 256


def missing_claims(case: Case) -> Iterator[Candidate]:
    """Yield claims under the names that the pod uses, for one device of each class in turn."""
    store = case.cluster.objects(ResourceClaim)
    names = [
        each.resource_claim_name
        for each in case.pod.spec.resource_claims
        if each.resource_claim_name
        and store.get(f"{case.pod.namespace}/{each.resource_claim_name}") is None
    ]
    if not names:
        return
    for name in sorted(case.core.services.devices.classes)[:_MOST_CLASSES]:
        claims = [_claim(case, each, name) for each in dict.fromkeys(names)]
        text = f"create the resource claim{'s' if len(claims) > 1 else ''} {listed(names, most=9)}"
        yield Candidate(
            "create-resource-claim",
            f"{text} for a device of class {name}",
            edits=tuple(map(SetObject, claims)),
            changes=tuple(creation(each, f"create the claim {each.name}") for each in claims),
            details={"claims": names, "deviceClass": name},
        )


def _claim(case: Case, name: str, device_class: str) -> ResourceClaim:
    exact = ExactDeviceRequest(device_class_name=device_class, allocation_mode=EXACT_COUNT, count=1)
    request = DeviceRequest(name="device", exactly=exact)
    meta = ObjectMeta(name=name, namespace=case.pod.namespace, uid=f"uid-claim-{name}")
    return ResourceClaim(metadata=meta, spec=ResourceClaimSpec(DeviceClaim(requests=(request,))))


def missing_classes(case: Case) -> Iterator[Candidate]:
    """Yield device classes under the names that claims use, for each driver in turn.

    As few classes as possible come first: a claim may have other requests to choose from.
    """
    unknown = sorted(set(unknown_classes(case)))
    drivers = sorted({each.spec.driver for each in case.cluster.objects(ResourceSlice)})
    sizes = range(1 if len(unknown) <= _MOST_SUBSETS else len(unknown), len(unknown) + 1)
    sets = (names for size in sizes for names in combinations(unknown, size))
    for names, driver in product(sets, drivers):
        classes = [_device_class(name, driver) for name in names]
        text = f"create the device class{'es' if len(names) > 1 else ''} {listed(names, most=9)}"
        yield Candidate(
            "create-device-class",
            f"{text} for devices of {driver}",
            edits=tuple(map(SetObject, classes)),
            changes=tuple(creation(each, f"create the class {each.name}") for each in classes),
            details={"deviceClasses": list(names), "driver": driver},
        )


def _device_class(name: str, driver: str) -> DeviceClass:
    selector = DeviceSelector(cel=CELDeviceSelector(f'device.driver == "{driver}"'))
    meta = ObjectMeta(name=name, uid=f"uid-class-{name}")
    return DeviceClass(metadata=meta, spec=DeviceClassSpec(selectors=(selector,)))


# --- fewer devices --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Counted:
    """A request of a claim for a number of devices."""

    claim: ResourceClaim
    position: int
    count: int


def fewer(case: Case) -> Iterator[Candidate]:
    """Yield claims of the pod with fewer devices, those that give up the fewest first."""
    requests = list(_counted(case))
    limits = [each.count - 1 for each in requests]
    vectors = (vector for total in range(1, sum(limits) + 1) for vector in sums(limits, total))
    for vector in islice(vectors, _MOST_COUNTS):
        pairs = [(each, less) for each, less in zip(requests, vector, strict=True) if less]
        yield _with_fewer(pairs)


def to_allocate(case: Case) -> Iterator[ResourceClaim]:
    """Yield the claims of the pod that have no devices yet, if nodes are refused because of them.

    Those that a controller makes are left out: what they are made from would have to change.
    """
    claims = case.kept(PodClaims)
    if claims is None or case.verdicts is None or PLUGIN not in case.verdicts.refused:
        return
    for index in claims.to_allocate:
        claim = claims.claims[index]
        if claim is not claims.extended and POD_CLAIM not in claim.annotations:
            yield claim


def _counted(case: Case) -> Iterator[_Counted]:
    for claim in to_allocate(case):
        for position, request in enumerate(claim.spec.devices.requests):
            exact = request.exactly
            if exact is not None and exact.allocation_mode in ("", EXACT_COUNT):
                yield _Counted(claim, position, exact.count or 1)


def _with_fewer(pairs: Sequence[tuple[_Counted, int]]) -> Candidate:
    claims: dict[str, ResourceClaim] = {}
    for each, less in pairs:
        before = claims.get(each.claim.key, each.claim)
        claims[each.claim.key] = _reduced(before, each.position, each.count - less)
    parts = [f"{each.count - less} instead of {each.count}" for each, less in pairs]
    names = [each.claim.name for each, _ in pairs]
    wishes = [f"{part} devices in claim {name}" for part, name in zip(parts, names, strict=True)]
    devices = [
        {"claim": each.claim.key, "from": each.count, "to": each.count - less}
        for each, less in pairs
    ]
    return Candidate(
        "device-count",
        f"ask for {listed(wishes, most=9)}",
        edits=tuple(map(ReplaceObject, claims.values())),
        changes=tuple(change for claim in claims.values() for change in recreated(claim)),
        details={**devices[0], "devices": devices},
    )


def _reduced(claim: ResourceClaim, position: int, count: int) -> ResourceClaim:
    requests = list(claim.spec.devices.requests)
    exact = requests[position].exactly
    assert exact is not None
    requests[position] = replace(requests[position], exactly=replace(exact, count=count))
    devices = replace(claim.spec.devices, requests=tuple(requests))
    return replace(claim, spec=replace(claim.spec, devices=devices))


def recreated(claim: ResourceClaim) -> tuple[Change, Change]:
    """Return the changes that replace a claim: its spec cannot change."""
    meta = ObjectMeta(name=claim.name, namespace=claim.namespace, labels=claim.labels)
    return (
        deletion("ResourceClaim", claim.key, f"delete the claim {claim.name}"),
        creation(replace(claim, metadata=meta), f"create the claim {claim.name} again"),
    )

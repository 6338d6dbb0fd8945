"""Weaker rules of resource claims, and claims that hold devices although no pod uses them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, TypeVar

from msgspec.structs import replace

from podium.api.devices import DeviceTaint
from podium.api.objects import DeviceTaintRule, ResourceClaim, ResourceSlice
from podium.api.resource_claims import DeviceClaim, DeviceToleration
from podium.api.taints import DO_NOT_SCHEDULE
from podium.explain.amounts import listed
from podium.explain.case import Case
from podium.explain.edits import RemoveObject, ReplaceObject
from podium.explain.fixes.candidate import Candidate, deletion
from podium.explain.fixes.devices import PLUGIN, recreated, to_allocate

T = TypeVar("T")

_MOST_ITEMS: Final = 6  # with more, only single ones and all together are tried
_MOST_IDLE: Final = 48


def _subsets(things: Sequence[T]) -> Iterator[tuple[T, ...]]:
    """Yield sets of these things, the smallest first."""
    sizes = range(1, len(things) + 1) if len(things) <= _MOST_ITEMS else (1, len(things))
    for size in sizes:
        yield from combinations(things, size)


# --- tolerations ----------------------------------------------------------------------------------


def tolerating(case: Case) -> Iterator[Candidate]:
    """Yield claims of the pod that tolerate taints of devices, as few taints as possible first."""
    pairs = [(claim, taint) for claim in to_allocate(case) for taint in _taints(case)]
    for chosen in _subsets(pairs):
        claims: dict[str, ResourceClaim] = {}
        for claim, taint in chosen:
            claims[claim.key] = _tolerant(claims.get(claim.key, claim), taint)
        taints = list(dict.fromkeys(_taint_text(taint) for _, taint in chosen))
        names = list(dict.fromkeys(claim.name for claim, _ in chosen))
        text = (
            f"let {_claims(names)} tolerate the device taint{'s' if len(taints) > 1 else ''} "
            f"{listed(taints, most=9)}"
        )
        added = [{"claim": claim.key, "taint": _taint_text(taint)} for claim, taint in chosen]
        yield _rewritten("device-toleration", text, claims, {"tolerations": added})


def _taints(case: Case) -> list[DeviceTaint]:
    """Return the taints that devices have, or get by rules, and that keep pods off them."""
    slices = case.cluster.objects(ResourceSlice)
    given = [taint for each in slices for device in each.spec.devices for taint in device.taints]
    given += [each.spec.taint for each in case.cluster.objects(DeviceTaintRule)]
    return list(
        {_taint_text(each): each for each in given if each.effect in DO_NOT_SCHEDULE}.values()
    )


def _taint_text(taint: DeviceTaint) -> str:
    return f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"


def _tolerant(claim: ResourceClaim, taint: DeviceTaint) -> ResourceClaim:
    operator = "Equal" if taint.value else "Exists"
    wanted = DeviceToleration(taint.key, operator, taint.value, taint.effect)
    asked = claim.spec.devices
    requests = tuple(
        replace(
            request,
            exactly=request.exactly
            and replace(request.exactly, tolerations=(*request.exactly.tolerations, wanted)),
            first_available=tuple(
                replace(each, tolerations=(*each.tolerations, wanted))
                for each in request.first_available
            ),
        )
        for request in asked.requests
    )
    return _with_devices(claim, replace(asked, requests=requests))


# --- selectors and constraints --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Rule:
    """A selector of a request, of one of its alternatives, or a constraint of a claim."""

    claim: ResourceClaim
    text: str
    request: int | None = None  # None for a constraint
    alternative: int | None = None
    index: int = 0

    def dropped_from(self, devices: DeviceClaim) -> DeviceClaim:
        """Return the devices without this rule; those with a higher index must be gone already."""
        if self.request is None:
            return replace(devices, constraints=_without(devices.constraints, self.index))
        requests = list(devices.requests)
        request = requests[self.request]
        if self.alternative is None:
            assert request.exactly is not None
            left = _without(request.exactly.selectors, self.index)
            changed = replace(request, exactly=replace(request.exactly, selectors=left))
        else:
            ways = list(request.first_available)
            way = ways[self.alternative]
            ways[self.alternative] = replace(way, selectors=_without(way.selectors, self.index))
            changed = replace(request, first_available=tuple(ways))
        requests[self.request] = changed
        return replace(devices, requests=tuple(requests))


def _without(things: tuple[T, ...], index: int) -> tuple[T, ...]:
    return things[:index] + things[index + 1 :]


def unselective(case: Case) -> Iterator[Candidate]:
    """Yield claims of the pod with fewer selectors and constraints, as few as possible dropped."""
    for chosen in _subsets([rule for claim in to_allocate(case) for rule in _rules(claim)]):
        claims: dict[str, ResourceClaim] = {}
        for rule in reversed(chosen):
            before = claims.get(rule.claim.key, rule.claim)
            claims[rule.claim.key] = _with_devices(before, rule.dropped_from(before.spec.devices))
        names = list(dict.fromkeys(rule.claim.name for rule in chosen))
        rules = [rule.text for rule in chosen]
        text = f"drop {listed(rules, most=9)} in {_claims(names)}"
        dropped = [{"claim": rule.claim.key, "rule": rule.text} for rule in chosen]
        yield _rewritten("device-selector", text, claims, {"dropped": dropped})


def _rules(claim: ResourceClaim) -> Iterator[_Rule]:
    for number, request in enumerate(claim.spec.devices.requests):
        exact = request.exactly
        for index, each in enumerate(() if exact is None else exact.selectors):
            text = f"the selector {'' if each.cel is None else each.cel.expression}"
            yield _Rule(claim, text, number, None, index)
        for way, alternative in enumerate(request.first_available):
            for index, each in enumerate(alternative.selectors):
                text = f"the selector {'' if each.cel is None else each.cel.expression}"
                yield _Rule(claim, text, number, way, index)
    for index, constraint in enumerate(claim.spec.devices.constraints):
        same = constraint.match_attribute
        attribute = same or getattr(constraint, "distinct_attribute", None)
        text = f"the constraint that {attribute} {'is the same' if same else 'differs'}"
        yield _Rule(claim, text, index=index)


def _with_devices(claim: ResourceClaim, devices: DeviceClaim) -> ResourceClaim:
    return replace(claim, spec=replace(claim.spec, devices=devices))


def _claims(names: Sequence[str]) -> str:
    return f"claim{'s' if len(names) > 1 else ''} {listed(names, most=9)}"


def _rewritten(
    kind: str, text: str, claims: dict[str, ResourceClaim], details: dict[str, object]
) -> Candidate:
    return Candidate(
        kind,
        text,
        edits=tuple(map(ReplaceObject, claims.values())),
        changes=tuple(change for claim in claims.values() for change in recreated(claim)),
        details=details,
    )


# --- claims of no pod -----------------------------------------------------------------------------


def idle_gone(case: Case) -> Iterator[Candidate]:
    """Yield claims that hold devices although no pod uses them."""
    if case.verdicts is None or PLUGIN not in case.verdicts.refused:
        return
    own = {each.resource_claim_name for each in case.pod.spec.resource_claims}
    idle = [
        claim
        for claim in case.cluster.objects(ResourceClaim)
        if claim.status.allocation is not None
        and not claim.status.reserved_for
        and not (claim.namespace == case.pod.namespace and claim.name in own)
    ]
    for claim in sorted(idle, key=lambda each: each.key)[:_MOST_IDLE]:
        text = f"delete the resource claim {claim.key}, which no pod uses"
        yield Candidate(
            "claim-gone",
            text,
            edits=(RemoveObject(ResourceClaim, claim.key),),
            changes=(deletion("ResourceClaim", claim.key, text),),
            details={"claim": claim.key},
        )

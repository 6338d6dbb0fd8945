"""Smaller changes of the rules of resource claims: every one must leave the pod pending."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from podium import Simulation
from podium.api.objects import DeviceTaintRule, ResourceClaim, ResourceSlice
from podium.explain import Fix
from tests.support.fix_trials import Json, Trial, manifest, subsets


def _claims(simulation: Simulation, pod: Json) -> dict[str, Json]:
    store = simulation.core.cluster.objects(ResourceClaim)
    keys = [
        f"{pod['metadata']['namespace']}/{each['resourceClaimName']}"
        for each in pod["spec"]["resourceClaims"]
        if "resourceClaimName" in each
    ]
    return {key: manifest("ResourceClaim", found) for key in keys if (found := store.get(key))}


def _ways(claim: Json) -> Iterator[Json]:
    """Yield what a claim asks for, alternatives too."""
    for request in claim["spec"]["devices"]["requests"]:
        yield from request.get("firstAvailable", ())
        if "exactly" in request:
            yield request["exactly"]


def _tolerations(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """Fewer tolerations, of any taint, in any claim."""
    cluster, claims = simulation.core.cluster, _claims(simulation, pod)
    given = [
        taint
        for each in cluster.objects(ResourceSlice)
        for device in each.spec.devices
        for taint in device.taints
    ]
    given += [each.spec.taint for each in cluster.objects(DeviceTaintRule)]
    taints = sorted({(taint.key, taint.value, taint.effect) for taint in given})
    pairs = [(key, taint) for key in claims for taint in taints]
    for chosen in subsets(pairs, len(fix.details["tolerations"])):
        changed = copy.deepcopy(claims)
        for claim, (key, value, effect) in chosen:
            wanted = {"key": key, "operator": "Equal", "value": value, "effect": effect}
            for way in _ways(changed[claim]):
                way.setdefault("tolerations", []).append(wanted)
        yield Trial(f"tolerates {chosen}", added=tuple(changed.values()))


def _rules(simulation: Simulation, pod: Json, fix: Fix) -> Iterator[Trial]:
    """Fewer selectors and constraints dropped."""
    claims = _claims(simulation, pod)
    rules: list[Any] = []
    for key, claim in claims.items():
        rules += [(key, -1, n) for n in range(len(claim["spec"]["devices"].get("constraints", ())))]
        for number, way in enumerate(_ways(claim)):
            rules += [(key, number, n) for n in range(len(way.get("selectors", ())))]
    for chosen in subsets(rules, len(fix.details["dropped"])):
        changed = copy.deepcopy(claims)
        for key, number, index in sorted(chosen, reverse=True):
            if number < 0:
                del changed[key]["spec"]["devices"]["constraints"][index]
            else:
                del list(_ways(changed[key]))[number]["selectors"][index]
        yield Trial(f"without {chosen}", added=tuple(changed.values()))


ORDERED = {"device-toleration": _tolerations, "device-selector": _rules}

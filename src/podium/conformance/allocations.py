"""Compares what the claims of a pod get on each feasible node, and which claims are given back."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw

from podium.api.objects import AllocationResult
from podium.conformance.trial import Trial
from podium.cycle.cycle import Cycle
from podium.cycle.found import Found
from podium.framework.offline import OfflineClient
from podium.framework.points import Point
from podium.plugins.dynamic_resources import DynamicResources
from podium.plugins.dynamic_resources.extended import IN_MEMORY, Needs
from podium.plugins.dynamic_resources.pod_claims import PodClaims

_Allocations = dict[str, dict[str, Any]]


def compare(trial: Trial, cycle: Cycle, found: Found) -> None:
    """Compare the allocations on all feasible nodes: the search always finds the same ones."""
    plugins = trial.profile.plugins[Point.RESERVE]
    plugin = next((each for each in plugins if isinstance(each, DynamicResources)), None)
    claims = cycle.state.find(PodClaims)
    if plugin is None or claims is None:
        return
    allocations: _Allocations = {}
    extended: dict[str, Any] = {}
    for name in trial.feasible(found).names:
        answer = plugin.allocation(claims, trial.pod, name)
        if answer is not None:
            _add(allocations, claims, name, answer[0])
            if answer[1] is not None and answer[1].requests:
                extended[name] = _as_json(answer[1])
    expected = _recorded(trial.expect.allocations)
    trial.compare.equal(
        "allocations", _without_device_plugins(expected), _without_device_plugins(allocations)
    )
    needs = msgspec.json.decode(trial.expect.extended_resources or b"{}")
    asked = {name: need for name, need in needs.items() if need.get("requests")}
    trial.compare.equal("extendedResources", asked, extended)


def compare_given_back(trial: Trial) -> bool:
    """Compare the claims that PostFilter gave back. Return whether it gave any back."""
    client = trial.core.services.client
    if not isinstance(client, OfflineClient):
        return False
    for field, recorded, claims in (
        ("deallocated", trial.expect.deallocated, client.deallocated),
        ("deletedClaims", trial.expect.deleted_claims, client.deleted_claims),
    ):
        expected = msgspec.json.decode(recorded or b"[]")
        trial.compare.equal(field, sorted(expected), sorted(claim.key for claim in claims))
    return bool(client.deallocated or client.deleted_claims)


def _add(into: _Allocations, claims: PodClaims, node: str, results: list[AllocationResult]) -> None:
    seen: dict[str, int] = {}
    for index, allocation in zip(claims.to_allocate, results, strict=True):
        key = claims.claims[index].key
        seen[key] = seen.get(key, 0) + 1
        name = key if seen[key] == 1 else f"{key}#{seen[key]}"
        into.setdefault(name, {})[node] = _plain(allocation)


def _recorded(raw: Raw) -> _Allocations:
    by_claim = msgspec.json.decode(raw or b"{}", type=dict[str, dict[str, AllocationResult]])
    return {
        claim: {node: _plain(allocation) for node, allocation in by_node.items()}
        for claim, by_node in by_claim.items()
    }


def _plain(allocation: AllocationResult) -> dict[str, Any]:
    """Return an allocation as JSON; ids of shares are random."""
    plain: dict[str, Any] = msgspec.to_builtins(allocation)
    for result in plain.get("devices", {}).get("results", ()):
        if "shareID" in result:
            result["shareID"] = "random"
    return plain


def _without_device_plugins(allocations: _Allocations) -> _Allocations:
    """Leave out nodes where device plugins serve the pod: the claim has no devices there."""
    left: _Allocations = {}
    for claim, by_node in allocations.items():
        for node, allocation in by_node.items():
            if allocation.get("devices") or not claim.endswith(IN_MEMORY):
                left.setdefault(claim, {})[node] = allocation
    return left


def _as_json(needs: Needs) -> dict[str, Any]:
    return {
        "requests": [msgspec.to_builtins(request) for request in needs.requests],
        "mappings": [msgspec.to_builtins(mapping) for mapping in needs.mappings],
    }

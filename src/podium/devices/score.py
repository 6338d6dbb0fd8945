"""How much a node's devices are preferred: earlier alternatives are worth more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from podium.api.resource_claims import AllocationResult, DeviceClaim, ResourceClaim
from podium.devices.requests import Shape
from podium.devices.search import Solution

# How many alternatives a request can have; the first one is worth this much.
MAX_ALTERNATIVES: Final = 8


def score_of(shape: Shape, solution: Solution) -> int:
    """Return the score of the claims that a solution allocates."""
    return sum(
        claim_score(claim.spec, [pick.request.name for pick in picks])
        for claim, picks in zip(shape.claims, solution.picks, strict=True)
    )


def allocated_score(claim: ResourceClaim, allocation: AllocationResult) -> int:
    """Return what a claim that is allocated already adds to the score."""
    return claim_score(
        claim.spec.devices, [result.request for result in allocation.devices.results]
    )


def claim_score(claim: DeviceClaim, results: Iterable[str]) -> int:
    """Return the score of a claim with results for these requests."""
    chosen = frozenset(results)
    return sum(
        MAX_ALTERNATIVES - index
        for request in claim.requests
        for index, sub in enumerate(request.first_available)
        if f"{request.name}/{sub.name}" in chosen and request.exactly is None
    )

"""Filter and Score: on which nodes a pod can use its claims, for all nodes at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api import resources
from podium.api.objects import AllocationResult, Pod, ResourceClaim
from podium.devices import FAILED, FOUND, INVALID_POOLS, REFUSED, TIMED_OUT, allocated_score
from podium.devices.extended_resources import may_be_provided
from podium.errors import AllocationError
from podium.framework.scores import zeros
from podium.plugins.dynamic_resources.binding_conditions import cannot_become_ready, results_of
from podium.plugins.dynamic_resources.extended import Needs, needs_of, with_requests
from podium.plugins.dynamic_resources.pod_claims import PodClaims

LEFTOVER_CLAIM: Final = fwk.Status.unresolvable("cannot schedule extended resource claim")
# What a node declares that can leave out operations for devices. No gate of the scheduler decides.
SKIPPING_FEATURE: Final = "DRAOptionalNodeOperations"
_NO_NODE: Final = np.zeros(1, np.bool_)  # for any number of nodes
# The statuses of nodes, by their number in columns. The last number stands for an error.
_OK, _NOT_OFFERED, _NOT_FREE, _BAD_POOLS, _UNAVAILABLE, _ERROR = range(6)
_STATUSES: Final = (
    fwk.SUCCESS,
    fwk.Status.unresolvable("cannot fit resource"),
    fwk.Status.unresolvable("cannot allocate all claims"),
    fwk.Status.unresolvable("invalid resource pools were encountered"),
    fwk.Status.unresolvable("resourceclaim not available on the node"),
)
# TIMED_OUT is -1, which is the last element.
_STATUS_BY_ENDING: Final = np.empty(5, np.intp)
_STATUS_BY_ENDING[[FOUND, REFUSED, INVALID_POOLS]] = _OK, _NOT_FREE, _BAD_POOLS
_STATUS_BY_ENDING[[FAILED, TIMED_OUT]] = _ERROR

Mask = NDArray[np.bool_]
Endings = NDArray[np.int8]


class Variant(NamedTuple):
    """Claims to allocate on some of the nodes.

    ``positions`` index the view; ``needs`` is what the claim for extended resources asks for there.
    """

    positions: NDArray[np.intp]
    claims: list[ResourceClaim]
    needs: Needs | None = None


class Filtering:
    """Decides for all nodes at once; nodes with equal devices cost one search together."""

    def __init__(self, handle: fwk.Handle, filter_timeout: float, binding_timeout: float) -> None:
        self._handle = handle
        self._devices = handle.devices
        self._timeout = filter_timeout
        self._binding_timeout = binding_timeout

    def judge(self, claims: PodClaims, pod: Pod, nodes: fwk.Rows) -> fwk.Statuses:
        """Return a status for each node; note the allocated claims that some nodes cannot use."""
        claims.is_filtered = True
        if claims.extended is not None and claims.extended.spec.devices.requests:
            return fwk.Column.uniform(LEFTOVER_CLAIM, len(nodes))  # PostFilter deletes this claim
        index = np.zeros(len(nodes), np.intp)
        searches: list[tuple[Variant, Endings]] = []
        for variant in self._variants(claims, pod, nodes):
            endings = self._endings(variant, nodes)
            index[variant.positions] = _STATUS_BY_ENDING[endings]
            searches.append((variant, endings))
        if claims.has_extended:
            index[self._without_resource(pod, nodes)] = _NOT_OFFERED
        # As upstream: what is allocated for extended resources alone is not checked.
        if claims.named:
            index[self._unavailable(claims, nodes, index == _OK)] = _UNAVAILABLE
        if not index.any():
            return fwk.Column.uniform(fwk.SUCCESS, len(nodes))
        failed = index == _ERROR
        # The first error ends the attempt for all nodes, as upstream.
        errors = [self._error(searches, nodes, int(failed.argmax()))] if failed.any() else []
        return fwk.Column([*_STATUSES, *errors], index)

    def scores(self, claims: PodClaims, pod: Pod, nodes: fwk.Rows) -> fwk.Scores:
        """Return how much each node's devices are wanted; only alternatives make a difference."""
        if not any(map(_has_alternatives, claims.claims)):
            return zeros(len(nodes))
        known = sum(
            allocated_score(claim, claim.status.allocation)
            for claim in claims.claims
            if claim.status.allocation is not None
        )
        scores: fwk.Scores = np.zeros(len(nodes), np.int64)
        for variant in self._variants(claims, pod, nodes):
            rows = nodes.index[variant.positions]
            outcomes = self._devices.allocate_each(variant.claims, rows, self._timeout)
            scores[variant.positions] = outcomes.scores + known
        return scores

    def allocation(
        self, claims: PodClaims, pod: Pod, node: fwk.NodeInfo
    ) -> tuple[list[AllocationResult], Needs | None] | None:
        """Return what each claim without an allocation gets on a node where Filter succeeded.

        ``None`` means that nothing is to be allocated there.
        """
        for variant in self._variants(claims, pod, node.alone()) if claims.is_filtered else ():
            found = self._devices.allocation_on(variant.claims, node.row)
            return found, variant.needs
        return None

    # --- claims to allocate ----------------------------------------------------------------------

    def _endings(self, variant: Variant, nodes: fwk.Rows) -> Endings:
        rows = nodes.index[variant.positions]
        return self._devices.allocate_each(variant.claims, rows, self._timeout).endings

    def _variants(self, claims: PodClaims, pod: Pod, nodes: fwk.Rows) -> Iterator[Variant]:
        """Yield the claims to allocate; they differ between nodes for extended resources."""
        wanted = [claims.claims[index] for index in claims.to_allocate]
        if not wanted:
            return
        if claims.extended is None or claims.extended.status.allocation is not None:
            yield Variant(np.arange(len(nodes)), wanted)
            return
        provided = self._devices.extended_resources.requested_by(pod)
        by_devices = fwk.packed([nodes.allocatable(name) == 0 for name in provided])
        for number, bits in enumerate(by_devices.values):
            if not bits and not claims.named:
                continue  # device plugins serve the pod, and NodeResourcesFit has judged them
            names = [name for bit, name in enumerate(provided) if bits >> bit & 1]
            needs = needs_of(pod, names, self._devices.extended_resources)
            asking = [*wanted[:-1], with_requests(wanted[-1], needs)]
            yield Variant(np.flatnonzero(by_devices.index == number), asking, needs)

    def _error(
        self, searches: list[tuple[Variant, Endings]], nodes: fwk.Rows, position: int
    ) -> fwk.Status:
        """Return the error of a node on which the search failed."""
        node = nodes.at(position)
        for variant, endings in searches:
            ending = endings[variant.positions == position]  # of one node, or of none
            if TIMED_OUT in ending:
                text = f"node {node.name}: timed out trying to allocate devices"
                return fwk.Status.error(text)
            if FAILED in ending:
                try:
                    self._devices.allocator.allocate(variant.claims, node.node)
                except AllocationError as fault:
                    return fwk.Status.error(fault)
        raise AssertionError("unreachable")  # it failed before, and nothing has changed since

    # --- nodes that cannot be used ---------------------------------------------------------------

    def _without_resource(self, pod: Pod, nodes: fwk.Rows) -> Mask:
        """Mark the nodes that lack an extended resource which no device class provides."""
        lacking = np.zeros(len(nodes), np.bool_)
        for name, amount in resources.spec_requests(pod)[0].items():
            if not amount or not may_be_provided(name):
                continue
            if name in self._devices.extended_resources.classes:
                continue
            for position in np.flatnonzero(nodes.allocatable(name) == 0).tolist():
                lacking[position] |= name not in nodes.at(position).node.status.allocatable
        return lacking

    def _unavailable(self, claims: PodClaims, nodes: fwk.Rows, fitting: Mask) -> Mask:
        """Mark the nodes, of the fitting ones, that cannot use an allocated claim."""
        unavailable = np.zeros(len(nodes), np.bool_)
        for index, claim in enumerate(claims.claims):
            reach = claims.on_nodes.get(index)
            if self._cannot_become_ready(claim):
                missing = fitting
            elif reach is not None:
                missing = fitting.copy()
                for term in reach.terms:
                    missing &= ~nodes.matching_term(term)
            else:
                missing = _NO_NODE
            if self._skips_node_operations(claim):
                missing = missing | (fitting & ~_can_skip_operations(nodes))
            if missing.any():
                claims.unavailable.add(index)
                unavailable |= missing
        return unavailable

    def _skips_node_operations(self, claim: ResourceClaim) -> bool:
        """Return whether only nodes that declare a feature can use the allocated devices."""
        if not self._devices.rules.knows_skipped_operations:
            return False
        return any(result.skip_node_operations for result in results_of(claim))

    def _cannot_become_ready(self, claim: ResourceClaim) -> bool:
        """Return whether the devices of an allocated claim will never be prepared."""
        if claim.status.allocation is None or not self._devices.rules.binding_conditions:
            return False
        return cannot_become_ready(claim, self._binding_timeout, self._handle.clock.now())


def _can_skip_operations(nodes: fwk.Rows) -> Mask:
    declared = nodes.declared_features.map(lambda features: SKIPPING_FEATURE in features)
    return declared.to_array(np.bool_)


def _has_alternatives(claim: ResourceClaim) -> bool:
    return any(request.first_available for request in claim.spec.devices.requests)

"""Solutions as claims store them: devices, configurations, and the nodes that can use them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence

from podium.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from podium.api.resource_claims import (
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaim,
)
from podium.api.selectors import only_node
from podium.devices.candidates import Candidate
from podium.devices.inventory import NodeDevices
from podium.devices.requests import Claim, Request
from podium.devices.rules import DeviceRules
from podium.devices.search import Pick, Solution
from podium.errors import AllocationError

FROM_CLASS = "FromClass"
FROM_CLAIM = "FromClaim"


class ResultWriter:
    """Writes solutions for nodes: the names are those of each node's own devices."""

    def __init__(self, rules: DeviceRules) -> None:
        self._rules = rules

    def allocation(
        self, claim: Claim, index: int, solution: Solution, devices: NodeDevices, node_name: str
    ) -> AllocationResult:
        """Return what a claim gets on a node; ``index`` is that of the claim in the solution."""
        picks = [(pick, devices.candidates[pick.location]) for pick in solution.picks[index]]
        results = tuple(self._result(pick, candidate) for pick, candidate in picks)
        chosen = [
            alternatives.requests[choice]
            for alternatives, choice in zip(
                claim.requests, solution.alternatives[index], strict=True
            )
        ]
        configs = [*_class_configs(chosen), *self._claim_configs(claim, chosen)]
        if self._rules.merges_configs:
            configs = [_shortened(config, chosen) for config in configs]
        selector = self._node_selector([candidate for _, candidate in picks], node_name)
        return AllocationResult(DeviceAllocationResult(results, tuple(configs)), selector)

    def _result(self, pick: Pick, candidate: Candidate) -> DeviceRequestAllocationResult:
        known, rules = candidate.known, self._rules
        is_share = known.is_shareable
        device = known.device
        conditions = device.binding_conditions if rules.binding_conditions else None
        failures = device.binding_failure_conditions if rules.binding_conditions else None
        return DeviceRequestAllocationResult(
            request=pick.request.name,
            driver=candidate.pool.key.driver,
            pool=candidate.pool.key.pool,
            device=known.name,
            admin_access=pick.request.has_admin_access or None,
            tolerations=pick.request.spec.tolerations,
            binding_conditions=conditions or (),
            binding_failure_conditions=failures or (),
            share_id=str(uuid.uuid4()) if is_share else None,
            consumed_capacity=dict(pick.consumption.written) if is_share else {},
        )

    def _claim_configs(
        self, claim: Claim, chosen: list[Request]
    ) -> Iterator[DeviceAllocationConfiguration]:
        for config in claim.spec.config:
            uses = sum(_mentions(config.requests, request) for request in chosen)
            if not config.requests or (uses and self._rules.merges_configs):
                uses = 1
            for _ in range(uses):  # in 1.36, once for each request
                yield DeviceAllocationConfiguration(FROM_CLAIM, config.requests, config.opaque)

    def _node_selector(self, devices: list[Candidate], node_name: str) -> NodeSelector | None:
        """Return which nodes can use all of these devices; None for every node."""
        fields: list[NodeSelectorRequirement] = []
        labels: list[NodeSelectorRequirement] = []
        for candidate in devices:
            if self._is_for_one_node(candidate):
                return only_node(node_name)
            for term in _terms(candidate):
                _add_new(fields, term.match_fields)
                _add_new(labels, term.match_expressions)
        if not fields and not labels:
            return None
        return NodeSelector((NodeSelectorTerm(tuple(labels), tuple(fields)),))

    def check_node_selectors(
        self, solution: Solution, claims: Sequence[ResourceClaim], devices: NodeDevices
    ) -> None:
        """Raise if the nodes of a chosen device are selected in a way that is not supported."""
        for claim, picks in zip(claims, solution.picks, strict=True):
            try:
                for pick in picks:
                    candidate = devices.candidates[pick.location]
                    if self._is_for_one_node(candidate):
                        break  # the others do not matter any more
                    _terms(candidate)
            except AllocationError as error:
                where = f"create NodeSelector for claim {claim.name}"
                raise AllocationError(f"{where}: {error}") from None

    def _is_for_one_node(self, candidate: Candidate) -> bool:
        binds = candidate.known.device.binds_to_node and not self._rules.is_plain
        return candidate.has_node_name or bool(binds)


def _class_configs(chosen: list[Request]) -> Iterator[DeviceAllocationConfiguration]:
    """Yield the configs of each class once, with all requests for the class."""
    names: dict[str, list[str]] = {}
    for request in chosen:
        names.setdefault(request.spec.device_class_name, []).append(request.name)
    for request in chosen:
        requests = names.pop(request.spec.device_class_name, None)
        if requests is not None and request.device_class is not None:
            for config in request.device_class.spec.config:
                yield DeviceAllocationConfiguration(FROM_CLASS, tuple(requests), config.opaque)


def _mentions(names: tuple[str, ...], request: Request) -> bool:
    return any(name in names for name in request.names)


def _shortened(
    config: DeviceAllocationConfiguration, chosen: list[Request]
) -> DeviceAllocationConfiguration:
    """Return a config that is for all requests without listing them."""
    if all(_mentions(config.requests, request) for request in chosen):
        return DeviceAllocationConfiguration(config.source, (), config.opaque)
    return config


def _terms(candidate: Candidate) -> tuple[NodeSelectorTerm, ...]:
    selector = candidate.node_selector
    terms = selector.node_selector_terms if selector is not None else ()
    if len(terms) > 1:
        raise AllocationError(f"unsupported ResourceSlice.NodeSelector with {len(terms)} terms")
    return terms


def _add_new(
    known: list[NodeSelectorRequirement], added: tuple[NodeSelectorRequirement, ...]
) -> None:
    for each in added:
        if not any(_is_equal(each, other) for other in known):
            known.append(each)


def _is_equal(one: NodeSelectorRequirement, other: NodeSelectorRequirement) -> bool:
    same = one.key == other.key and one.operator == other.operator
    return same and set(one.values) == set(other.values)

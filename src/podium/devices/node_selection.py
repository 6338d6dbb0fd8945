"""Which nodes can use a slice or a device."""

from __future__ import annotations

from podium.api.affinity import NodeSelector, NodeSelectorRequirement
from podium.api.objects import Node
from podium.api.selectors import node_selector
from podium.errors import AllocationError, InvalidSelector


def node_matches(
    node: Node, node_name: str | None, all_nodes: bool | None, selector: NodeSelector | None
) -> bool:
    """Whether the node is the named one, or one of all, or selected."""
    if node_name:
        return node.name == node_name
    if all_nodes:
        return True
    if selector is None:
        return False
    matcher = node_selector(selector)
    try:
        matcher.check()
    except InvalidSelector as error:
        text = f"failed to parse node selector {_written(selector)}: {error}"
        raise AllocationError(text) from None
    return matcher.matches(node.labels, node.name)


def _written(selector: NodeSelector) -> str:
    """Return a selector as upstream's messages show it."""
    terms = "".join(
        f"NodeSelectorTerm{{MatchExpressions:{_requirements(term.match_expressions)},"
        f"MatchFields:{_requirements(term.match_fields)},}},"
        for term in selector.node_selector_terms
    )
    return f"&NodeSelector{{NodeSelectorTerms:[]NodeSelectorTerm{{{terms}}},}}"


def _requirements(requirements: tuple[NodeSelectorRequirement, ...]) -> str:
    written = "".join(
        f"NodeSelectorRequirement{{Key:{each.key},Operator:{each.operator},"
        f"Values:[{' '.join(each.values)}],}},"
        for each in requirements
    )
    return f"[]NodeSelectorRequirement{{{written}}}"

"""What the required terms of a pod say beyond matching: names of nodes, and terms unread."""

from __future__ import annotations

from functools import lru_cache

from podium.api.objects import Node, NodeSelector, NodeSelectorTerm
from podium.api.selectors import NAME_FIELD, RequiredNodeAffinity

Names = frozenset[str]


@lru_cache(maxsize=4096)
def possible_names(required: NodeSelector | None) -> Names | None:
    """Return the names of nodes that the terms select; ``None`` unless every term names nodes."""
    terms = required.node_selector_terms if required is not None else ()
    asked = [_names(term) for term in terms]
    named = [names for names in asked if names is not None]
    if not named or len(named) < len(asked):
        return None
    return Names().union(*named)


def _names(term: NodeSelectorTerm) -> Names | None:
    """Return the names that a term allows; fields that exclude names are left to Filter."""
    allowed = [
        Names(field.values)
        for field in term.match_fields
        if field.key == NAME_FIELD and field.operator == "In"
    ]
    return Names.intersection(*allowed) if allowed else None


def may_match_invalid_terms(required: RequiredNodeAffinity, node: Node) -> bool:
    """Return whether only invalid terms keep the node from matching."""
    selector = RequiredNodeAffinity(required.pairs)
    return required.has_errors and selector.matches(node.labels, node.name)

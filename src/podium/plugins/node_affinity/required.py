"""What the required terms of a pod say beyond matching: names of nodes, and terms unread."""

from __future__ import annotations

from functools import lru_cache

from podium.api.objects import Node, NodeSelector, NodeSelectorTerm
from podium.api.selectors import NAME_FIELD, RequiredNodeAffinity

Names = frozenset[str]


@lru_cache(maxsize=4096)
def names_in_question(required: NodeSelector | None) -> Names | None:
    """The nodes that the terms ask for by name; ``None`` unless every term does."""
    terms = required.node_selector_terms if required is not None else ()
    asked = [_names(term) for term in terms]
    named = [names for names in asked if names is not None]
    if not named or len(named) < len(asked):
        return None
    return Names().union(*named)


def _names(term: NodeSelectorTerm) -> Names | None:
    """What all name fields of a term allow; fields that exclude names are left to Filter."""
    allowed = [
        Names(field.values)
        for field in term.match_fields
        if field.key == NAME_FIELD and field.operator == "In"
    ]
    return Names.intersection(*allowed) if allowed else None


def may_match_unread(required: RequiredNodeAffinity, node: Node) -> bool:
    """Whether only terms that cannot be read keep the node from matching."""
    selector = RequiredNodeAffinity(required.pairs)
    return required.has_errors and selector.matches(node.labels, node.name)

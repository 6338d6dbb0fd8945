"""Evaluate node selectors for all candidate nodes at once, requirement by requirement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from podium.api.requirements import IN, NOT_IN, Requirement
from podium.api.selectors import NAME_FIELD, NodeTerm, RequiredNodeAffinity

if TYPE_CHECKING:
    from podium.state.rows import Rows

Mask = NDArray[np.bool_]


def matching(nodes: Rows, affinity: RequiredNodeAffinity) -> Mask:
    """Return a mask of the nodes for which ``affinity.matches`` is true."""
    mask = np.ones(len(nodes), np.bool_)
    for key, value in affinity.pairs:
        mask &= nodes.satisfying(Requirement(key, IN, (value,)))
    if affinity.affinity is not None:
        mask &= any_term(nodes, affinity.affinity.terms)
    return mask


def any_term(nodes: Rows, terms: tuple[NodeTerm, ...]) -> Mask:
    mask = np.zeros(len(nodes), np.bool_)
    for term in terms:
        mask |= term_mask(nodes, term)
    return mask


def term_mask(nodes: Rows, term: NodeTerm) -> Mask:
    if term.errors:
        return np.zeros(len(nodes), np.bool_)
    mask = np.ones(len(nodes), np.bool_)
    for requirement in term.labels:
        mask &= nodes.satisfying(requirement)
    for requirement in term.fields:
        mask &= _field_mask(nodes, requirement)
    return mask


def _field_mask(nodes: Rows, requirement: Requirement) -> Mask:
    """Return a mask for a field requirement; only ``metadata.name`` has a value."""
    if requirement.key != NAME_FIELD:
        return np.full(len(nodes), requirement.matches_value(""), np.bool_)
    named = np.zeros(nodes.cluster.size, np.bool_)
    for name in requirement.values:
        row = nodes.cluster.row_of(name)
        if row is not None:
            named[row] = True
    found: Mask = nodes.take(named)
    return ~found if requirement.operator == NOT_IN else found

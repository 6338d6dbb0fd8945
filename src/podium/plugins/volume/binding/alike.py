"""Nodes that a pod's claims cannot tell apart: Filter's rule is asked once for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium import framework as fwk
from podium.api.requirements import GT, LT
from podium.plugins.volume.binding.migration import MigratedNodes
from podium.plugins.volume.binding.pod_claims import SELECTED_NODE, PodClaims
from podium.plugins.volume.binding.reach import Reach

Codes = NDArray[np.intp]
Mask = NDArray[np.bool_]

_MISSING: Final = 0  # the label is not there
_OTHER: Final = 1  # it has a value that no rule mentions
_DENSE: Final = 1 << 16  # numbers below this are told apart by counting instead of sorting


def alike(nodes: fwk.Rows, claims: PodClaims, migrated: MigratedNodes) -> fwk.Column[int]:
    """For each node of the view the position of one that stands for it."""
    groups = _Groups(len(nodes))
    for key, values in _mentioned(_reaches(claims)).items():
        groups.split(*_label_codes(nodes.labels[key], values))
    for name in {one.claim.annotations[SELECTED_NODE] for one in claims.selected}:
        groups.split(_is_named(nodes, name), 2)
    for plugin in {one.plugin for one in claims.bound if one is not None and one.plugin}:
        groups.split(nodes.take(migrated.mask(plugin)), 2)
    return groups.representatives()


class _Groups:
    """A number per node, equal for nodes that nothing has told apart so far."""

    def __init__(self, size: int) -> None:
        self._codes: Codes = np.zeros(size, np.intp)
        self._limit = 1

    def split(self, codes: Codes | Mask, limit: int) -> None:
        """Tell nodes apart by these numbers too, which are below ``limit``."""
        codes = codes.astype(np.intp, copy=False)
        self._codes = codes if self._limit == 1 else self._codes * limit + codes
        self._limit *= limit
        if self._limit > _DENSE:
            found, self._codes = np.unique(self._codes, return_inverse=True)
            self._limit = len(found)

    def representatives(self) -> fwk.Column[int]:
        if self._limit == 1:
            return fwk.Column([0] if len(self._codes) else [], self._codes)
        first = np.full(self._limit, -1, np.intp)
        # Written from the back, so that the first node of each group remains.
        first[self._codes[::-1]] = np.arange(len(self._codes) - 1, -1, -1)
        found = np.flatnonzero(first >= 0)
        places = np.zeros(self._limit, np.intp)
        places[found] = np.arange(len(found))
        return fwk.Column(first[found].tolist(), places[self._codes])


def _reaches(claims: PodClaims) -> Iterable[Reach]:
    for bound in claims.bound:
        if bound is not None:
            yield from bound.reaches
    for delayed in (*claims.selected, *claims.unmatched):
        yield from delayed.candidates.reaches
        yield from delayed.provisioning.reaches


def _mentioned(reaches: Iterable[Reach]) -> dict[str, set[str] | None]:
    """The values that matter by label; ``None`` where every value does."""
    found: dict[str, set[str] | None] = {}
    for reach in set(reaches):
        for requirement in reach.requirements:
            values = found.setdefault(requirement.key, set())
            if requirement.operator in (GT, LT):
                found[requirement.key] = None
            elif values is not None:
                values.update(requirement.values)
    return found


def _label_codes(label: fwk.LabelView, values: set[str] | None) -> tuple[Codes, int]:
    if values is None:
        return label.numbers + 1, len(label.values) + 1
    codes = np.full(len(label.values) + 1, _OTHER, np.intp)
    codes[-1] = _MISSING  # where the number of a missing label points
    known = [label.number_of[value] for value in values if value in label.number_of]
    codes[known] = np.arange(_OTHER + 1, _OTHER + 1 + len(known))
    return codes[label.numbers], _OTHER + 1 + len(known)


def _is_named(nodes: fwk.Rows, name: str) -> Mask:
    named: Mask = nodes.index == (-1 if (row := nodes.cluster.row_of(name)) is None else row)
    return named

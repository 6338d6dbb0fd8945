"""Groups of nodes that are equal to a pod's claims, so that Filter judges each group once."""

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

_MISSING: Final = 0  # the node does not have the label
_OTHER: Final = 1  # it has a value that no requirement mentions
_DENSE: Final = 1 << 16  # numbers beyond this are made dense again by sorting


def first_of_group(nodes: fwk.Rows, claims: PodClaims, migrated: MigratedNodes) -> fwk.Column[int]:
    """Return for each node the position of the first node of its group."""
    groups = _Groups(len(nodes))
    for key, values in _mentioned(_reaches(claims)).items():
        groups.split(*_label_codes(nodes.labels[key], values))
    for name in {one.claim.annotations[SELECTED_NODE] for one in claims.selected}:
        groups.split(_is_named(nodes, name), 2)
    for plugin in {one.plugin for one in claims.bound if one is not None and one.plugin}:
        groups.split(nodes.take(migrated.mask(plugin)), 2)
    return groups.representatives()


class _Groups:
    """A number per node; nodes that are equal so far have the same number.

    Invariant: all numbers are below ``_limit``.
    """

    def __init__(self, size: int) -> None:
        self._codes: Codes = np.zeros(size, np.intp)
        self._limit = 1

    def split(self, codes: Codes | Mask, limit: int) -> None:
        """Split the groups by these numbers, which must be below ``limit``."""
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
        index_of = np.zeros(self._limit, np.intp)
        index_of[found] = np.arange(len(found))
        return fwk.Column(first[found].tolist(), index_of[self._codes])


def _reaches(claims: PodClaims) -> Iterable[Reach]:
    for bound in claims.bound:
        if bound is not None:
            yield from bound.reaches
    for delayed in (*claims.selected, *claims.unmatched):
        yield from delayed.candidates.reaches
        yield from delayed.provisioning.reaches


def _mentioned(reaches: Iterable[Reach]) -> dict[str, set[str] | None]:
    """Return by label the values that matter; ``None`` if every value does."""
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
    codes[-1] = _MISSING  # the number of a missing label is -1, the last element
    known = [label.number_of[value] for value in values if value in label.number_of]
    codes[known] = np.arange(_OTHER + 1, _OTHER + 1 + len(known))
    return codes[label.numbers], _OTHER + 1 + len(known)


def _is_named(nodes: fwk.Rows, name: str) -> Mask:
    named: Mask = nodes.index == (-1 if (row := nodes.cluster.row_of(name)) is None else row)
    return named

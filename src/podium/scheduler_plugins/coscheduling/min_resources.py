"""Whether the cluster has what a group asks for in ``spec.minResources``.

Only sums over all nodes are compared: a group may pass and find no node for its pods all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from podium import framework as fwk
from podium.api import quantity
from podium.api.quantity import NANO

_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_NUMBER: Final = re.compile(r"[+-]?[0-9]*(?:\.([0-9]*))?(.*)")

Wanted = Mapping[str, str | int | float]


class Gap(NamedTuple):
    """The missing amount of a resource, written as Go prints a quantity inside of a map."""

    nanos: int
    scale: int
    style: str

    def __str__(self) -> str:
        value = self.nanos * 10 ** max(0, -self.scale - 9) // 10 ** max(0, 9 + self.scale)
        return f"{{{{{value} {self.scale}}} {{<nil>}}  {self.style}}}"


def missing(nodes: fwk.Rows, wanted: Wanted, own: Iterable[fwk.PodInfo]) -> str:
    """Return what all nodes together lack, as text; empty if they have enough.

    Pods of the group itself, ``own``, count as if they were not there.
    """
    members = list(own)
    gaps = ((name, _gap(nodes, name, wanted[name], members)) for name in sorted(wanted))
    found = " ".join(f"{name}:{gap}" for name, gap in gaps if gap is not None)
    return f"map[{found}]" if found else ""


def _gap(
    nodes: fwk.Rows, name: str, text: str | int | float, own: Iterable[fwk.PodInfo]
) -> Gap | None:
    """Compare one resource, node by node in kube-scheduler's order.

    It is there as soon as the first nodes have enough: nodes after them may be overcommitted.
    """
    unit, wanted = quantity.MILLI if name == "cpu" else NANO, quantity.parse(text)
    free = nodes.free(name).copy()
    for info in own:
        position = int(nodes.index.searchsorted(info.row))
        if position < len(nodes) and nodes.index[position] == info.row:
            free[position] += 1 if name == "pods" else info.requests.get(name, 0)
    order = nodes.index.searchsorted(nodes.cluster.rows_in_order())
    sums = free[order].cumsum()
    if (sums >= -(-wanted // unit)).any():
        return None
    scale = _scale(text)
    if free.any():
        scale = min(scale, -3 if name == "cpu" else 0)
    left = wanted - (int(sums[-1]) if len(sums) else 0) * unit
    return Gap(left, scale, quantity.style(text).value)


def _scale(text: str | int | float) -> int:
    """Return the power of ten that counts one in Go's form of the quantity."""
    found = _NUMBER.fullmatch(str(text).strip())
    if found is None:
        return 0
    decimals, suffix = len(found[1] or ""), found[2]
    if suffix.endswith("i"):
        return 0
    if suffix[:1] in ("e", "E") and suffix[1:]:
        return int(suffix[1:]) - decimals
    return _DECIMAL.get(suffix, 0) - decimals

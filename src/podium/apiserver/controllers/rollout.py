"""How many pods each ReplicaSet of a Deployment should have next: a pure function of the sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from podium.apiserver.controllers.templates import share_of
from podium.apiserver.statuses import Json


@dataclass(frozen=True, slots=True)
class Size:
    """One set: how many pods it is told to have, has, and has available."""

    replicas: int
    existing: int = 0
    available: int = 0
    is_new: bool = False


def surge_and_unavailable(spec: Json) -> tuple[int, int]:
    """How many pods a rolling update may have too many, and too few."""
    strategy = spec.get("strategy") or {}
    if strategy.get("type", "RollingUpdate") != "RollingUpdate":
        return 0, 0
    rolling = strategy.get("rollingUpdate") or {}
    total = spec.get("replicas", 1)
    surge = share_of(rolling.get("maxSurge", "25%"), total, round_up=True)
    unavailable = share_of(rolling.get("maxUnavailable", "25%"), total, round_up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1  # with neither nothing could ever move
    return surge, min(unavailable, total)


def next_sizes(spec: Json, sizes: Sequence[Size]) -> list[int]:
    """The next size of each set, in the order given (oldest first)."""
    total = spec.get("replicas", 1)
    if spec.get("paused"):
        return _scaled(spec, sizes, total)
    if (spec.get("strategy") or {}).get("type") == "Recreate":
        return _recreated(sizes, total)
    return _rolled(spec, sizes, total)


def _recreated(sizes: Sequence[Size], total: int) -> list[int]:
    """All old pods go, and only when none is left the new ones come."""
    old_left = any(one.existing or one.replicas for one in sizes if not one.is_new)
    return [(one.replicas if old_left else total) if one.is_new else 0 for one in sizes]


def _rolled(spec: Json, sizes: Sequence[Size], total: int) -> list[int]:
    surge, unavailable = surge_and_unavailable(spec)
    told = [one.replicas for one in sizes]
    new = next((index for index, one in enumerate(sizes) if one.is_new), None)
    if new is None:
        return told
    room = total + surge - sum(told)
    if told[new] > total:
        told[new] = total
    elif told[new] < total:
        told[new] += max(0, min(room, total - told[new]))
    return _shrunk(sizes, told, total - unavailable)


def _shrunk(sizes: Sequence[Size], told: list[int], least: int) -> list[int]:
    """Take pods from old sets as long as enough are available: broken ones first."""
    # A set that was told to shrink may not have done so: what goes anyway counts no more.
    available = [min(one.available, count) for one, count in zip(sizes, told, strict=True)]
    missing = sum(
        count - there
        for one, count, there in zip(sizes, told, available, strict=True)
        if one.is_new
    )
    spare = sum(told) - least - missing
    broken = [count - there for count, there in zip(told, available, strict=True)]
    spare = _take(sizes, told, broken, spare)
    _take(sizes, told, available, min(spare, sum(available) - least))
    return told


def _take(sizes: Sequence[Size], told: list[int], most: Sequence[int], spare: int) -> int:
    """Lower old sets, oldest first, each by at most its number; what is left to take."""
    for index, one in enumerate(sizes):
        if not one.is_new:
            less = max(0, min(most[index], spare))
            told[index] -= less
            spare -= less
    return spare


def _scaled(spec: Json, sizes: Sequence[Size], total: int) -> list[int]:
    """A paused deployment that is scaled keeps the proportions of its sets."""
    told = [one.replicas for one in sizes]
    surge, _ = surge_and_unavailable(spec)
    sum_told = sum(told)
    running = [index for index, count in enumerate(told) if count]
    if len(running) <= 1:
        only = running[0] if running else next((i for i, s in enumerate(sizes) if s.is_new), None)
        return [total if index == only else count for index, count in enumerate(told)]
    if total <= sum_told <= total + surge:
        return told
    left = total
    for index in sorted(running, key=lambda index: -told[index]):
        told[index] = min(left, -(-told[index] * total // sum_told))
        left -= told[index]
    return told

"""How many pods each ReplicaSet of a Deployment should have next: pure functions of the sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from podium.apiserver.controllers.templates import share_of
from podium.apiserver.statuses import Json


@dataclass(frozen=True, slots=True)
class Size:
    """The size of one set: how many pods it should have, has, and has available."""

    replicas: int
    existing: int = 0
    available: int = 0
    is_new: bool = False


def surge_and_unavailable(spec: Json) -> tuple[int, int]:
    """Return how many pods a rolling update may have too many, and too few."""
    strategy = spec.get("strategy") or {}
    if strategy.get("type", "RollingUpdate") != "RollingUpdate":
        return 0, 0
    rolling = strategy.get("rollingUpdate") or {}
    total = spec.get("replicas", 1)
    surge = share_of(rolling.get("maxSurge", "25%"), total, round_up=True)
    unavailable = share_of(rolling.get("maxUnavailable", "25%"), total, round_up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1  # with both at 0 no pod could ever be replaced
    return surge, min(unavailable, total)


def next_sizes(spec: Json, sizes: Sequence[Size]) -> list[int]:
    """Return the next size of each set, in the given order (oldest first)."""
    total = spec.get("replicas", 1)
    if spec.get("paused"):
        return _scaled(spec, sizes, total)
    if (spec.get("strategy") or {}).get("type") == "Recreate":
        return _recreated(sizes, total)
    return _rolled(spec, sizes, total)


def _recreated(sizes: Sequence[Size], total: int) -> list[int]:
    """Return the sizes for Recreate: new pods start when all old ones are gone."""
    old_left = any(one.existing or one.replicas for one in sizes if not one.is_new)
    return [(one.replicas if old_left else total) if one.is_new else 0 for one in sizes]


def _rolled(spec: Json, sizes: Sequence[Size], total: int) -> list[int]:
    surge, unavailable = surge_and_unavailable(spec)
    wanted = [one.replicas for one in sizes]
    new = next((index for index, one in enumerate(sizes) if one.is_new), None)
    if new is None:
        return wanted
    room = total + surge - sum(wanted)
    if wanted[new] > total:
        wanted[new] = total
    elif wanted[new] < total:
        wanted[new] += max(0, min(room, total - wanted[new]))
    return _shrunk(sizes, wanted, total - unavailable)


def _shrunk(sizes: Sequence[Size], wanted: list[int], least: int) -> list[int]:
    """Return the sizes with old sets scaled down, broken pods first, as availability allows."""
    # A set may not have deleted its surplus pods yet; those do not count as available.
    available = [min(one.available, count) for one, count in zip(sizes, wanted, strict=True)]
    missing = sum(
        count - there
        for one, count, there in zip(sizes, wanted, available, strict=True)
        if one.is_new
    )
    spare = sum(wanted) - least - missing
    broken = [count - there for count, there in zip(wanted, available, strict=True)]
    spare = _take(sizes, wanted, broken, spare)
    _take(sizes, wanted, available, min(spare, sum(available) - least))
    return wanted


def _take(sizes: Sequence[Size], wanted: list[int], most: Sequence[int], spare: int) -> int:
    """Scale old sets down, oldest first, each by at most its number. Return what remains."""
    for index, one in enumerate(sizes):
        if not one.is_new:
            less = max(0, min(most[index], spare))
            wanted[index] -= less
            spare -= less
    return spare


def _scaled(spec: Json, sizes: Sequence[Size], total: int) -> list[int]:
    """Return the sizes of a paused deployment that is scaled: proportions stay the same."""
    wanted = [one.replicas for one in sizes]
    surge, _ = surge_and_unavailable(spec)
    total_wanted = sum(wanted)
    running = [index for index, count in enumerate(wanted) if count]
    if len(running) <= 1:
        only = running[0] if running else next((i for i, s in enumerate(sizes) if s.is_new), None)
        return [total if index == only else count for index, count in enumerate(wanted)]
    if total <= total_wanted <= total + surge:
        return wanted
    left = total
    for index in sorted(running, key=lambda index: -wanted[index]):
        wanted[index] = min(left, -(-wanted[index] * total // total_wanted))
        left -= wanted[index]
    return wanted

"""Whether a toleration covers a taint; no other module implements this rule."""

import re
from collections.abc import Iterable

from podium.api.affinity import Taint, Toleration
from podium.api.requirements import parse_int64

DO_NOT_SCHEDULE = ("NoSchedule", "NoExecute")
PREFER_NO_SCHEDULE = ("PreferNoSchedule",)

_CANONICAL_INTEGER = re.compile("0|-?[1-9][0-9]*")


def tolerates(toleration: Toleration, taint: Taint, comparison_operators: bool = False) -> bool:
    """Whether this toleration covers this taint; ``Lt`` and ``Gt`` count only when enabled."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Lt" | "Gt":
            return comparison_operators and _compares(toleration, taint)
    return False


def _compares(toleration: Toleration, taint: Taint) -> bool:
    wanted, actual = _integer(toleration.value), _integer(taint.value)
    if wanted is None or actual is None:
        return False
    return actual > wanted if toleration.operator == "Gt" else actual < wanted


def _integer(text: str) -> int | None:
    return parse_int64(text) if _CANONICAL_INTEGER.fullmatch(text) else None


def find_untolerated(
    taints: Iterable[Taint],
    tolerations: Iterable[Toleration],
    effects: tuple[str, ...] = DO_NOT_SCHEDULE,
    comparison_operators: bool = False,
) -> Taint | None:
    """Return the node's first taint with one of these effects that no toleration covers."""
    tolerations = tuple(tolerations)
    for taint in taints:
        if taint.effect in effects and not any(
            tolerates(toleration, taint, comparison_operators) for toleration in tolerations
        ):
            return taint
    return None

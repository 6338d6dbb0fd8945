"""DefaultTolerationSeconds: pods stay on a lost node for five minutes."""

from __future__ import annotations

from podium.apiserver.admission import Reader
from podium.apiserver.statuses import Json

_SECONDS = 300
_KEYS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def add_default_tolerations(pod: Json, old: Json | None, reader: Reader) -> None:
    tolerations = pod.setdefault("spec", {}).get("tolerations") or []
    missing = [key for key in _KEYS if not any(_covers(one, key) for one in tolerations)]
    if missing:
        pod["spec"]["tolerations"] = [*tolerations, *map(_toleration, missing)]


def _covers(toleration: Json, key: str) -> bool:
    named = toleration.get("key") in (key, "", None)
    return named and toleration.get("effect") in ("NoExecute", "", None)


def _toleration(key: str) -> Json:
    return {
        "key": key,
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": _SECONDS,
    }

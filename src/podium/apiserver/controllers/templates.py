"""From a workload's template to a pod, and the hash that identifies a template."""

from __future__ import annotations

import hashlib

import msgspec

from podium.api import quantity
from podium.apiserver.controllers.owners import owner_reference
from podium.apiserver.statuses import Json

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_LENGTH = 10
BURST = 100  # pods created or deleted in one turn: about 50 ms in which nothing else runs


def pod_from(owner: Json, template: Json) -> Json:
    """Return a new pod of this owner, without a name."""
    given = template.get("metadata") or {}
    meta: Json = {name: dict(given[name]) for name in ("labels", "annotations") if given.get(name)}
    if given.get("finalizers"):
        meta["finalizers"] = list(given["finalizers"])
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            **meta,
            "namespace": owner["metadata"]["namespace"],
            "ownerReferences": [owner_reference(owner)],
        },
        "spec": copied(template.get("spec") or {}),
    }


def copied(value: Json) -> Json:
    """Return a deep copy of JSON; copy.deepcopy takes ten times as long."""
    found: Json = msgspec.json.decode(msgspec.json.encode(value))
    return found


def set_label(obj: Json, key: str, value: str) -> None:
    labels = obj.setdefault("metadata", {}).get("labels") or {}
    obj["metadata"]["labels"] = {**labels, key: value}


def hash_of(value: object, collisions: int = 0) -> str:
    """Return a short hash without vowels; ``collisions`` changes it for the same value."""
    encoded = msgspec.json.encode([value, collisions], order="deterministic")
    number = int.from_bytes(hashlib.sha256(encoded).digest()[:8], "big")
    letters = []
    for _ in range(_LENGTH):
        number, index = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[index])
    return "".join(letters)


def share_of(value: str | int, total: int, *, round_up: bool) -> int:
    """Return a percentage such as ``"25%"`` of a total, or the number itself."""
    if isinstance(value, int):
        return value
    text = value.strip()
    if not text.endswith("%") or not text[:-1].isdigit():
        return 0
    exact = int(text[:-1]) * total
    return -(-exact // 100) if round_up else exact // 100


def storage_of(spec: Json) -> int:
    """Return the storage that a claim requests, in nano units of a byte."""
    return quantity.parse(((spec.get("resources") or {}).get("requests") or {}).get("storage", 0))

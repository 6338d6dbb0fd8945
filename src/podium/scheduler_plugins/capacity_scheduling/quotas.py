"""ElasticQuota of scheduling.x-k8s.io/v1alpha1, and how much each namespace uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from podium import framework as fwk
from podium.api import quantity
from podium.api.objects import Pod
from podium.api.resources import amounts
from podium.errors import InvalidQuantity
from podium.logs import Logger

RESOURCE: Final = "elasticquotas.v1alpha1.scheduling.x-k8s.io"
# If a quota lists resources but not these, it allows none of them.
NATIVE: Final = ("cpu", "memory", "ephemeral-storage")

Amounts = Mapping[str, int]
"""Amounts by resource: cpu in thousandths, the rest in their units."""

NOTHING: Final[Amounts] = {}


def add(total: dict[str, int], more: Amounts, sign: int = 1) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, 0) + sign * amount


def summed(parts: Iterable[Amounts]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        add(total, part)
    return total


def request_of(pod: Pod) -> dict[str, int]:
    """Return what counts for a pod: its containers, or its largest init container, and overhead."""
    total = summed(_nanos(each.resources.requests) for each in pod.spec.containers)
    for each in pod.spec.init_containers:
        for name, amount in _nanos(each.resources.requests).items():
            total[name] = max(total.get(name, 0), amount)
    add(total, _nanos(pod.spec.overhead))
    return amounts(total)


def _nanos(listed: Mapping[str, Any] | None) -> dict[str, int]:
    return {name: quantity.parse(text) for name, text in (listed or {}).items()}


@dataclass(frozen=True, slots=True)
class Quota:
    """The resources that a namespace is promised, and the most it may use; ``None`` is no limit."""

    min: Amounts
    max: Amounts | None

    def is_over_max(self, used: Amounts, more: Amounts) -> bool:
        """Return whether this would be too much.

        Resources with a name of their own that ``max`` does not list are not limited.
        """
        if self.max is None:
            return False
        names = {*NATIVE, *(more.keys() & self.max.keys())}
        return _exceeds(names, used, more, self.max)

    def is_over_min(self, used: Amounts, more: Amounts | None = None) -> bool:
        """Return whether this is, or with ``more`` would be, more than is promised."""
        if more is None:
            return _exceeds({*NATIVE, *used}, used, NOTHING, self.min)
        return _exceeds({*NATIVE, *more}, used, more, self.min)


def _exceeds(names: Iterable[str], used: Amounts, more: Amounts, limit: Amounts) -> bool:
    return any(used.get(name, 0) + more.get(name, 0) > limit.get(name, 0) for name in names)


class Quotas:
    """The oldest quota of each namespace. Every version of an object is read once."""

    def __init__(self, lister: fwk.Lister, log: Logger) -> None:
        self._lister = lister
        self._log = log
        self._read: dict[str, tuple[Mapping[str, Any], Quota | None]] = {}

    def by_namespace(self) -> dict[str, Quota]:
        read: dict[str, tuple[Mapping[str, Any], Quota | None]] = {}
        for obj in sorted(self._lister, key=_age):
            uid = obj["metadata"].get("uid", "")
            known = self._read.get(uid)
            read[uid] = known if known is not None and known[0] is obj else (obj, self._quota(obj))
        self._read = read
        found: dict[str, Quota] = {}
        for obj, quota in read.values():
            if quota is not None:
                found.setdefault(obj["metadata"].get("namespace", ""), quota)
        return found

    def _quota(self, obj: Mapping[str, Any]) -> Quota | None:
        spec, meta = obj.get("spec") or {}, obj["metadata"]
        try:
            limit = spec.get("max")
            return Quota(
                amounts(_nanos(spec.get("min"))), None if limit is None else amounts(_nanos(limit))
            )
        except InvalidQuantity as fault:
            key = f"{meta.get('namespace')}/{meta['name']}"
            self._log.warning("ignored an ElasticQuota", quota=key, why=str(fault))
            return None


def _age(obj: Mapping[str, Any]) -> tuple[str, str]:
    return obj["metadata"].get("creationTimestamp") or "", obj["metadata"]["name"]


class Usage:
    """The requests of pods with a node, or on their way to one, by namespace.

    ``_held`` has each pod that counts, with its namespace and amounts: ``used`` is always their
    sum. ``_bound`` are those that the watch shows on a node: only the watch takes them off again. A
    deleted pod counts no longer, as its room on the node is free at once, too.
    """

    def __init__(self) -> None:
        self.used: dict[str, dict[str, int]] = {}
        self._held: dict[str, tuple[str, Amounts]] = {}  # by uid
        self._bound: set[str] = set()

    def on_pod(self, old: Pod | None, new: Pod | None) -> None:
        """Take over a change that the watch shows."""
        if new is not None and new.node_name:
            self._bound.add(new.uid)
            self._hold(new)
        elif old is not None and new is None:  # also while its binding is on the way
            self._bound.discard(old.uid)
            self._release(old.uid)

    def reserve(self, pod: Pod) -> None:
        self._hold(pod)

    def unreserve(self, pod: Pod) -> None:
        if pod.uid not in self._bound:
            self._release(pod.uid)

    def _hold(self, pod: Pod) -> None:
        self._release(pod.uid)
        request = request_of(pod)
        self._held[pod.uid] = pod.namespace, request
        add(self.used.setdefault(pod.namespace, {}), request)

    def _release(self, uid: str) -> None:
        namespace, request = self._held.pop(uid, ("", NOTHING))
        if request:
            add(self.used[namespace], request, -1)

    def of(self, namespace: str) -> Amounts:
        return self.used.get(namespace, NOTHING)

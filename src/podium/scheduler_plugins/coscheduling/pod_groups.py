"""PodGroup of scheduling.x-k8s.io/v1alpha1, and which pods belong to one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from podium import framework as fwk
from podium.api.objects import Pod, parse_time
from podium.api.pod_groups import coscheduling_group_key
from podium.errors import InvalidTime

RESOURCE: Final = "podgroups.v1alpha1.scheduling.x-k8s.io"


@dataclass(frozen=True, slots=True)
class PodGroup:
    """The spec of a PodGroup. ``created`` is in seconds; a timeout of 0 counts as none."""

    name: str
    min_member: int
    min_resources: Mapping[str, str | int | float] | None
    timeout: float
    created: float

    @classmethod
    def of(cls, obj: Mapping[str, Any]) -> PodGroup:
        """Read an object as the API server has it."""
        metadata, spec = obj["metadata"], obj.get("spec") or {}
        return cls(
            metadata["name"],
            int(spec.get("minMember") or 0),
            spec.get("minResources"),
            float(spec.get("scheduleTimeoutSeconds") or 0),
            _seconds(metadata.get("creationTimestamp") or ""),
        )


def _seconds(text: str) -> float:
    try:
        return parse_time(text) / 1e9 if text else 0.0
    except InvalidTime:
        return 0.0


class PodGroups:
    """The groups by key. Each version of an object is decoded once."""

    def __init__(self, lister: fwk.Lister) -> None:
        self._lister = lister
        self._read: dict[str, tuple[Mapping[str, Any], PodGroup]] = {}

    def get(self, key: str) -> PodGroup | None:
        obj = self._lister.get(key)
        if obj is None:
            self._read.pop(key, None)
            return None
        known = self._read.get(key)
        if known is None or known[0] is not obj:
            known = self._read[key] = obj, PodGroup.of(obj)
        return known[1]


class Members:
    """The pods of each group, pending or placed, as the watch shows them.

    ``_by_group`` has every known pod with the label, under the group that it names now. The two
    counts are of those pods: they spare a look at all pods of a group for each of them.
    """

    def __init__(self) -> None:
        self._by_group: dict[str, dict[str, Pod]] = {}  # by uid
        self._gated: Counter[str] = Counter()
        self._bound: Counter[str] = Counter()

    def on_pod(self, old: Pod | None, new: Pod | None) -> None:
        """Take over a change of a pod."""
        before = coscheduling_group_key(old) if old is not None else ""
        key = coscheduling_group_key(new) if new is not None else ""
        if old is not None and before and before != key:
            self._remove(before, old.uid)
        if new is not None and key:
            known = self._by_group.setdefault(key, {})
            if new.uid in known:
                self._count(key, known[new.uid], -1)
            known[new.uid] = new
            self._count(key, new, 1)

    def _remove(self, key: str, uid: str) -> None:
        known = self._by_group.get(key, {})
        if uid in known:
            self._count(key, known.pop(uid), -1)
            if not known:
                for each in (self._by_group, self._gated, self._bound):
                    del each[key]

    def _count(self, key: str, pod: Pod, sign: int) -> None:
        self._gated[key] += sign * bool(pod.spec.scheduling_gates)
        self._bound[key] += sign * bool(pod.node_name)

    def of(self, key: str) -> Collection[Pod]:
        """Return the members of a group; a view, which changes with the group."""
        return self._by_group.get(key, {}).values()

    def gated(self, key: str) -> int:
        """Return how many members are gated."""
        return self._gated[key]

    def bound(self, key: str) -> int:
        """Return how many members have a node for good."""
        return self._bound[key]

"""Pods that wait for an event, including gated ones, indexed by the plugins that rejected them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from podium.api.objects import Pod
from podium.framework.queued_pod import QueuedPod

Rejector = tuple[str, str]  # profile, plugin
HeldBy = Callable[[Rejector], Collection[str] | None]
"""Returns the uids of the pods that a gating plugin holds back now; None if it cannot tell."""

Subjects = Mapping[Rejector, Collection[str]]
"""What a change is about, by plugin. A plugin that is not in it is asked about all its pods."""

SubjectsOf = Callable[[Rejector, Pod], Collection[str]]
"""Returns the subjects that concern a pod that a plugin rejected."""


class _Entry(NamedTuple):
    """A pod and what it is indexed under; the pod itself may change before it is indexed again."""

    arrival: int
    queued: QueuedPod
    uid: str
    rejectors: frozenset[Rejector]
    is_gated: bool
    subjects: frozenset[tuple[Rejector, str]]


NO_SUBJECTS: Subjects = {}


def _no_subjects(rejector: Rejector, pod: Pod) -> Collection[str]:
    return ()


class UnschedulablePods:
    """Unschedulable pods by key, in the order in which they entered.

    Invariants: every entry has at least one rejector. It is listed in ``_by_rejector`` under each
    of them; a gated one is listed in ``_by_gate`` instead, under its gate, because no other event
    reaches it. It is also listed in ``_by_subject``, gated or not, under the subjects that concern
    it. ``gated`` is the number of gated entries. Only ``put`` and ``remove`` write; call ``put``
    again whenever the pod, its rejectors or its gate changed.
    """

    def __init__(self, subjects_of: SubjectsOf = _no_subjects) -> None:
        self._subjects_of = subjects_of
        self._by_subject: dict[tuple[Rejector, str], dict[str, _Entry]] = {}
        self._entries: dict[str, _Entry] = {}
        self._by_rejector: dict[Rejector, dict[str, _Entry]] = {}
        self._by_gate: dict[Rejector, dict[str, _Entry]] = {}
        self._arrivals = itertools.count()
        self.gated = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[QueuedPod]:
        return (entry.queued for entry in self._entries.values())

    def get(self, key: str) -> QueuedPod | None:
        entry = self._entries.get(key)
        return entry.queued if entry else None

    def queue_of(self, key: str) -> str:
        """Return ``gated`` or ``unschedulable``; empty if the pod is not here."""
        queued = self.get(key)
        if queued is None:
            return ""
        return "gated" if queued.is_gated else "unschedulable"

    def put(self, queued: QueuedPod) -> bool:
        """Add the pod, or index it again after a change. Return whether it is new here."""
        before = self._unlist(queued.key)
        arrival = next(self._arrivals) if before is None else before.arrival
        rejectors = _rejectors(queued)
        subjects = frozenset(
            (rejector, subject)
            for rejector in rejectors
            for subject in self._subjects_of(rejector, queued.pod)
        )
        entry = _Entry(arrival, queued, queued.uid, rejectors, queued.is_gated, subjects)
        self._entries[queued.key] = entry
        for each in subjects:
            self._by_subject.setdefault(each, {})[queued.key] = entry
        index, key = self._place(entry)
        for rejector in entry.rejectors:
            index.setdefault(rejector, {})[key] = entry
        self.gated += entry.is_gated
        return before is None

    def _place(self, entry: _Entry) -> tuple[dict[Rejector, dict[str, _Entry]], str]:
        """Return the index that lists this entry, and the key that it has there."""
        if entry.is_gated:
            return self._by_gate, entry.uid
        return self._by_rejector, entry.queued.key

    def remove(self, key: str) -> QueuedPod | None:
        entry = self._unlist(key)
        if entry is None:
            return None
        del self._entries[key]
        return entry.queued

    def flush(self, now: float, limit: float) -> list[QueuedPod]:
        """Mark and return the pods for which no event came for longer than the limit."""
        stale = [q for q in self if now - max(q.timestamp, q.flushed_at) > limit]
        for queued in stale:
            queued.was_flushed, queued.flushed_at = True, now
        return stale

    def rejected_by(
        self,
        listeners: Mapping[str, Mapping[str, Any]],
        held: HeldBy,
        subjects: Subjects = NO_SUBJECTS,
    ) -> list[QueuedPod]:
        """Return the pods that one of these plugins rejected, in the order of their arrival.

        Of the pods that one of these plugins gates, those are returned that it, as far as it can
        tell, no longer holds back. For a plugin in ``subjects``, only the pods that one of its
        subjects concerns are returned, gated ones included.
        """
        found: dict[str, _Entry] = {}
        for profile, plugins in listeners.items():
            for plugin in plugins:
                about = subjects.get((profile, plugin))
                if about is not None:
                    for subject in about:
                        found.update(self._by_subject.get(((profile, plugin), subject), ()))
                    continue
                found.update(self._by_rejector.get((profile, plugin), ()))
                if gated := self._by_gate.get((profile, plugin)):
                    found.update(_without(gated, held((profile, plugin))))
        return [entry.queued for entry in sorted(found.values(), key=lambda e: e.arrival)]

    def _unlist(self, key: str) -> _Entry | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        index, its_key = self._place(entry)
        for rejector in entry.rejectors:
            pods = index[rejector]
            del pods[its_key]
            if not pods:
                del index[rejector]
        for subject in entry.subjects:
            pods = self._by_subject[subject]
            del pods[key]
            if not pods:
                del self._by_subject[subject]
        self.gated -= entry.is_gated
        return entry

    def check_invariants(self) -> None:
        listed = {
            (rejector, key): entry
            for index in (self._by_rejector, self._by_gate)
            for rejector, pods in index.items()
            for key, entry in pods.items()
        }
        for key, entry in self._entries.items():
            queued = entry.queued
            assert queued.key == key, f"{queued.key} is stored under {key}"
            assert entry.rejectors, f"{key} has no rejectors: no event would help it"
            assert entry.rejectors == _rejectors(queued), f"{key} is listed under other plugins"
            assert entry.is_gated == queued.is_gated, f"{key} is counted as gated wrongly"
            its_key = self._place(entry)[1]
            for rejector in entry.rejectors:
                assert listed.pop((rejector, its_key), None) is entry, f"{key} is not indexed"
        assert not listed, f"indexed, but not stored: {sorted(listed)}"
        found = {(subject, key) for subject, pods in self._by_subject.items() for key in pods}
        stored = {(each, key) for key, entry in self._entries.items() for each in entry.subjects}
        assert found == stored, "the index by subject is wrong"
        assert self.gated == sum(queued.is_gated for queued in self), "wrong count of gated pods"


def _rejectors(queued: QueuedPod) -> frozenset[Rejector]:
    """Return the plugins whose events reach the pod: its gate alone, if it has one."""
    profile = queued.pod.scheduler_name
    plugins = (queued.gating_plugin,) if queued.is_gated else queued.rejectors
    return frozenset((profile, plugin) for plugin in plugins)


def _without(gated: dict[str, _Entry], held: Collection[str] | None) -> dict[str, _Entry]:
    if held is None:
        return gated
    return {uid: gated[uid] for uid in gated.keys() - held}

"""Pods that wait for an event, including gated ones, indexed by the plugins that rejected them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

from podium.api.objects import Pod
from podium.framework.queued_pod import QueuedPod

Rejector = tuple[str, str]  # profile, plugin
# The uids of the pods that a gating plugin holds back now; None if it cannot tell.
HeldBy = Callable[[Rejector], Collection[str] | None]


# What a change is about, for the plugins that ask about some pods only.
Topics = Mapping[Rejector, Collection[str]]
TopicsOf = Callable[[Rejector, Pod], Collection[str]]


class _Entry(NamedTuple):
    """A pod and what it is indexed under; the pod itself may change before it is indexed again."""

    arrival: int
    queued: QueuedPod
    rejectors: frozenset[Rejector]
    is_gated: bool
    topics: frozenset[tuple[Rejector, str]]


NO_TOPICS: Topics = {}


def _no_topics(rejector: Rejector, pod: Pod) -> Collection[str]:
    return ()


class UnschedulablePods:
    """Unschedulable pods by key, in the order in which they entered.

    Invariants: every entry has at least one rejector. It is listed in ``_by_rejector`` under each
    of them; a gated one is listed in ``_by_gate`` instead, under its gate, because no other event
    reaches it. It is also listed in ``_by_topic`` under what concerns it. ``gated`` is the number
    of gated entries. Only ``put`` and ``remove`` write; call ``put`` again whenever the pod, its
    rejectors or its gate changed.
    """

    def __init__(self, topics_of: TopicsOf = _no_topics) -> None:
        self._topics_of = topics_of
        self._by_topic: dict[tuple[Rejector, str], dict[str, _Entry]] = {}
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

    def put(self, queued: QueuedPod) -> bool:
        """Add the pod, or index it again after a change. Return whether it is new here."""
        before = self._unlist(queued.key)
        arrival = next(self._arrivals) if before is None else before.arrival
        rejectors = _rejectors(queued)
        topics = frozenset(
            (rejector, topic)
            for rejector in rejectors
            for topic in self._topics_of(rejector, queued.pod)
        )
        entry = _Entry(arrival, queued, rejectors, queued.is_gated, topics)
        self._entries[queued.key] = entry
        for each in topics:
            self._by_topic.setdefault(each, {})[queued.key] = entry
        index, key = self._place(entry)
        for rejector in entry.rejectors:
            index.setdefault(rejector, {})[key] = entry
        self.gated += entry.is_gated
        return before is None

    def _place(self, entry: _Entry) -> tuple[dict[Rejector, dict[str, _Entry]], str]:
        """Return the index that lists this entry, and the key that it has there."""
        if entry.is_gated:
            return self._by_gate, entry.queued.uid
        return self._by_rejector, entry.queued.key

    def remove(self, key: str) -> QueuedPod | None:
        entry = self._unlist(key)
        if entry is None:
            return None
        del self._entries[key]
        return entry.queued

    def rejected_by(
        self, listeners: Mapping[str, Mapping[str, Any]], held: HeldBy, topics: Topics = NO_TOPICS
    ) -> list[QueuedPod]:
        """Return the pods that one of these plugins rejected, in the order of their arrival.

        Gated ones are those that one of these plugins gates and, as far as it can tell, no longer
        holds back. Of plugins in ``topics``, those that the topics concern.
        """
        found: dict[str, _Entry] = {}
        for profile, plugins in listeners.items():
            for plugin in plugins:
                about = topics.get((profile, plugin))
                if about is not None:
                    for topic in about:
                        found.update(self._by_topic.get(((profile, plugin), topic), ()))
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
        for topic in entry.topics:
            pods = self._by_topic[topic]
            del pods[key]
            if not pods:
                del self._by_topic[topic]
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
            assert queued.rejectors, f"{key} has no rejectors: no event would help it"
            assert entry.rejectors == _rejectors(queued), f"{key} is listed under other plugins"
            assert entry.is_gated == queued.is_gated, f"{key} is counted as gated wrongly"
            its_key = self._place(entry)[1]
            for rejector in entry.rejectors:
                assert listed.pop((rejector, its_key), None) is entry, f"{key} is not indexed"
        assert not listed, f"indexed, but not stored: {sorted(listed)}"
        topics = {(topic, key) for topic, pods in self._by_topic.items() for key in pods}
        stored = {(t, key) for key, entry in self._entries.items() for t in entry.topics}
        assert topics == stored, "the index by topic is wrong"
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

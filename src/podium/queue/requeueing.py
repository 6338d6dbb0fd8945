"""Decides whether a change is worth another attempt of a rejected pod, by asking its rejectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from enum import Enum
from time import perf_counter

from podium.api.objects import Pod
from podium.framework.calls import FAULTS
from podium.framework.events import ClusterEvent, Hint, Topic
from podium.framework.queued_pod import QueuedPod
from podium.logs import get_logger
from podium.queue.in_flight import ClusterChange
from podium.queue.observation import QueueObserver
from podium.queue.rules import Hints, ProfileRules
from podium.queue.unschedulable import Rejector, Subjects

log = get_logger(__name__)

Listeners = Mapping[str, Mapping[str, Hints]]  # by profile and plugin

_UNKNOWN_SUBJECT = ""  # a pod is listed under it if the plugin failed to name its subjects


class Strategy(Enum):
    SKIP = "stay"
    AFTER_BACKOFF = "after backoff"
    IMMEDIATELY = "immediately"


class Requeueing:
    """Asks the queueing hints of all profiles. Which plugin listens to which event is cached."""

    def __init__(self, profiles: Mapping[str, ProfileRules], observer: QueueObserver) -> None:
        self._profiles = profiles
        self._observer = observer
        self._known: dict[ClusterEvent, Listeners] = {}
        self._known_topics: dict[ClusterEvent, Mapping[Rejector, tuple[Topic, ...]]] = {}

    def listeners(self, event: ClusterEvent) -> Listeners:
        """Return, by profile, the plugins that registered this event, with their hints."""
        found = self._known.get(event)
        if found is None:
            by_profile = ((name, rules.listeners(event)) for name, rules in self._profiles.items())
            found = self._known[event] = {name: plugins for name, plugins in by_profile if plugins}
        return found

    def subjects_of(self, rejector: Rejector, pod: Pod) -> Collection[str]:
        """Return the subjects that concern a pod that this plugin rejected."""
        profile, plugin = rejector
        rules = self._profiles.get(profile)
        try:
            return () if rules is None else rules.subjects_of(plugin, pod)
        except FAULTS:
            log.error(
                "plugin cannot name the subjects of a pod; it is asked about every change",
                plugin=plugin,
                pod=pod.key,
            )
            return (_UNKNOWN_SUBJECT,)

    def subjects(self, change: ClusterChange) -> Subjects:
        """Return the subjects of a change, by plugin.

        A plugin that is not in it is asked about all its pods.
        """
        found: dict[Rejector, set[str]] = {}
        for rejector, topics in self._topics(change.event).items():
            subjects = self._subjects(rejector, topics, change)
            if subjects is not None:
                found[rejector] = subjects
        return found

    def _subjects(
        self, rejector: Rejector, topics: tuple[Topic, ...], change: ClusterChange
    ) -> set[str] | None:
        """Return the subjects of a change; ``None`` if all pods of the plugin are asked about."""
        found = {_UNKNOWN_SUBJECT}
        try:
            for topic in topics:
                about = topic.of_change(change.old, change.new)
                if about is None:
                    return None
                found.update(about)
        except FAULTS:
            log.error(
                "plugin cannot name the subjects of a change; it is asked about all its pods",
                plugin=rejector[1],
                event=change.label,
            )
            return None
        return found

    def _topics(self, event: ClusterEvent) -> Mapping[Rejector, tuple[Topic, ...]]:
        found = self._known_topics.get(event)
        if found is None:
            found = self._known_topics[event] = {
                (profile, plugin): topics
                for profile, rules in self._profiles.items()
                for plugin, topics in rules.topics(event).items()
            }
        return found

    def strategy(self, queued: QueuedPod, change: ClusterChange) -> Strategy:
        """Return where this change moves the pod."""
        moves = self.moves((queued,), change)
        return moves[0][1] if moves else Strategy.SKIP

    def moves(
        self, pods: Collection[QueuedPod], change: ClusterChange
    ) -> list[tuple[QueuedPod, Strategy]]:
        """Return where this change moves these pods, without those that stay.

        Each plugin is asked about all pods that it rejected at once: in a large queue the answers
        cost less than a call and a measurement for each.
        """
        if change.event.is_wildcard:
            chosen = {
                queued.key: Strategy.AFTER_BACKOFF
                for queued in pods
                if not queued.rejectors or _is_for(change, queued)
            }
        else:
            chosen = self._ask(pods, change)
        if not chosen:  # as after most events
            return []
        return [(queued, chosen[queued.key]) for queued in pods if queued.key in chosen]

    def replay(self, queued: QueuedPod, changes: list[ClusterChange] | None) -> Strategy:
        """Return where the changes during its attempt move the pod."""
        if not queued.rejectors or changes is None:
            return Strategy.AFTER_BACKOFF
        best = Strategy.SKIP
        for change in changes:
            found = self.strategy(queued, change)
            if found is Strategy.SKIP:
                continue
            best = found
            if not _can_improve(queued, best):
                break
        return best

    def _ask(self, pods: Collection[QueuedPod], change: ClusterChange) -> dict[str, Strategy]:
        """Return, by key, where hints move these pods; one without rejectors needs none."""
        chosen: dict[str, Strategy] = {}
        rejected: defaultdict[Rejector, list[QueuedPod]] = defaultdict(list)
        for queued in pods:
            profile, rejectors = queued.info.pod.scheduler_name, queued.rejectors
            for plugin in rejectors:
                rejected[profile, plugin].append(queued)
            if not rejectors:
                chosen[queued.key] = Strategy.AFTER_BACKOFF
        for profile, plugins in self.listeners(change.event).items():
            for plugin, hints in plugins.items():
                if own := rejected.get((profile, plugin)):
                    left = own
                    if chosen:
                        left = [q for q in own if _can_improve(q, chosen.get(q.key))]
                    for queued in self._helped(plugin, hints, left, change):
                        chosen[queued.key] = _strategy(plugin, queued)
        return chosen

    def _helped(
        self, plugin: str, hints: Hints, pods: list[QueuedPod], change: ClusterChange
    ) -> set[QueuedPod]:
        """Return the pods for which one of the plugin's hints says yes, or raises."""
        helped: set[QueuedPod] = set()
        for hint in hints:
            left = [queued for queued in pods if queued not in helped] if helped else pods
            if left:
                helped.update(self._answers(plugin, hint, left, change))
        return helped

    def _answers(
        self, plugin: str, hint: Hint, pods: list[QueuedPod], change: ClusterChange
    ) -> list[QueuedPod]:
        old, new, label = change.old, change.new, change.label
        helped, faults = [], 0
        start = perf_counter()
        for queued in pods:
            try:
                if hint(queued.info.pod, old, new):
                    helped.append(queued)
            except FAULTS:
                log.error("queueing hint raised", plugin=plugin, event=label, pod=queued.key)
                helped.append(queued)
                faults += 1
        seconds = (perf_counter() - start) / len(pods)
        yes, no = len(helped) - faults, len(pods) - len(helped)
        for answer, count in (("Queue", yes), ("QueueSkip", no), ("Error", faults)):
            if count:
                self._observer.hints(plugin, label, answer, count, seconds)
        return helped


def _can_improve(queued: QueuedPod, strategy: Strategy | None) -> bool:
    """Whether another answer can still move the pod sooner; None if no answer moves it yet."""
    # Only a pending plugin can still turn "after backoff" into "immediately".
    return strategy is None or (strategy is Strategy.AFTER_BACKOFF and bool(queued.pending_plugins))


def _strategy(plugin: str, queued: QueuedPod) -> Strategy:
    is_pending = plugin in queued.pending_plugins
    return Strategy.IMMEDIATELY if is_pending else Strategy.AFTER_BACKOFF


def _is_for(change: ClusterChange, queued: QueuedPod) -> bool:
    """Whether a wildcard event, which no hint judges, is for this pod: it names one pod or none."""
    target = change.new
    return target is None or (isinstance(target, Pod) and target.uid == queued.uid)

"""Decides whether a change is worth another attempt of a rejected pod, by asking its rejectors."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from time import perf_counter

from podium.api.objects import Pod
from podium.framework.calls import FAULTS
from podium.framework.events import ClusterEvent, Hint
from podium.framework.queued_pod import QueuedPod
from podium.logs import get_logger
from podium.queue.in_flight import ClusterChange
from podium.queue.observation import QueueObserver
from podium.queue.rules import Hints, ProfileRules

log = get_logger(__name__)

Listeners = Mapping[str, Mapping[str, Hints]]  # by profile and plugin
_NO_LISTENERS: Mapping[str, Hints] = {}


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

    def listeners(self, event: ClusterEvent) -> Listeners:
        """Return, by profile, the plugins that registered this event, with their hints."""
        found = self._known.get(event)
        if found is None:
            by_profile = ((name, rules.listeners(event)) for name, rules in self._profiles.items())
            found = self._known[event] = {name: plugins for name, plugins in by_profile if plugins}
        return found

    def gates(self) -> dict[str, str]:
        """Return, by uid, which plugin holds a pod back now, as far as the plugins can tell."""
        return {
            uid: plugin
            for profile, rules in self._profiles.items()
            for plugin in rules.held
            for uid in self.held((profile, plugin)) or ()
        }

    def held(self, gate: tuple[str, str]) -> Collection[str] | None:
        """Return the pods that a plugin of a profile holds back; None if it cannot tell."""
        profile, plugin = gate
        held = self._profiles[profile].held.get(plugin)
        if held is None:
            return None
        try:
            return held()
        except FAULTS:
            log.error("PreEnqueue plugin cannot tell which pods it holds back", plugin=plugin)
            return None

    def reaches(self, queued: QueuedPod, event: ClusterEvent) -> bool:
        """Whether the event can affect the pod; a gated pod needs one that its gate registered."""
        if not queued.is_gated or event.is_wildcard:
            return True
        listeners = self.listeners(event).get(queued.pod.scheduler_name, _NO_LISTENERS)
        return queued.gating_plugin in listeners

    def strategy(self, queued: QueuedPod, change: ClusterChange) -> Strategy:
        """Return where this change moves the pod."""
        if not queued.rejectors:
            return Strategy.AFTER_BACKOFF
        if change.event.is_wildcard:
            return Strategy.AFTER_BACKOFF if _is_for(change, queued) else Strategy.SKIP
        return self._ask(queued, change)

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
            # Only a pending plugin can still turn "after backoff" into "immediately".
            if found is Strategy.IMMEDIATELY or not queued.pending_plugins:
                break
        return best

    def _ask(self, queued: QueuedPod, change: ClusterChange) -> Strategy:
        best, rejectors = Strategy.SKIP, queued.rejectors
        plugins = self.listeners(change.event).get(queued.pod.scheduler_name, _NO_LISTENERS)
        for plugin, hints in plugins.items():
            if plugin not in rejectors:
                continue
            if not any(self._helps(plugin, hint, queued, change) for hint in hints):
                continue
            if plugin in queued.pending_plugins:
                return Strategy.IMMEDIATELY
            best = Strategy.AFTER_BACKOFF
            if not queued.pending_plugins:
                break
        return best

    def _helps(self, plugin: str, hint: Hint, queued: QueuedPod, change: ClusterChange) -> bool:
        start = perf_counter()
        try:
            answer = "Queue" if hint(queued.pod, change.old, change.new) else "QueueSkip"
        except FAULTS:
            log.error("queueing hint raised", plugin=plugin, event=change.label, pod=queued.key)
            answer = "Error"
        self._observer.hint(plugin, change.label, answer, perf_counter() - start)
        return answer != "QueueSkip"


def _is_for(change: ClusterChange, queued: QueuedPod) -> bool:
    """Whether a wildcard event, which no hint judges, is for this pod: it names one pod or none."""
    target = change.new
    return target is None or (isinstance(target, Pod) and target.uid == queued.uid)

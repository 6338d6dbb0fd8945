"""Whether an event is worth another try of a rejected pod: the plugins that rejected it decide."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from time import perf_counter

from podium.api.objects import Pod
from podium.framework.events import ClusterEvent, Hint
from podium.framework.queued_pod import QueuedPod
from podium.logs import get_logger
from podium.queue.in_flight import Happening
from podium.queue.observer import QueueObserver
from podium.queue.rules import Hints, ProfileRules

log = get_logger(__name__)

Listeners = Mapping[str, Mapping[str, Hints]]  # by profile and plugin
_NOBODY: Mapping[str, Hints] = {}


class Strategy(Enum):
    SKIP = "stay"
    AFTER_BACKOFF = "after backoff"
    IMMEDIATELY = "immediately"


class Requeueing:
    """The events of all profiles, and the question to their hints."""

    def __init__(self, profiles: Mapping[str, ProfileRules], observer: QueueObserver) -> None:
        self._profiles = profiles
        self._observer = observer
        self._known: dict[ClusterEvent, Listeners] = {}

    def listeners(self, event: ClusterEvent) -> Listeners:
        """Who wants to hear of this event; profiles without anyone are left out."""
        found = self._known.get(event)
        if found is None:
            asked = ((name, rules.listeners(event)) for name, rules in self._profiles.items())
            found = self._known[event] = {name: plugins for name, plugins in asked if plugins}
        return found

    def may_open(self, queued: QueuedPod, event: ClusterEvent) -> bool:
        """A gated pod is left alone by events that its gating plugin did not register."""
        if not queued.is_gated or event.is_wildcard:
            return True
        listeners = self.listeners(event).get(queued.pod.scheduler_name, _NOBODY)
        return queued.gating_plugin in listeners

    def strategy(self, queued: QueuedPod, happening: Happening) -> Strategy:
        """What this event means for this pod."""
        if not queued.rejectors:
            return Strategy.AFTER_BACKOFF
        if happening.event.is_wildcard:
            return _meant(queued, happening)
        return self._ask(queued, happening)

    def replay(self, queued: QueuedPod, happenings: list[Happening] | None) -> Strategy:
        """What all that happened during its attempt means for this pod."""
        if not queued.rejectors or happenings is None:
            return Strategy.AFTER_BACKOFF
        best = Strategy.SKIP
        for happening in happenings:
            found = self.strategy(queued, happening)
            if found is Strategy.SKIP:
                continue
            best = found
            # Only a pending plugin can still turn "after backoff" into "immediately".
            if found is Strategy.IMMEDIATELY or not queued.pending_plugins:
                break
        return best

    def _ask(self, queued: QueuedPod, happening: Happening) -> Strategy:
        best, rejectors = Strategy.SKIP, queued.rejectors
        plugins = self.listeners(happening.event).get(queued.pod.scheduler_name, _NOBODY)
        for plugin, hints in plugins.items():
            if plugin not in rejectors or not self._any(plugin, hints, queued, happening):
                continue
            if plugin in queued.pending_plugins:
                return Strategy.IMMEDIATELY
            best = Strategy.AFTER_BACKOFF
            if not queued.pending_plugins:
                break
        return best

    def _any(self, plugin: str, hints: Hints, queued: QueuedPod, happening: Happening) -> bool:
        return any(self._helps(plugin, hint, queued, happening) for hint in hints)

    def _helps(self, plugin: str, hint: Hint, queued: QueuedPod, happening: Happening) -> bool:
        start = perf_counter()
        try:
            answer = "Queue" if hint(queued.pod, happening.old, happening.new) else "QueueSkip"
        except Exception:
            log.error("hint failed", plugin=plugin, event=happening.label, pod=queued.key)
            answer = "Error"
        self._observer.hint(plugin, happening.label, answer, perf_counter() - start)
        return answer != "QueueSkip"


def _meant(queued: QueuedPod, happening: Happening) -> Strategy:
    """An event without a plugin behind it is for one pod, or for all."""
    whom = happening.new
    is_meant = whom is None or (isinstance(whom, Pod) and whom.uid == queued.uid)
    return Strategy.AFTER_BACKOFF if is_meant else Strategy.SKIP

"""Decides whether a pod may become active, by asking the PreEnqueue plugins of its profile."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from time import perf_counter

from podium.framework.calls import FAULTS
from podium.framework.queued_pod import QueuedPod
from podium.framework.status import Code
from podium.logs import get_logger
from podium.queue.observation import QueueObserver
from podium.queue.rules import ProfileRules
from podium.queue.unschedulable import Rejector

log = get_logger(__name__)


class Gating:
    """Asks PreEnqueue of all profiles. A pod that a plugin refuses is gated by that plugin."""

    def __init__(self, profiles: Mapping[str, ProfileRules], observer: QueueObserver) -> None:
        self._profiles = profiles
        self._observer = observer

    def refusing_plugin(self, queued: QueuedPod) -> str:
        """Return the plugin that refuses the pod. If none does, the pod is no longer gated."""
        profile = queued.pod.scheduler_name
        rules = self._profiles.get(profile)
        if rules is None:
            return ""  # the main loop reports it when the pod is popped
        start = perf_counter()
        status = rules.pre_enqueue(queued.pod, queued.gating_plugin)
        self._observer.point(profile, "PreEnqueue", "Success", perf_counter() - start)
        if status.ok:
            queued.gating_plugin = ""
            return ""
        if status.code is Code.ERROR:
            log.warning(
                "a preenqueue plugin failed", pod=queued.key, plugin=status.plugin, why=str(status)
            )
        return status.plugin

    def gates(self) -> dict[str, str]:
        """Return, by uid, which plugin holds a pod back now, as far as the plugins can tell."""
        return {
            uid: plugin
            for profile, rules in self._profiles.items()
            for plugin in rules.held
            for uid in self.held((profile, plugin)) or ()
        }

    def held(self, gate: Rejector) -> Collection[str] | None:
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

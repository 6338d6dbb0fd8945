"""Other plugins for a running scheduler, between two cycles: what `podium up --watch` does on save.

Pods in flight finish under the old plugins; pods that the old ones rejected are tried again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from podium.app.core import Core
from podium.app.profiles import DraftProfiles
from podium.client.resources import resource_of
from podium.config.model import Configuration
from podium.errors import PluginError
from podium.framework.declared_kinds import registrations_of
from podium.framework.plugin import close
from podium.framework.profile import Profile
from podium.framework.registry import Registry
from podium.live.gate import Gate
from podium.live.tasks import Tasks
from podium.live.watching import Watching, check
from podium.queue.rules import ProfileRules
from podium.queue.scheduling_queue import SchedulingQueue

Rules = Mapping[str, ProfileRules]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """The parts of a running scheduler that know plugins."""

    core: Core
    gate: Gate
    queue: SchedulingQueue
    watching: Watching
    bindings: Tasks

    def __call__(self, configuration: Configuration, registry: Registry) -> None:
        """Take these plugins; what is raised leaves everything as it was."""
        names = {each.scheduler_name for each in configuration.profiles}
        if names != self.core.profiles.keys():
            raise PluginError("the profiles have other names now: start the scheduler anew")
        draft = self.core.builder.draft(configuration, registry)
        try:
            rules = rules_of(draft.profiles, has_extenders=bool(self.core.services.extenders))
            kinds = [*watched(draft.profiles, rules), *self.core.services.listed]
            check(kinds)
        except BaseException:
            self.core.builder.discard(draft)
            raise
        self.gate.pass_through(self._swap, draft, rules, kinds)

    def _swap(self, draft: DraftProfiles, rules: Rules, kinds: Iterable[str]) -> None:
        left = self.core.adopt(draft)
        self.queue.use(rules)
        self.watching.follow(kinds)
        self.bindings.after_these(lambda: close(left, "old"))


def rules_of(profiles: Mapping[str, Profile], *, has_extenders: bool) -> Rules:
    """What the queue must know of each profile."""
    return {
        name: ProfileRules.of(profile, has_extenders=has_extenders)
        for name, profile in profiles.items()
    }


def watched(profiles: Mapping[str, Profile], rules: Rules) -> Iterable[str]:
    """Return the names of the kinds that the plugins declare and that the queue waits for."""
    plugins = {
        id(plugin): plugin
        for profile in profiles.values()
        for at_point in profile.plugins.values()
        for plugin in at_point
    }.values()
    read = (resource_of(kind).event_name for plugin in plugins for kind in plugin.watches)
    registered = (each.event for plugin in plugins for each in registrations_of(plugin))
    awaited = (event for each in rules.values() for event in each.events())
    return dict.fromkeys((*read, *(event.resource for event in (*registered, *awaited))))

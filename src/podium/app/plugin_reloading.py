"""Other plugins for a running scheduler: what `podium up --watch` does when a file is saved.

Pods in flight finish under the old plugins; pods that the old ones rejected are tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from podium.api.objects import Pod
from podium.app.core import Core
from podium.app.plugin_loading import OPTION, Source
from podium.app.profiles import DraftProfiles, report_unsigned
from podium.client.resources import resource_of
from podium.clock import Clock, sleep
from podium.config.model import Configuration
from podium.cycle.services import Services
from podium.errors import PluginError, PodiumError
from podium.framework.declared_kinds import registrations_of
from podium.framework.event_rules import EventRules, event_rules
from podium.framework.handle import EventNote, EventRecorder
from podium.framework.plugin import close
from podium.framework.profile import Profile
from podium.framework.registry import Registry
from podium.framework.status import Code, Status, text_of
from podium.live.gate import Gate
from podium.live.tasks import Tasks
from podium.live.watching import Watching, check
from podium.logs import get_logger
from podium.queue.rules import PreEnqueue, ProfileRules
from podium.queue.scheduling_queue import SchedulingQueue

log = get_logger(__name__)

Rules = Mapping[str, ProfileRules]
# What saving a file changes; None for a file that does not exist.
Stamp = tuple[int, int, int] | None

POLL_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """Exchanges the plugins of a running scheduler, between two cycles."""

    core: Core
    gate: Gate
    queue: SchedulingQueue
    watching: Watching
    bindings: Tasks

    def __call__(self, configuration: Configuration, registry: Registry) -> None:
        """Use these plugins from now on; if this raises, nothing has changed."""
        names = {each.scheduler_name for each in configuration.profiles}
        if names != self.core.profiles.keys():
            raise PluginError("the names of the profiles have changed: restart the scheduler")
        draft = self.core.builder.draft(configuration, registry)
        try:
            rules = rules_of(draft.profiles, self.core.services, event_rules(registry.release))
            kinds = [*watched(draft.profiles, rules), *self.core.services.listed]
            check(kinds)
        except BaseException:
            self.core.builder.discard(draft)
            raise
        self.gate.pass_through(self._swap, draft, rules, kinds)

    def _swap(self, draft: DraftProfiles, rules: Rules, kinds: Iterable[str]) -> None:
        left = self.core.adopt(draft)
        report_unsigned(draft.profiles.values())
        self.queue.use(rules)
        self.watching.watch(kinds)
        self.bindings.after_these(lambda: close(left, "old"))


def rules_of(profiles: Mapping[str, Profile], services: Services, events: EventRules) -> Rules:
    """Return what the queue must know of each profile."""
    found: dict[str, ProfileRules] = {}
    for name, profile in profiles.items():
        rules = ProfileRules.of(profile, events, has_extenders=bool(services.extenders))
        if profile.has_outside_plugins:
            pre_enqueue = _reporting(rules.pre_enqueue, services.events[name])
            rules = replace(rules, pre_enqueue=pre_enqueue)
        found[name] = rules
    return found


def _reporting(pre_enqueue: PreEnqueue, events: EventRecorder) -> PreEnqueue:
    """Record an event when PreEnqueue fails: the pod is held back without an attempt."""

    def run(pod: Pod, first: str) -> Status:
        status = pre_enqueue(pod, first)
        if status.code is Code.ERROR:
            text = f'running PreEnqueue plugin "{status.plugin}": {status.message}'
            note = EventNote("Warning", "FailedScheduling", "Scheduling", text)
            events.record(pod, None, note)
        return status

    return run


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


class PluginWatch:
    """Calls ``reload`` when a file changes, and ``say`` with the result as a sentence."""

    def __init__(
        self, files: Iterable[Path], reload: Callable[[], None], say: Callable[[str], None]
    ) -> None:
        self._files = tuple(files)
        self._reload = reload
        self._say = say
        self._seen = self._stamps()

    async def run(self, clock: Clock) -> None:
        while True:
            await sleep(clock, POLL_SECONDS)
            self.look()

    def look(self) -> None:
        """Reload if a file has changed; if that fails, the old code stays in use."""
        stamps = self._stamps()
        changed = [file.name for file in self._files if stamps[file] != self._seen[file]]
        if not changed:
            return
        self._seen = stamps
        try:
            self._reload()
        except PodiumError as error:
            self._say(f"{error}\nThe old code goes on.")
        # A plugin's code may raise anything, and a later save must be loaded all the same.
        except (Exception, SystemExit) as fault:
            log.error("plugins were not reloaded", files=changed)
            why = f"{type(fault).__name__}: {text_of(fault)}"
            self._say(f"{', '.join(changed)}: cannot be loaded: {why}\nThe old code goes on.")
        else:
            self._say(f"loaded {', '.join(changed)} again")

    def _stamps(self) -> dict[Path, Stamp]:
        return {file: _stamp(file) for file in self._files}


def _stamp(file: Path) -> Stamp:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def files_of(sources: Iterable[str]) -> list[Path]:
    """Return the files that ``--plugin`` names; raise ``PluginError`` for a module."""
    files = [(text, Source.parse(text).file) for text in sources]
    modules = [text for text, file in files if file is None]
    if modules or not files:
        what = f"{OPTION} {modules[0]} names a module" if modules else f"there is no {OPTION}"
        raise PluginError(f"--watch watches files, but {what}: give a path such as ./my.py")
    return [file for _, file in files if file is not None]

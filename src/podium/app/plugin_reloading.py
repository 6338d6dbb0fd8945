"""Other plugins and settings for a running scheduler, when a plugin or a configuration is saved.

Pods in flight finish under the old plugins; pods that the old ones rejected are tried again.
`file_watching.py` notices saved files; `embedded.py` and `config_reloading.py` read them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from podium.app.core import Core
from podium.app.plugin_loading import OPTION, Source
from podium.app.profiles import DraftProfiles, report_unsigned
from podium.app.queue_rules import Rules, rules_of, watched
from podium.config.model import Configuration
from podium.errors import PluginError
from podium.framework.event_rules import event_rules
from podium.framework.plugin import close
from podium.framework.registry import Registry
from podium.live.gate import Gate
from podium.live.tasks import Tasks
from podium.live.watching import Watching, check
from podium.queue.scheduling_queue import SchedulingQueue


class _Draft(NamedTuple):
    """The parts of a scheduler that are exchanged together."""

    profiles: DraftProfiles
    rules: Rules
    kinds: Iterable[str]


@dataclass(slots=True, kw_only=True)
class Exchange:
    """Exchanges the plugins of a running scheduler, between two cycles.

    ``_waiting`` is a draft for which the end of a cycle is awaited. A newer draft takes its place:
    both were built from the plugins in use, so the older one can be dropped.
    """

    core: Core
    gate: Gate
    queue: SchedulingQueue
    watching: Watching
    bindings: Tasks
    _waiting: _Draft | None = None

    def __call__(self, configuration: Configuration, registry: Registry) -> None:
        """Use these plugins and backoffs from now on; if this raises, nothing has changed."""
        names = {each.scheduler_name for each in configuration.profiles}
        if names != self.core.profiles.keys():
            raise PluginError(
                f"the names of the profiles have changed from {_listed(self.core.profiles)} to "
                f"{_listed(names)}: restart the scheduler"
            )
        draft = self.core.builder.draft(configuration, registry)
        try:
            rules = rules_of(draft.profiles, self.core.services, event_rules(registry.release))
            kinds = [*watched(draft.profiles, rules), *self.core.services.listed]
            check(kinds)
        except BaseException:
            self.core.builder.discard(draft)
            raise
        replaced, self._waiting = self._waiting, _Draft(draft, rules, kinds)
        if replaced is None:
            self.gate.pass_through(self._swap)
        else:
            self.core.builder.discard(replaced.profiles)

    def _swap(self) -> None:
        assert self._waiting is not None
        (draft, rules, kinds), self._waiting = self._waiting, None
        left = self.core.adopt(draft)
        report_unsigned(draft.profiles.values())
        chosen = draft.configuration
        pauses = chosen.pod_initial_backoff_seconds, chosen.pod_max_backoff_seconds
        self.queue.use(rules, pauses)
        self.watching.watch(kinds)
        self.bindings.after_these(lambda: close(left, "old"))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def files_of(sources: Iterable[str], config_file: Path | None = None) -> list[Path]:
    """Return the files to watch; raise ``PluginError`` for a module, or if there are none."""
    files = [(text, Source.parse(text).file) for text in sources]
    modules = [text for text, file in files if file is None]
    if modules or not (files or config_file):
        what = f"{OPTION} {modules[0]} names a module" if modules else f"there is no {OPTION}"
        raise PluginError(f"--watch watches files, but {what}: give a path such as ./my.py")
    return [file for file in (*(file for _, file in files), config_file) if file is not None]

"""How the answers of all PreFilter plugins become one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from podium.framework.cycle_state import CycleState
from podium.framework.plugin import PreFilterPlugin
from podium.framework.status import SUCCESS, Code, Status

PreFilterAnswer = tuple[frozenset[str] | None, Status]
"""The only nodes that a plugin wants, if it says so, and its status."""


@dataclass(slots=True)
class PreFiltered:
    """What all PreFilter plugins said together, and each on its own.

    ``skipped`` are those whose Filter is left out, ``narrowed_by`` those that named nodes.
    """

    status: Status = SUCCESS
    node_names: frozenset[str] | None = None
    narrowed_by: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    answers: dict[str, PreFilterAnswer] = field(default_factory=dict)

    def ends_with(self, name: str, answer: PreFilterAnswer) -> bool:
        """Take one more answer in; true when the remaining PreFilters are not run."""
        names, status = answer
        if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            self.status, self.node_names, self.narrowed_by = status, None, frozenset()
            return True
        if not status.ok:
            self.status = status  # Unschedulable: the rest still runs, the last one is reported
            return False
        if names is None:
            return False
        self.narrowed_by |= {name}
        self.node_names = names if self.node_names is None else self.node_names & names
        if self.node_names:
            return False
        self.status = Status.unresolvable(_nobody_satisfies(sorted(self.narrowed_by)))
        return True


def combine(
    plugins: Iterable[PreFilterPlugin],
    kept: Mapping[str, PreFilterAnswer],
    ask: Callable[[PreFilterPlugin], PreFilterAnswer],
    state: CycleState,
) -> PreFiltered:
    """Take the kept answers, and ask for the others in order, until a plugin ends it.

    ``state`` gets those that skip.
    """
    out = PreFiltered()
    answers, skipped = out.answers, list[str]()
    try:
        for plugin in plugins:
            name = plugin.name
            answer = kept.get(name) or ask(plugin)
            answers[name] = answer
            status = answer[1]
            if status is SUCCESS and answer[0] is None:
                continue
            if status.is_skip:
                skipped.append(name)
            elif out.ends_with(name, answer):
                break
    finally:
        state.skip_filter = out.skipped = frozenset(skipped)
    return out


def left_out_by(plugins: Iterable[str]) -> Status:
    """Return the status of nodes that PreFilter leaves out."""
    return Status.unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(plugins))}]")


def _nobody_satisfies(plugins: list[str]) -> str:
    if len(plugins) == 1:
        return f"node(s) didn't satisfy plugin {plugins[0]}"
    return f"node(s) didn't satisfy plugin(s) [{' '.join(plugins)}] simultaneously"

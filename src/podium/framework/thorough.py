"""A profile that asks every filter about every node: ``alwaysCheckAllPredicates`` of a policy.

Which nodes are feasible is the same; a refused node tells the reasons of all who refuse it.
"""

from __future__ import annotations

from collections.abc import Iterable

from podium.api.objects import Pod
from podium.framework.cycle_state import CycleState
from podium.framework.plugin import Statuses
from podium.framework.profile import Profile
from podium.framework.status import SUCCESS, Code, Joined, Status
from podium.state.column import Column
from podium.state.rows import Rows


class ThoroughProfile(Profile):
    """The plugins of one scheduler name, whose filters do not stop at the first refusal."""

    def run_filters(self, state: CycleState, pod: Pod, nodes: Rows) -> Statuses:
        """Return what all filters say of each node; nominated pods play no part."""
        said = [
            self.filter_all(plugin, state, pod, nodes)
            for plugin in self.filters
            if plugin.name not in state.skip_filter
        ]
        return joined_columns(said) if said else Column.uniform(SUCCESS, len(nodes))


def joined_columns(said: list[Statuses]) -> Statuses:
    """Join each node's statuses into one; nodes with the same answers are joined once."""
    answers = Column.of(zip(*(statuses.index.tolist() for statuses in said), strict=True))
    return answers.map(
        lambda numbers: joined(
            statuses.values[number] for statuses, number in zip(said, numbers, strict=True)
        )
    )


def joined(said: Iterable[Status]) -> Status:
    """Join statuses into one: unresolvable when one of them is, under the name of its plugin."""
    refusals = tuple(status for status in said if not status.ok)
    if len(refusals) < 2:
        return refusals[0] if refusals else SUCCESS
    strongest = max(refusals, key=lambda status: _STRENGTH[status.code])
    reasons = tuple(reason for status in refusals for reason in status.reasons)
    return Joined(strongest.code, reasons, strongest.plugin, said=refusals)


_STRENGTH = {Code.PENDING: 0, Code.UNSCHEDULABLE: 1, Code.UNSCHEDULABLE_AND_UNRESOLVABLE: 2}

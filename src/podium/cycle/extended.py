"""Runs a cycle for schedulers that wait: for extenders, or for the victims of a preemption.

The stages are the same, with waits between them.

The cluster must stand still until it ends, waits included.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter

import numpy as np

from podium.cycle.cycle import Cycle
from podium.cycle.extenders import Extenders
from podium.cycle.found import Found
from podium.cycle.outcome import Outcome, Rejected, failed
from podium.cycle.ranking import Ranking
from podium.cycle.tied import Tied
from podium.errors import ExtenderError
from podium.framework.answers import AttemptFailed
from podium.framework.diagnosis import Diagnosis, NodeStatuses
from podium.framework.extender import EXTENDER
from podium.framework.preemption import (
    Candidates,
    Evicting,
    PostFilterAnswer,
    PostFiltering,
)
from podium.framework.status import Status
from podium.logs import get_logger
from podium.state.column import Column
from podium.state.rows import Rows

log = get_logger(__name__)


async def run_extended(cycle: Cycle) -> Outcome:
    """Run the whole scheduling cycle, with the extenders of its scheduler if it has any."""
    start = perf_counter()
    try:
        outcome = await _run(cycle, cycle.services.extenders)
    except AttemptFailed as failure:
        outcome = failed(failure.status, cycle.record)
    return cycle.recorded(outcome, start)


async def _run(cycle: Cycle, extenders: Extenders) -> Outcome:
    found, were_asked = await _find_feasible(cycle, extenders)
    cycle.note(found)
    if not len(found.feasible):
        return await _post_filter(cycle, extenders, found, were_asked)
    return cycle.settle(await _choose(cycle, extenders, found))


async def choose_node(cycle: Cycle) -> int | Diagnosis:
    """Choose a node without taking it; if none is feasible, return why. PostFilter is not asked."""
    extenders = cycle.services.extenders
    found, were_asked = await _find_feasible(cycle, extenders)
    cycle.note(found)
    if len(found.feasible):
        return await _choose(cycle, extenders, found)
    return _diagnosis(cycle, found, were_asked)


async def _find_feasible(cycle: Cycle, extenders: Extenders) -> tuple[Found, bool]:
    """Return the feasible nodes, and whether plugins left any to ask extenders about."""
    found = cycle.find_feasible()
    if not extenders:
        return found, False
    nominated = cycle.pod.nominated_node_name
    if nominated and found.feasible.names == [nominated]:  # the fast path
        try:
            narrowed = await _narrow(cycle, extenders, found)
        except AttemptFailed as failure:
            log.warning("nominated node not tried", pod=cycle.pod.key, why=failure.status.message)
        else:
            if len(narrowed.feasible):
                return narrowed, True
        found = cycle.find_feasible(fast_path=False)
    if not len(found.feasible):
        return found, False
    return await _narrow(cycle, extenders, found), True


async def _narrow(cycle: Cycle, extenders: Extenders, found: Found) -> Found:
    nodes, statuses = await extenders.filter(cycle.pod, found.feasible)
    if nodes is found.feasible and not statuses:
        return found
    explained = _explained(found.statuses, _gone(found.feasible, nodes), statuses)
    return found.narrowed(nodes, explained)


def _gone(before: Rows, after: Rows) -> set[int]:
    return set(before.index.tolist()).difference(after.index.tolist())


def _explained(known: NodeStatuses, gone: set[int], said: Mapping[str, Status]) -> NodeStatuses:
    """Add what extenders said. A node that went without a reason counts as not judged."""
    index = known.statuses.index.copy()
    values = list(known.statuses.values)
    judged = np.ones(len(index), np.bool_)
    rows = zip(known.nodes.index.tolist(), known.nodes.names, strict=True)
    for position, (row, name) in enumerate(rows):
        if name in said:
            index[position] = len(values)
            values.append(said[name])
        elif row in gone:
            judged[position] = False
    nodes = Rows(known.nodes.cluster, known.nodes.index[judged])
    return NodeStatuses(nodes, Column(values, index[judged]), known.absent)


# --- scores --------------------------------------------------------------------------------------


async def _choose(cycle: Cycle, extenders: Extenders, found: Found) -> int:
    if not extenders or len(found.feasible) == 1:
        return cycle.choose(found)
    ranking = cycle.score(found.feasible, found.version)
    added = await extenders.prioritize(cycle.pod, found.feasible)
    names = ranking.names
    extra = np.array([added.get(name, 0) for name in names], np.int64)
    ranking = Ranking(ranking.nodes, ranking.scoreboard, ranking.totals + extra)
    return cycle.pick(ranking, _best(ranking, added))


def _best(ranking: Ranking, added: Mapping[str, int]) -> Tied:
    """Return the rows with the highest total; among these, rows that an extender scored win."""
    is_best = ranking.is_best()
    named = is_best & np.array([name in added for name in ranking.names], np.bool_)
    return Tied.of(ranking.nodes, named if named.any() else is_best)


# --- preemption ----------------------------------------------------------------------------------


async def _post_filter(
    cycle: Cycle, extenders: Extenders, found: Found, were_asked: bool
) -> Rejected:
    diagnosis = _diagnosis(cycle, found, were_asked)
    if not cycle.profile.post_filters:
        return cycle.post_filter(diagnosis)
    steps = cycle.profile.post_filtering(cycle.state.fork(), cycle.pod, diagnosis.statuses)
    return cycle.refuse(diagnosis, *await _asked(cycle, extenders, steps))


def _diagnosis(cycle: Cycle, found: Found, were_asked: bool) -> Diagnosis:
    diagnosis = cycle.diagnose(found)
    if were_asked:  # extenders refused the nodes that the filters had left
        diagnosis.unschedulable_plugins.add(EXTENDER)
    return diagnosis


async def _asked(cycle: Cycle, extenders: Extenders, steps: PostFiltering) -> PostFilterAnswer:
    """Run PostFilter to its end; extenders are asked about each preemption that is proposed."""
    pod, cluster = cycle.pod, cycle.services.cluster
    left: Candidates = ()
    try:
        proposed = next(steps)
        while True:
            try:
                if isinstance(proposed, Evicting):
                    await proposed.run()
                else:
                    left = await extenders.process_preemption(pod, proposed, cluster)
            except ExtenderError as fault:
                proposed = steps.throw(fault)
            else:
                proposed = steps.send(left)
    except StopIteration as end:
        answer: PostFilterAnswer = end.value
        return answer

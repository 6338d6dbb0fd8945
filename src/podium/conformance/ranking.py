"""Compares scores, totals and the best nodes."""

from __future__ import annotations

from collections.abc import Mapping

from podium.conformance.outcome import Comparison
from podium.conformance.trial import Trial
from podium.cycle.cycle import Cycle
from podium.cycle.found import Found
from podium.cycle.ranking import Ranking
from podium.cycle.verdicts import UNTRACKED

# Recordings leave it out: without claims it gives 0 to every node.
_UNRECORDED = "DynamicResources"


def compare(trial: Trial, cycle: Cycle, found: Found) -> None:
    """Compare the choice among feasible nodes; a nominated node is tried first."""
    nominated, trusted = trial.pod.nominated_node_name, trial.trusted()
    if nominated in trusted:
        trial.compare.needs(["best"], [trusted[nominated].plugin])
    elif nominated:
        cycle = trial.start()
        found = cycle.find_feasible()
    nodes = trial.feasible(found)
    if len(nodes) == 1:
        trial.compare.equal("scores", trial.expect.scores, None)
        trial.compare.equal("best", list(trial.expect.best or ()), nodes.names)
        return
    scored = cycle.score(nodes, found.version if nodes is found.feasible else UNTRACKED)
    expected = trial.expect.scores or {}
    present = {name: by_node for name, by_node in expected.items() if name not in trial.absent}
    _compare_scores(trial.compare, present, scored)
    if missing := expected.keys() - present.keys():
        trial.compare.needs(("scores", "total", "best"), missing)
    else:
        compare_totals(trial.compare, trial.expect.total, trial.expect.best, scored)


def compare_totals(
    compare: Comparison,
    total: Mapping[str, int] | None,
    best: tuple[str, ...] | None,
    scored: Ranking,
) -> None:
    ours = dict(zip(scored.names, scored.totals.tolist(), strict=True))
    _compare_by_node(compare, "total", total or {}, ours)
    compare.equal("best", list(best or ()), scored.best_names())


def _compare_scores(
    compare: Comparison, expected: Mapping[str, Mapping[str, int]], scored: Ranking
) -> None:
    ours = {
        plugin: dict(zip(scored.names, scores.tolist(), strict=True))
        for plugin, scores in scored.by_plugin.items()
    }
    if not any(ours.get(_UNRECORDED, {}).values()):
        ours.pop(_UNRECORDED, None)
    for plugin in {**expected, **ours}:
        field = f"scores.{plugin}"
        if plugin in expected and plugin in ours:
            _compare_by_node(compare, field, expected[plugin], ours[plugin])
        else:
            compare.differ(field, expected.get(plugin), ours.get(plugin))


def _compare_by_node(
    compare: Comparison, field: str, expected: Mapping[str, int], ours: Mapping[str, int]
) -> None:
    for node in {**expected, **ours}:
        compare.equal(field, expected.get(node), ours.get(node), node=node)

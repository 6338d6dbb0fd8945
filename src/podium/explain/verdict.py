"""Why not that node: what every filter says about one node, and how it scores."""

from __future__ import annotations

import numpy as np

from podium.cycle.ranking import Ranking
from podium.errors import did_you_mean
from podium.explain.case import Case
from podium.explain.near_misses import shortfalls_of
from podium.explain.scores import node_score
from podium.explain.shortfalls import plain
from podium.explain.values import NodeVerdict, PluginVerdict


def node_verdict(case: Case, name: str, ranking: Ranking | None) -> NodeVerdict:
    """Return the verdict about a node; ``ranking`` is that of the feasible nodes, if any."""
    row = case.cluster.table.live_row(name)
    if row is None:
        known = case.cluster.rows().names
        return NodeVerdict(name, False, f"there is no node {name}{did_you_mean(name, known)}")
    if case.verdicts is None:
        return _unjudged(case, name)
    verdicts = tuple(_plugins(case, row))
    if not all(each.fits for each in verdicts):
        text = f"{name} does not fit: " + "; ".join(
            each.shortfall.text for each in verdicts if each.shortfall is not None
        )
        return NodeVerdict(name, False, text, verdicts)
    return _fitting(case, name, verdicts, ranking)


def _unjudged(case: Case, name: str) -> NodeVerdict:
    """Return the verdict where the pod is refused before single nodes are looked at."""
    attempt = case.attempt
    status = attempt.refusal or attempt.error or attempt.gate
    if status.ok:
        return NodeVerdict(name, False, f"{name} was not looked at")
    shortfall = plain(status, "PreFilter")
    text = f"no node was looked at: the pod {shortfall.text.removeprefix('it ')}"
    verdict = PluginVerdict(status.plugin, False, False, shortfall)
    return NodeVerdict(name, False, text, (verdict,))


def _plugins(case: Case, row: int) -> list[PluginVerdict]:
    verdicts = case.verdicts
    assert verdicts is not None
    shortfalls = shortfalls_of(case, row)
    position = int(np.searchsorted(verdicts.rows, row))
    refused = verdicts.of(position)
    found = [PluginVerdict(name, True, True) for name in verdicts.skipped]
    found += [PluginVerdict(n, False, False, plain(s)) for n, s in verdicts.failed.items()]
    for name in verdicts.statuses:
        mine = [each for each in shortfalls if each.plugin == name] if name in refused else []
        if not mine and name not in refused:
            found.append(PluginVerdict(name, True))
        found += [PluginVerdict(name, False, False, each) for each in mine]
    return found


def _fitting(
    case: Case, name: str, verdicts: tuple[PluginVerdict, ...], ranking: Ranking | None
) -> NodeVerdict:
    chosen = case.attempt.node
    if ranking is None or name not in ranking.names:
        return NodeVerdict(name, True, f"{name} fits", verdicts, chosen=chosen)
    score = node_score(ranking, ranking.names.index(name))
    if name == chosen:
        return NodeVerdict(name, True, f"{name} fits and is chosen", verdicts, score, chosen)
    best = node_score(ranking, ranking.names.index(chosen)) if chosen in ranking.names else score
    behind = best.total - score.total
    text = (
        f"{name} fits and has the same total as {chosen}: a hash of the pod decided"
        if not behind
        else f"{name} fits, but its total of {score.total} is {behind} below that of {chosen}"
    )
    return NodeVerdict(name, True, text, verdicts, score, chosen, behind)

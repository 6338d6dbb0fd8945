"""Why a node won: raw, normalized and weighted scores of each plugin, and what decided."""

from __future__ import annotations

from typing import Final

import numpy as np

from podium.cycle.ranking import Ranking
from podium.cycle.scoreboard import Scoreboard
from podium.explain.amounts import listed
from podium.explain.values import NodeScore, PluginScore, ScoreTable

MOST: Final = 5


def score_table(ranking: Ranking, chosen: str) -> ScoreTable:
    """Return the scores of the chosen node and of those that come next."""
    names, totals = ranking.names, ranking.totals
    order = sorted(
        range(len(names)), key=lambda at: (names[at] != chosen, -int(totals[at]), names[at])
    )
    nodes = tuple(node_score(ranking, at) for at in order[:MOST])
    tied = int(np.count_nonzero(totals == totals.max()))
    decided = _decided(ranking, order)
    return ScoreTable(nodes, len(names), tied, _text(ranking, chosen, tied, decided), decided)


def node_score(ranking: Ranking, position: int) -> NodeScore:
    """Return the scores of the node at a position of the ranking."""
    total = int(ranking.totals[position])
    rank = 1 + int(np.count_nonzero(ranking.totals > total))
    board = ranking.scoreboard
    row = int(ranking.nodes.index[position])
    scores = () if board is None else _scores(board, row)
    return NodeScore(ranking.names[position], total, rank, scores)


def _scores(board: Scoreboard, row: int) -> tuple[PluginScore, ...]:
    found = []
    for name, share in board.shares.items():
        normalized = int(share.normalized[row])
        raw = int(share.raw[row]) if share.normalizes else normalized
        found.append(PluginScore(name, raw, normalized, share.weight, normalized * share.weight))
    return tuple(found)


def _decided(ranking: Ranking, order: list[int]) -> dict[str, int]:
    """Return by how much each plugin favours the winner over the best node that lost."""
    best = int(ranking.totals[order[0]])
    losers = [at for at in order[1:] if int(ranking.totals[at]) < best]
    if not losers:
        return {}
    mine = {each.plugin: each.weighted for each in node_score(ranking, order[0]).scores}
    theirs = {each.plugin: each.weighted for each in node_score(ranking, losers[0]).scores}
    differences = {name: mine[name] - theirs.get(name, 0) for name in mine}
    return {n: d for n, d in sorted(differences.items(), key=lambda pair: -pair[1]) if d > 0}


def _text(ranking: Ranking, chosen: str, tied: int, decided: dict[str, int]) -> str:
    count = len(ranking.names)
    if count == 1:
        return f"{chosen} is the only node that fits, so nothing was scored"
    if ranking.scoreboard is None:
        return f"no plugin scores: {chosen} is one of {count} nodes that fit"
    if tied == count:
        return f"all {count} nodes that fit have the same total: a hash of the pod chose {chosen}"
    why = listed(decided, most=3)
    if tied > 1:
        return (
            f"{tied} of {count} nodes share the highest total, because of {why}, and a hash of the "
            f"pod chose {chosen}"
        )
    return f"{chosen} has the highest total of {count} nodes, because of {why}"

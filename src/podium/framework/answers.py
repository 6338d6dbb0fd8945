"""Checks what plugins return, by upstream's rules: verdicts, and faults that end an attempt."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.framework.calls import fault_of, source_of
from podium.framework.plugin import FilterPlugin, Plugin, ScorePlugin, Statuses
from podium.framework.scores import Scores, uniform_value
from podium.framework.status import SUCCESS, Status, as_status
from podium.logs import get_logger
from podium.state.column import Column
from podium.state.rows import Rows

log = get_logger(__name__)

MAX_SCORE = 100
_ALL_FIT = [SUCCESS]
_INT64 = np.dtype(np.int64)


class AttemptFailed(Exception):
    """A fault ends the attempt; ``status`` says whose and why."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.message)
        self.status = status


def as_statuses(answer: Statuses, nodes: Rows) -> Statuses:
    """Check an answer of ``filter_all``: a node without a status would count as feasible."""
    if not isinstance(answer, Column):
        raise TypeError(f"expected a Column of statuses, got {answer!r}")
    index = answer.index
    _check_size(index, nodes)
    if index.dtype != np.intp:
        raise TypeError(f"its column has an index of {index.dtype}; it must be of intp")
    count = len(answer.values)
    is_whole = (count and answer.is_uniform) or not len(index)
    if not is_whole and int(index.view(np.uintp).max()) >= count:
        raise IndexError(f"its column has {count} statuses, and an index beyond them")
    return answer if answer.values == _ALL_FIT else answer.map(as_status)


def as_scores(answer: object, nodes: Rows) -> Scores:
    """Check scores of ``score_all`` or ``normalize_score``; fractions are refused, not cut off."""
    if type(answer) is np.ndarray and answer.dtype is _INT64 and answer.shape == (len(nodes),):
        return answer  # nearly always
    scores = np.asarray(answer)
    if scores.dtype.kind not in "iu" and scores.size:
        raise TypeError(f"expected whole numbers as scores, got {scores.ravel()[:1].tolist()[0]!r}")
    _check_size(scores, nodes)
    return scores.astype(np.int64, copy=False)


def _check_size(answer: NDArray[Any], nodes: Rows) -> None:
    if answer.shape != (len(nodes),):
        size = "x".join(map(str, answer.shape))
        raise ValueError(f"expected an answer for each of {len(nodes)} nodes, got {size}")


def check_range(plugin: ScorePlugin, scores: Scores) -> None:
    """Fail the attempt when a score is not in 0..100."""
    if not len(scores):
        return
    value = uniform_value(scores)
    if value is not None and 0 <= value <= MAX_SCORE:
        return
    if np.maximum.reduce(scores.view(np.uint64)) <= MAX_SCORE:  # a negative score looks enormous
        return
    low, high = int(scores.min()), int(scores.max())
    bad = low if low < 0 else high
    text = (
        f'applying score defaultWeights on Score plugins: plugin "{plugin.name}" returns an '
        f"invalid score {bad}, it should in the range of [0, {MAX_SCORE}] after normalizing"
    )
    log.warning(
        "plugin scored out of range", plugin=plugin.name, score=bad, source=source_of(plugin)
    )
    raise AttemptFailed(Status.error(text).by(plugin.name))


def verdicts_of(plugin: FilterPlugin, statuses: Statuses) -> Statuses:
    """Put the plugin's name on refusals.

    ``Column.map`` also judges values that no node has; an error about such a value is ignored.
    """
    if statuses.values == _ALL_FIT:
        return statuses
    verdicts = list(statuses.values)
    for status_index, status in enumerate(verdicts):
        is_spare = not (status.ok or status.is_rejection or status_index in statuses.index)
        verdicts[status_index] = SUCCESS if is_spare else verdict_of(plugin, status)
    return Column(verdicts, statuses.index)


def verdict_of(plugin: FilterPlugin, status: Status) -> Status:
    if status.ok:
        return SUCCESS
    if not status.is_rejection:
        text = f'running "{plugin.name}" filter plugin: {status.message}'
        raise AttemptFailed(Status.error(text).by(plugin.name))
    return status if status.plugin == plugin.name else status.by(plugin.name)


def reported_error(plugin: Plugin, point: str, pod: Pod, fault: BaseException, text: str) -> Status:
    status = fault_of(plugin, point, pod, fault)
    return Status.error(f"{text}{status.message}").by(plugin.name)

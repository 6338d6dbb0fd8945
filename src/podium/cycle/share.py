"""What one plugin adds to the scores of a class of pods."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from podium.cycle.verdicts import UNTRACKED, FeasibleVersion, RowNumbers
from podium.framework.dependencies import Dependencies
from podium.framework.plugin import ScorePlugin
from podium.framework.scores import Scores, repeated, uniform, uniform_value
from podium.state.rows import Rows

T = TypeVar("T", bound=np.generic)

FEW: Final = 8  # up to this many rows are scored one by one


class Share:
    """One plugin's scores by row, and its weight.

    ``reads`` is ``None`` for a plugin without a signature: all its scores are asked for again for
    every pod. For the others ``known`` marks the rows whose score stands (``raw``, where the plugin
    normalizes): a row that changes in an aspect of ``reads`` loses the mark. ``missing`` are the
    rows without the mark, as a set while they are few; ``None`` means that they are not listed.
    While ``is_forgotten``, no score stands, whatever ``known`` says: the marks of the next scores
    replace all of them. ``_known_version`` is the version of the feasible rows, if exactly these
    have the mark; then the same marks need not be written again.

    Many plugins score all nodes alike. So ``normalized``, ``raw`` and ``known`` begin as arrays of
    one repeated value, which take no memory and cannot be written to; the first write copies them.

    A share ``stands_always`` once it has the scores of a plugin that scores all nodes alike.

    A share that ``is_shared`` belongs to several classes and must not change: a class that has to
    change it makes a copy first.
    """

    __slots__ = (
        "_known_version",
        "is_forgotten",
        "is_new",
        "is_shared",
        "known",
        "missing",
        "normalized",
        "normalizes",
        "plugin",
        "raw",
        "reads",
        "score_of",
        "stands_always",
        "watches_all",
        "watches_row",
        "weight",
    )

    def __init__(
        self, plugin: ScorePlugin, weight: int, reads: Dependencies | None, size: int
    ) -> None:
        self.plugin = plugin
        self.weight = weight
        self.reads = reads
        self.watches_row = 0 if reads is None else reads.node
        self.watches_all = 0 if reads is None else reads.for_scores
        self.normalizes = _normalizes(plugin)
        self.is_new = True  # all zero, so there is nothing to take back
        self.is_shared = False
        self.stands_always = False
        self.normalized: NDArray[np.int8] = repeated(0, np.int8)[:size]  # 0 to 100
        self.score_of = self.normalized.item  # by row
        self.raw: NDArray[np.int64] = repeated(0, np.int64)[:size]
        self.known: NDArray[np.bool_] = repeated(False, np.bool_)[:size]
        self.is_forgotten = False
        self._known_version = UNTRACKED
        self.missing: set[int] | None = None

    def copy(self) -> Share:
        """Return a share that can change on its own."""
        other = Share(self.plugin, self.weight, self.reads, len(self.known))
        other.is_new, other.stands_always = self.is_new, self.stands_always
        other._put_normalized(copy_unless_read_only(self.normalized))
        other.raw, other.known = copy_unless_read_only(self.raw), copy_unless_read_only(self.known)
        other.is_forgotten = self.is_forgotten
        other.missing = None if self.missing is None else self.missing.copy()
        return other

    # --- which scores stand ----------------------------------------------------------------------

    def know(self, rows: RowNumbers, version: FeasibleVersion) -> None:
        """Note that these rows have a score now.

        If all scores were forgotten before, ``rows`` are all feasible rows of this ``version``.
        """
        if self.is_forgotten:
            self.is_forgotten = False
            if version == self._known_version and version.number >= 0:
                return
            self._forget_all()
            self._known_version = version
        else:
            self._known_version = UNTRACKED
        if len(rows) == len(self.known):
            self.known = repeated(True, np.bool_)[: len(rows)]
        else:
            self.known = _writable(self.known)
            self.known[rows] = True

    def forget(self, rows: list[int]) -> None:
        """The scores of these rows are outdated."""
        if rows:
            self._known_version = UNTRACKED
            self.known = _writable(self.known)
            self.known[rows] = False

    def _forget_all(self) -> None:
        if self.known.flags.writeable:
            self.known[:] = False  # in place: new memory in each cycle would cost more
        else:
            self.known = repeated(False, np.bool_)[: len(self.known)]

    def set_known(self, row: int, is_known: bool) -> None:
        self._known_version = UNTRACKED
        self.known = _writable(self.known)
        self.known[row] = is_known

    def keep_missing(self, row: int, is_known: bool) -> None:
        """Keep the set of missing rows in step with ``known``, or give it up."""
        missing = self.missing or set()
        if is_known:
            missing.discard(row)
        else:
            missing.add(row)
        self.missing = missing if len(missing) <= FEW else None

    # --- scores ----------------------------------------------------------------------------------

    def set_raw(self, rows: RowNumbers, scores: Scores) -> None:
        """Keep the scores of these rows before they are normalized; ``know`` was called before."""
        value = uniform_value(scores)
        if value is not None and (
            value == uniform_value(self.raw) or np.count_nonzero(self.known) == len(rows)
        ):
            # No other row has another score, so the value is stored once for all rows.
            self.raw = repeated(value, np.int64)[: len(self.raw)]
        else:
            self.raw = _writable(self.raw)
            self.raw[_where(rows, self.raw)] = scores

    def raw_of(self, nodes: Rows) -> Scores:
        """Return what the plugin said of these nodes before normalizing."""
        value = uniform_value(self.raw)
        raw: Scores = nodes.take(self.raw) if value is None else uniform(value, len(nodes))
        return raw

    def set_score(self, row: int, score: int) -> None:
        if not self.normalized.flags.writeable:
            self._own_normalized()
        self.normalized[row] = score

    def begin(self, rows: RowNumbers, scores: Scores) -> NDArray[np.int64] | int:
        """Take the first scores. Return what to add to the totals; an int is for all rows."""
        self.is_new = False
        value = uniform_value(scores)
        if self.reads is not None and self.reads.scores_alike:
            self.stands_always = bool(scores.min() == scores.max())
            value = int(scores[0]) if self.stands_always else None
        if value is not None:
            self._put_normalized(repeated(value, np.int8)[: len(self.normalized)])
            return self.weight * value
        if len(rows) == len(self.normalized):
            self._put_normalized(scores.astype(np.int8))
        else:
            self._own_normalized()
            self.normalized[rows] = scores
        return scores if self.weight == 1 else self.weight * scores

    def replace(self, rows: RowNumbers, scores: Scores) -> NDArray[np.int64] | None:
        """Take other scores. Return what to add to the totals of these rows, unless nothing."""
        value = uniform_value(scores)
        if value is not None and value == uniform_value(self.normalized):
            return None
        where = _where(rows, self.normalized)
        more: NDArray[np.int64] = scores - self.normalized[where]
        if not np.count_nonzero(more):
            return None
        self._own_normalized()
        self.normalized[where] = scores
        return self.weight * more

    def add_to(self, total: NDArray[np.int64], sign: int = 1) -> None:
        """Add what this plugin contributes to the totals of all rows, or take it out (-1)."""
        value = uniform_value(self.normalized)
        if value is None:
            total += sign * self.weight * self.normalized.astype(np.int64)
        elif value:
            total += sign * self.weight * value

    def _own_normalized(self) -> None:
        if not self.normalized.flags.writeable:
            self._put_normalized(self.normalized.copy())

    def _put_normalized(self, scores: NDArray[np.int8]) -> None:
        self.normalized = scores
        self.score_of = scores.item


def _writable(array: NDArray[Any]) -> NDArray[Any]:
    return array if array.flags.writeable else array.copy()


def copy_unless_read_only(array: NDArray[T]) -> NDArray[T]:
    """Return the array itself if it is read-only, else a copy of it."""
    return array.copy() if array.flags.writeable else array


def _where(rows: RowNumbers, column: NDArray[Any]) -> RowNumbers | slice:
    """Return the rows as an index; a slice for the whole column, which is written faster."""
    return slice(None) if len(rows) == len(column) else rows


def _normalizes(plugin: ScorePlugin) -> bool:
    return type(plugin).normalize_score is not ScorePlugin.normalize_score

"""What the filters said about each node, for one class of pods: only storage, no plugin is asked.

``judgement.py`` decides which plugins are asked about which rows, and writes the answers here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from podium.framework.diagnosis import NodeStatuses, Rejections
from podium.framework.status import SUCCESS, Status
from podium.state.cluster import ClusterState
from podium.state.column import Column
from podium.state.rows import Rows

RowNumbers = NDArray[np.intp]
T = TypeVar("T")

OUT: Final = -1  # not a candidate: the row has no node, or PreFilter left the node out
# Not refused so far; later filters are still to be asked. Above every filter index and ``fits``, so
# that ``reaching`` includes it.
PENDING: Final = 32767

NO_ROWS: Final[RowNumbers] = np.zeros(0, np.intp)


def shallow_copy(one: T) -> T:
    """Return a copy of an object that has slots.

    Through ``__dict__`` it would be faster, but then all attributes of both are read more slowly.
    """
    other: T = object.__new__(type(one))
    for name in one.__slots__:  # type: ignore[attr-defined]  # it has them
        setattr(other, name, getattr(one, name))
    return other


class FeasibleVersion(NamedTuple):
    """Numbers the sets of feasible rows of one class of pods in order of appearance.

    Equal numbers mean the same set. Unless ``new.grown_at > old.number``, rows have only left
    since ``old``. A negative number stands for a set that is not tracked.

    ``placement`` is 0 for the rows of all nodes, else the number of the placement that the rows are
    narrowed to: what is said above holds between versions with the same one.
    """

    number: int
    grown_at: int
    placement: int = 0


UNTRACKED = FeasibleVersion(-1, -1)

_NO_FIRST: Final[NDArray[np.int16]] = np.zeros(0, np.int16)
_NO_STATUS_INDEX: Final[NDArray[np.int32]] = np.zeros(0, np.int32)


class VerdictsOfAttempt(Protocol):
    """The verdicts that one attempt reads: the feasible rows, and on demand the first refusals."""

    @property
    def feasible(self) -> RowNumbers: ...
    @property
    def version(self) -> FeasibleVersion: ...

    def node_statuses(self, absent: Status) -> NodeStatuses:
        """Return the status of every candidate; nodes that are none have the status ``absent``."""

    def rejections(self) -> Rejections:
        """Count the nodes that each plugin refused for each reason. Shared: do not change it."""


class Verdicts:
    """The first refusal of each row, with its filter and status, and the rows that all let pass.

    Invariants, outside of a refresh (``check_invariants``):

    * ``first[row]`` is ``OUT`` unless the row is in ``candidates``; else the index of the first
      filter that refused the row, or ``fits`` when none did. ``PENDING`` occurs only in a refresh.
    * ``statuses[status_index[row]]`` is what that filter said; index 0 is success, and a candidate
      has it exactly when ``first`` is ``fits``.
    * ``feasible`` holds the rows with ``fits``, ascending, and cannot be written to.
    * ``version`` has another number exactly when ``feasible`` is another set than before.
    * ``_counts[i]`` is the number of candidates with status ``i``, while it is known.

    In a refresh ``grows`` says whether a row may become feasible that was not: while it is false
    no row is pending, and rows only leave ``feasible``. ``is_new`` says that this refresh started
    over: no filter has refused a row before it is asked.
    """

    __slots__ = (
        "_counts", "_index_of", "_rejections", "candidates", "cluster", "feasible", "first", "fits",
        "grows", "is_new", "status_index", "statuses", "version",
    )  # fmt: skip

    def __init__(self, cluster: ClusterState, filters: int) -> None:
        self.cluster = cluster
        self.fits: Final = filters
        self.first = _NO_FIRST
        self.status_index = _NO_STATUS_INDEX
        self.statuses: list[Status] = [SUCCESS]
        self.candidates = self.feasible = NO_ROWS
        self.version = FeasibleVersion(0, 0)
        self.grows = False
        self.is_new = False
        self._index_of: dict[Status, int] = {SUCCESS: 0}
        self._counts: NDArray[np.intp] | None = None
        self._rejections: Rejections | None = None

    def copy(self) -> Verdicts:
        """Return verdicts that can change on their own."""
        other = shallow_copy(self)
        other.first, other.status_index = self.first.copy(), self.status_index.copy()
        other.statuses, other._index_of = self.statuses.copy(), self._index_of.copy()
        if self._counts is not None:
            other._counts = self._counts.copy()
        return other

    def start_over(self, candidates: RowNumbers) -> None:
        """Forget all verdicts: these rows are candidates, and every filter is still to be asked."""
        size = self.cluster.table.size
        self.candidates = candidates
        is_whole = len(candidates) == size
        self.first = np.full(size, PENDING if is_whole else OUT, np.int16)
        if not is_whole:
            self.first[candidates] = PENDING
        self.status_index = np.zeros(size, np.int32)
        self.statuses, self._index_of = [SUCCESS], {SUCCESS: 0}
        self._counts = self._rejections = None
        self.grows = self.is_new = True

    # --- reading ---------------------------------------------------------------------------------

    @property
    def none_refused(self) -> bool:
        """Whether no refusal was stored since ``start_over``; false may be overcautious."""
        return len(self.statuses) == 1

    def node_statuses(self, absent: Status) -> NodeStatuses:
        index = self.status_index[self.candidates].astype(np.intp)
        nodes = Rows(self.cluster, self.candidates)
        # ``statuses`` is shared: it only grows until ``start_over``, so these indices stay right.
        return NodeStatuses(nodes, Column(self.statuses, index), absent)

    def rejections(self) -> Rejections:
        if self._rejections is None:
            none = self.none_refused  # then counting would be in vain, and takes long
            self._rejections = Rejections() if none else self.rejections_among(self.counts())
        return self._rejections

    def counts(self) -> NDArray[np.intp]:
        """Return how many candidates have each status. Do not change it."""
        if self._counts is None:
            rows, index = self.candidates, self.status_index
            here = index if len(rows) == len(index) else index[rows]
            self._counts = np.bincount(here, minlength=len(self.statuses))
        return self._counts

    def rejections_among(self, counts: NDArray[np.intp]) -> Rejections:
        """Name the refusals that are counted by status."""
        rejections = Rejections()
        for status_index in counts.nonzero()[0].tolist():
            rejections.count(self.statuses[status_index], counts.item(status_index))
        return rejections

    def pending(self) -> RowNumbers:
        """Return the rows that no filter has refused yet; none unless some may become feasible."""
        return np.flatnonzero(self.first == PENDING) if self.grows else NO_ROWS

    def reaching(self, filter_index: int) -> RowNumbers:
        """Return the rows that no filter before this one refuses."""
        if self.none_refused and not self.grows:
            return self.candidates
        reaching = self.first >= filter_index
        if np.count_nonzero(reaching) == len(self.candidates):
            return self.candidates
        return np.flatnonzero(reaching)

    def is_news(self, filter_index: int, rows: RowNumbers, statuses: Column[Status]) -> bool:
        """Whether this filter refuses one of these rows, or has refused one before."""
        if len(statuses.values) > 1 or not statuses.values[0].ok:
            return True
        if self.is_new or self.none_refused:
            return False
        return bool((self.first[self._where(rows)] == filter_index).any())

    def said_by(self, filter_index: int, rows: RowNumbers) -> NDArray[np.int32]:
        """Return what this filter said of the rows: the index of its refusal, or 0."""
        where = self._where(rows)
        return np.where(self.first[where] == filter_index, self.status_index[where], 0)

    # --- writing, in a refresh -------------------------------------------------------------------

    def index_of(self, status: Status) -> int:
        found = self._index_of.get(status)
        if found is None:
            found = self._index_of[status] = len(self.statuses)
            self.statuses.append(status)
        return found

    def set_row(self, row: int, filter_index: int, status: Status) -> None:
        """Note that this filter is the first to refuse the row; or that none does: success."""
        self.first[row] = filter_index
        self._write(np.array([row]), np.array([self.index_of(status)]))

    def set_rows(self, filter_index: int, rows: RowNumbers, said: NDArray[np.intp]) -> None:
        """Note the first refusals of rows; the rows that pass go on to the next filter."""
        self._write(rows, said)
        refused = said > 0
        self.first[rows] = np.where(refused, filter_index, PENDING)
        self.grows |= not refused.all()

    def release(self, filter_index: int) -> bool:
        """Let rows go on that this filter refused, because it skips now; false without any."""
        stuck = self.first == filter_index
        self.first[stuck] = PENDING
        return bool(stuck.any())

    def finish_pending(self, pending: RowNumbers) -> None:
        """All filters were asked about these rows, and none refused them."""
        self.is_new = False
        if not len(pending):
            return
        self.first[self._where(pending)] = self.fits
        if not self.none_refused:
            # Released rows still have the status of the filter that let go of them.
            self._write(pending, np.zeros(len(pending), np.intp))

    def settle(self) -> None:
        """The end of a refresh that moved rows: find the feasible ones, and number their set."""
        feasible = self.candidates
        if not self.none_refused:
            feasible = np.flatnonzero(self.first == self.fits)
        if feasible is not self.feasible and (
            len(feasible) != len(self.feasible) or not np.array_equal(feasible, self.feasible)
        ):
            feasible.setflags(write=False)  # plugins see this very array
            self.feasible = feasible
            number = self.version.number + 1
            self.version = FeasibleVersion(number, number if self.grows else self.version.grown_at)

    def _write(self, rows: RowNumbers, said: NDArray[np.intp]) -> None:
        self._rejections = None
        if self._counts is not None:
            missing = len(self.statuses) - len(self._counts)
            self._counts = np.append(self._counts, np.zeros(missing, np.intp))
            np.subtract.at(self._counts, self.status_index[rows], 1)
            np.add.at(self._counts, said, 1)
        self.status_index[rows] = said

    def _where(self, rows: RowNumbers) -> RowNumbers | slice:
        """Whole columns are read and written in place."""
        return slice(None) if len(rows) == len(self.first) else rows

    def check_invariants(self, filters: Sequence[str]) -> None:
        """Raise ``AssertionError`` naming the first invariant that does not hold."""
        first, candidates = self.first, self.candidates
        assert np.array_equal(np.flatnonzero(first != OUT), candidates), "candidates are not OUT"
        assert not (first == PENDING).any(), "rows are pending after a refresh"
        fits = np.flatnonzero(first == self.fits)
        assert np.array_equal(fits, self.feasible), "feasible rows are not those that fit"
        for row in candidates.tolist():
            status = self.statuses[self.status_index.item(row)]
            fits_here = first.item(row) == self.fits
            assert status.ok == fits_here, f"row {row} has {status} and first {first.item(row)}"
            if not fits_here:
                refuser = filters[first.item(row)]
                assert status.plugin == refuser, f"row {row} was refused by {refuser}, not {status}"
        counts = np.bincount(self.status_index[candidates], minlength=len(self.statuses))
        missing = len(self.statuses) - len(self.counts())
        known = np.append(self.counts(), np.zeros(missing, np.intp))
        assert np.array_equal(counts, known), "counts do not sum to the candidates"
        assert all(self._index_of[s] == i for i, s in enumerate(self.statuses)), "lost a status"


class TrackedRows:
    """A set of rows and its version, for a set that is found anew for each pod of a class."""

    def __init__(self) -> None:
        self.rows = NO_ROWS
        self.version = FeasibleVersion(0, 0)

    def update(self, rows: RowNumbers) -> None:
        """Take the rows of the present pod: the version stays exactly when the set does."""
        if rows is self.rows or np.array_equal(rows, self.rows):
            return
        rows.flags.writeable = False
        self.rows = rows
        # To find out whether rows only left takes longer than what is saved by knowing it.
        number = self.version.number + 1
        self.version = FeasibleVersion(number, number)

"""Node labels by key: a number per distinct value, -1 where the label is missing.

A column is built when a plugin first reads its key; the one unused for longest is dropped when
there are too many. There is no column of whole label sets, as the hostname makes every set unique.
Annotations are kept in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Final, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Node
from podium.api.selectors import Requirement
from podium.state.column import Column, grown, read_only

if TYPE_CHECKING:
    from podium.state.rows import Rows

T = TypeVar("T")

MISSING: Final = -1
_KEPT_COLUMNS: Final = 128


@dataclass(slots=True, eq=False)
class LabelColumn:
    """One label key over all rows. A value's number is its domain.

    Invariants, which only ``LabelColumns`` may change, through the private methods:

    - ``numbers`` is a read-only view of ``_numbers``.
    - ``number_of[values[n]] == n``.
    - ``holders[n]`` is the number of rows with value ``n``, ``labelled`` that of rows with any
      value, and ``_shared`` the number of values that more than one row has.
    - ``_places`` is what ``places`` last returned; ``None`` after a label has changed.
    """

    key: str
    _numbers: NDArray[np.intp]
    values: list[str] = field(default_factory=list)
    number_of: dict[str, int] = field(default_factory=dict)
    holders: list[int] = field(default_factory=list)  # how many rows have each value
    labelled: int = 0  # how many rows have the label
    _shared: int = 0  # how many values more than one row has
    _places: NDArray[np.intp] | None = None
    numbers: NDArray[np.intp] = field(init=False)  # by row; MISSING where the row has no such label

    def __post_init__(self) -> None:
        self._show()

    def _show(self) -> None:
        """Make ``numbers`` a read-only view of ``_numbers``."""
        self.numbers = read_only(self._numbers)

    @property
    def is_unique(self) -> bool:
        """Whether no two rows share a value, as with hostnames."""
        return not self._shared

    def places(self, size: int) -> NDArray[np.intp]:
        """Return each row's domain: the number of its value, or ``len(values)`` without a value.

        It is the same array as long as no label has changed, so that ``is`` tells whether one has.
        """
        places = self._places
        if places is None or len(places) != size:
            places = self.numbers[:size].copy()
            places[places == MISSING] = len(self.values)
            places.flags.writeable = False
            self._places = places
        return places

    def _grow(self, capacity: int) -> None:
        self._numbers = grown(self._numbers, capacity, MISSING)
        self._show()

    def _fill(self, values: Sequence[str | None]) -> None:
        """Set the values of all rows, by row, in an empty column."""
        present = [value for value in values if value is not None]
        self.values = list(dict.fromkeys(present))
        self.number_of = {value: number for number, value in enumerate(self.values)}
        number_of: dict[str | None, int] = {None: MISSING}
        number_of.update(self.number_of)
        self._numbers[: len(values)] = [number_of[value] for value in values]
        self.holders = [*Counter(present).values()]
        self.labelled = len(present)
        self._shared = sum(count > 1 for count in self.holders)

    def _set(self, row: int, labels: Mapping[str, str]) -> None:
        value = labels.get(self.key)
        number = MISSING if value is None else self._number(value)
        self._count_holder(self._numbers.item(row), -1)
        self._count_holder(number, 1)
        self._numbers[row] = number
        self._places = None

    def _count_holder(self, number: int, amount: int) -> None:
        if number == MISSING:
            return
        before = self.holders[number]
        after = self.holders[number] = before + amount
        self.labelled += amount
        self._shared += (after > 1) - (before > 1)

    def _number(self, value: str) -> int:
        number = self.number_of.get(value)
        if number is None:
            number = self.number_of[value] = len(self.values)
            self.values.append(value)
            self.holders.append(0)
        return number

    def holding(self, requirement: Requirement) -> NDArray[np.bool_]:
        """Return whether each value satisfies the requirement; the last element is for no label."""
        answers = np.zeros(len(self.values) + 1, np.bool_)
        if requirement.operator in ("In", "NotIn"):
            # Only the named values are looked at: a hostname has as many values as there are nodes.
            if requirement.operator == "NotIn":
                answers[:] = True
            for value in requirement.values:
                number = self.number_of.get(value)
                if number is not None:
                    answers[number] = requirement.operator == "In"
            return answers
        for number, value in enumerate(self.values):
            answers[number] = requirement.matches_value(value)
        answers[MISSING] = requirement.matches_value(None)
        return answers


class LabelColumns:
    """The columns in use. ``read`` returns the labels (or the annotations) of a node."""

    def __init__(self, read: Callable[[Node], Mapping[str, str]] = attrgetter("labels")) -> None:
        self._read = read
        self._columns: dict[str, LabelColumn] = {}  # in order of use, oldest first
        self._capacity = 0

    def grow(self, capacity: int) -> None:
        self._capacity = capacity
        for column in self._columns.values():
            column._grow(capacity)

    def set(self, row: int, labels: Mapping[str, str]) -> None:
        for column in self._columns.values():
            column._set(row, labels)

    def check(self, nodes: Sequence[Node | None]) -> None:
        """Raise ``AssertionError`` when a column differs from the nodes."""
        for key, column in self._columns.items():
            for row, node in enumerate(nodes):
                value = None if node is None else self._read(node).get(key)
                number = int(column.numbers[row])
                held = None if number == MISSING else column.values[number]
                assert held == value, f"{key} of row {row} is {value}, not {held}"
            present = column.numbers[column.numbers != MISSING]
            holders = np.bincount(present, minlength=len(column.values)).tolist()
            assert holders == column.holders, f"{key} is held {holders}, not {column.holders}"
            assert column.labelled == len(present), f"{key} is on {len(present)} rows"
            assert column.is_unique == (max(holders, default=0) <= 1), f"{key} is shared"

    def column(self, key: str, nodes: Sequence[Node | None]) -> LabelColumn:
        """Return the column of this key, made from ``nodes`` (by row) if it is new."""
        column = self._columns.pop(key, None)
        if column is None:
            column = LabelColumn(key, np.full(self._capacity, MISSING, np.intp))
            read = self._read
            column._fill([None if node is None else read(node).get(key) for node in nodes])
            while len(self._columns) >= _KEPT_COLUMNS:
                del self._columns[next(iter(self._columns))]
        self._columns[key] = column
        return column


class DomainSums:
    """Counts by row, summed over the domains of a label and kept up to date.

    Invariant: ``sums[d]`` is the sum of the counts of the rows whose ``domain_ids`` element is
    ``d``; the last element is for rows without the label. Whoever changes a count must call
    ``add``. The sums are out of date (``is_current`` is false) once a label has changed or rows
    were added.
    """

    __slots__ = ("domain_ids", "sums")

    def __init__(self, label: LabelColumn, counts: NDArray[np.int64]) -> None:
        self.domain_ids = label.places(len(counts))
        sums = np.bincount(self.domain_ids, weights=counts, minlength=len(label.values) + 1)
        self.sums: NDArray[np.int64] = sums.astype(np.int64)

    def add(self, row: int, amount: int) -> None:
        if row < len(self.domain_ids):  # a row added since then makes ``is_current`` false anyway
            self.sums[self.domain_ids.item(row)] += amount

    def is_current(self, label: LabelColumn, size: int) -> bool:
        """Return whether no label of these rows has changed since the sums were made."""
        return self.domain_ids is label.places(size)


@dataclass(frozen=True, slots=True, eq=False)
class LabelView:
    """One label over the nodes of a view: a number per node, -1 where the label is missing.

    ``nodes.labels["zone"] == "a"`` is an array of booleans.
    """

    numbers: NDArray[np.intp]
    values: Sequence[str]
    number_of: Mapping[str, int]

    @property
    def present(self) -> NDArray[np.bool_]:
        """A mask of the nodes that have the label."""
        return self.numbers >= 0

    def isin(self, values: Iterable[str]) -> NDArray[np.bool_]:
        """Return a mask of the nodes whose label has one of these values."""
        known = [self.number_of[value] for value in values if value in self.number_of]
        return np.isin(self.numbers, known)

    def map(self, function: Callable[[str | None], T]) -> Column[T]:
        """Call a function for each distinct value, ``None`` where the label is missing."""
        return Column([function(value) for value in (*self.values, None)], self.numbers)

    def tolist(self) -> list[str | None]:
        """Return the label of each node, ``None`` where it is missing."""
        values = [*self.values, None]
        return [values[number] for number in self.numbers.tolist()]

    def __eq__(self, value: object) -> NDArray[np.bool_]:  # type: ignore[override]  # as numpy
        found: NDArray[np.bool_] = self.numbers == self._number(value)
        return found

    def __ne__(self, value: object) -> NDArray[np.bool_]:  # type: ignore[override]  # as numpy
        found: NDArray[np.bool_] = self.numbers != self._number(value)
        return found

    def _number(self, value: object) -> int:
        return self.number_of.get(cast(str, value), _NO_NUMBER)

    __hash__ = None  # type: ignore[assignment]  # == returns an array, so it cannot be a dict key


_NO_NUMBER = -2  # for values that no node has; -1 already means a missing label


class LabelViews:
    """The labels (or annotations) of the nodes of a view, by key: ``nodes.labels["zone"]``."""

    __slots__ = ("_column", "_nodes")

    def __init__(self, nodes: Rows, column: Callable[[str], LabelColumn]) -> None:
        self._nodes = nodes
        self._column = column

    def __getitem__(self, key: str) -> LabelView:
        column = self._column(key)
        return LabelView(self._nodes.take(column.numbers), column.values, column.number_of)

"""Node labels by key: a number per distinct value, -1 where the label is missing.

A column is built when a rule first names its key, and dropped when it is the longest unused.
Never a column of whole label sets: the hostname makes every set unique. Annotations are kept alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Node
from podium.api.selectors import Requirement
from podium.state.column import grown, read_only

MISSING: Final = -1
_KEPT_COLUMNS: Final = 128


@dataclass(slots=True, eq=False)
class LabelColumn:
    """One label key over all rows. A value's number is its domain.

    ``LabelColumns`` keeps the fields in step, and is the only one to call the private methods:
    ``numbers`` shows ``_numbers``, ``values`` and ``number_of`` are inverse to each other, and
    ``holders`` and ``labelled`` count the rows of ``numbers``.
    """

    key: str
    _numbers: NDArray[np.intp]
    values: list[str] = field(default_factory=list)
    number_of: dict[str, int] = field(default_factory=dict)
    holders: list[int] = field(default_factory=list)  # how many rows have each value
    labelled: int = 0  # how many rows have the label
    _shared: int = 0  # how many values several rows have
    _places: NDArray[np.intp] | None = None
    numbers: NDArray[np.intp] = field(init=False)  # by row; MISSING where the label is

    def __post_init__(self) -> None:
        self._show()

    def _show(self) -> None:
        """Let readers see the numbers, and nobody write them through ``numbers``."""
        self.numbers = read_only(self._numbers)

    @property
    def is_unique(self) -> bool:
        """Whether no two rows share a value, as with hostnames."""
        return not self._shared

    def places(self, size: int) -> NDArray[np.intp]:
        """Each row's number, and the one after the last where the label is missing.

        The same array as long as no label has changed: who keeps it can tell by that.
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

    def _set(self, row: int, labels: Mapping[str, str]) -> None:
        value = labels.get(self.key)
        number = MISSING if value is None else self._number(value)
        self._hold(self._numbers.item(row), -1)
        self._hold(number, 1)
        self._numbers[row] = number
        self._places = None

    def _hold(self, number: int, amount: int) -> None:
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
        """Whether each value satisfies the requirement; one more place, the last, for no label."""
        answers = np.zeros(len(self.values) + 1, np.bool_)
        if requirement.operator in ("In", "NotIn"):
            # By number: a hostname has as many values as there are nodes.
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
    """The columns in use; ``read`` gets a node's labels, or whatever these are columns of."""

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
        """Raise ``AssertionError`` when a column is not what the nodes say."""
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
        """The column of this key; ``nodes`` by row are read when it is new."""
        column = self._columns.pop(key, None)
        if column is None:
            column = LabelColumn(key, np.full(self._capacity, MISSING, np.intp))
            for row, node in enumerate(nodes):
                if node is not None:
                    column._set(row, self._read(node))
            while len(self._columns) >= _KEPT_COLUMNS:
                del self._columns[next(iter(self._columns))]
        self._columns[key] = column
        return column

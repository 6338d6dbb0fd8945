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
from podium.state.column import grown

MISSING: Final = -1
_KEPT_COLUMNS: Final = 128


@dataclass(slots=True, eq=False)
class LabelColumn:
    """One label key over all rows."""

    key: str
    numbers: NDArray[np.intp]
    values: list[str] = field(default_factory=list)
    number_of: dict[str, int] = field(default_factory=dict)

    def set(self, row: int, labels: Mapping[str, str]) -> None:
        value = labels.get(self.key)
        self.numbers[row] = MISSING if value is None else self.number(value)

    def number(self, value: str) -> int:
        number = self.number_of.get(value)
        if number is None:
            number = self.number_of[value] = len(self.values)
            self.values.append(value)
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
            column.numbers = grown(column.numbers, capacity, MISSING)

    def set(self, row: int, labels: Mapping[str, str]) -> None:
        for column in self._columns.values():
            column.set(row, labels)

    def check(self, nodes: Sequence[Node | None]) -> None:
        """Raise ``AssertionError`` when a column is not what the nodes say."""
        for key, column in self._columns.items():
            for row, node in enumerate(nodes):
                value = None if node is None else self._read(node).get(key)
                number = int(column.numbers[row])
                held = None if number == MISSING else column.values[number]
                assert held == value, f"{key} of row {row} is {value}, not {held}"

    def column(self, key: str, nodes: Sequence[Node | None]) -> LabelColumn:
        """The column of this key; ``nodes`` by row are read when it is new."""
        column = self._columns.pop(key, None)
        if column is None:
            column = LabelColumn(key, np.full(self._capacity, MISSING, np.intp))
            for row, node in enumerate(nodes):
                if node is not None:
                    column.set(row, self._read(node))
            while len(self._columns) >= _KEPT_COLUMNS:
                del self._columns[next(iter(self._columns))]
        self._columns[key] = column
        return column

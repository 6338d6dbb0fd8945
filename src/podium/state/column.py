"""One object per node, kept as the distinct objects and each node's index into them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

T = TypeVar("T")
U = TypeVar("U")


@dataclass(slots=True, eq=False)
class Column(Generic[T]):
    """Judge each distinct object once: 5,000 nodes with 3 taint sets cost 3 calls.

    Made several times for each answer of a filter; a frozen one takes four times as long.
    """

    values: list[T]
    index: NDArray[np.intp]

    @classmethod
    def of(cls, objects: Iterable[T]) -> Column[T]:
        """From one object per node; equal ones are stored once."""
        numbers: dict[Any, int] = {}
        known: dict[int, int] = {}  # by identity: to hash a Status takes longer than all the rest
        index: list[int] = []
        kept = list(objects)  # an object that is gone could lend its identity to the next
        last: object = kept  # not one of the objects
        number: int | None = None
        for value in kept:
            if value is not last:
                last = value
                number = known.get(id(value))
                if number is None:
                    number = known[id(value)] = numbers.setdefault(value, len(numbers))
            index.append(number)  # type: ignore[arg-type]  # the first value is not the last
        return cls(list(numbers), np.array(index, np.intp))

    @classmethod
    def uniform(cls, value: T, size: int) -> Column[T]:
        return cls([value], _zeros(size))

    @classmethod
    def where(cls, mask: NDArray[np.bool_], yes: T, no: T) -> Column[T]:
        if not mask.any():  # the usual case of a rejection, and cheaper for all who read it
            return cls.uniform(no, len(mask))
        return cls([no, yes], mask.astype(np.intp))

    def map(self, judge: Callable[[T], U]) -> Column[U]:
        return Column([judge(value) for value in self.values], self.index)

    def patched(self, places: NDArray[np.bool_], new: Column[T]) -> Column[T]:
        """The same with the objects at ``places`` replaced."""
        index = self.index.copy()
        index[places] = new.index + len(self.values)
        return Column([*self.values, *new.values], index)

    def to_array(self, dtype: DTypeLike) -> NDArray[Any]:
        if len(self.values) == 1:
            return np.full(len(self.index), self.values[0], dtype)
        return np.asarray(self.values, dtype)[self.index]

    @property
    def is_uniform(self) -> bool:
        """Whether ``uniform`` made the index: every place is known to be 0."""
        return self.index is _zeros(len(self.index))

    def __len__(self) -> int:
        return len(self.index)

    def __iter__(self) -> Iterator[T]:
        return (self.values[number] for number in self.index.tolist())


@lru_cache(maxsize=16)
def _zeros(size: int) -> NDArray[np.intp]:
    """One for all uniform columns of this size, most of which are answers of filters."""
    zeros = np.zeros(size, np.intp)
    zeros.flags.writeable = False
    return zeros


def packed(flags: list[NDArray[np.bool_]]) -> Column[int]:
    """Rows of booleans as a column of integers, one bit per array, lowest bit first."""
    if len(flags) > _WORD_BITS:
        return _packed_in_words(flags)
    bits = np.zeros(len(flags[0]), np.int64)
    for position, flag in enumerate(flags):
        bits |= flag.astype(np.int64) << position
    if len(flags) > _COUNTED_BITS:
        values, index = np.unique(bits, return_inverse=True)
        return Column(values.tolist(), index)
    # Counting finds the distinct ones without sorting: 30 µs instead of 220 for 5,000 nodes.
    found = np.flatnonzero(np.bincount(bits, minlength=1 << len(flags)))
    places = np.zeros(1 << len(flags), np.intp)
    places[found] = np.arange(len(found))
    return Column(found.tolist(), places[bits])


def _packed_in_words(flags: list[NDArray[np.bool_]]) -> Column[int]:
    """More flags than a word has bits: Python's integers have no end."""
    words = [flags[start : start + _WORD_BITS] for start in range(0, len(flags), _WORD_BITS)]
    rows = zip(*(packed(word) for word in words), strict=True)
    return Column.of(
        sum(bits << place * _WORD_BITS for place, bits in enumerate(row)) for row in rows
    )


_WORD_BITS: Final = 60


_COUNTED_BITS = 12


class Interned(Generic[T]):
    """A growing column of hashable objects, numbered; most nodes share a few.

    The number of an object that no row has any more goes to the next new one: taints carry times,
    and would otherwise fill the column over the months.
    """

    def __init__(self, empty: T) -> None:
        self.values: list[T] = [empty]
        self.numbers: NDArray[np.intp] = np.zeros(0, np.intp)
        self._number_of: dict[Hashable, int] = {empty: 0}
        self._rows: list[int] = [0]  # how many have each number; the empty object's is not counted
        self._spare: list[int] = []

    def grow(self, capacity: int) -> None:
        self.numbers = grown(self.numbers, capacity, 0)

    def set(self, row: int, value: T) -> None:
        number = self._number_of.get(value)
        if number is None:
            number = self._number_of[value] = self._place(value)
        self._rows[number] += 1
        self._release(int(self.numbers[row]))
        self.numbers[row] = number

    def _place(self, value: T) -> int:
        if self._spare:
            number = self._spare.pop()
            self.values[number] = value
            return number
        self.values.append(value)
        self._rows.append(0)
        return len(self.values) - 1

    def _release(self, number: int) -> None:
        self._rows[number] -= 1
        if number and not self._rows[number]:
            del self._number_of[self.values[number]]
            self.values[number] = self.values[0]
            self._spare.append(number)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of the array that nobody can write through."""
    shown = array.view()
    shown.flags.writeable = False
    return shown


def grown(array: NDArray[Any], capacity: int, fill: Any) -> NDArray[Any]:
    """The array with room for ``capacity`` rows along its last axis."""
    shape = (*array.shape[:-1], capacity)
    larger = np.full(shape, fill, array.dtype)
    larger[..., : array.shape[-1]] = array
    return larger

"""The placed pods as columns: what preemption compares of thousands of pods at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from podium.state.column import grown
from podium.state.pod_info import UNPLACED, PodInfo

_FIRST_CAPACITY: Final = 64
_NOT_STARTED: Final = (1 << 63) - 1  # later than any start
_UNREAD: Final = -1 << 63  # the pod's start is not looked up yet


class PodColumns:
    """One slot per placed pod, in the order of their turns.

    Invariants:

    - ``infos[info.slot] is info`` for every placed pod; ``rows`` has its row there, ``priorities``
      its priority, ``amounts`` what it requests, by resource, and ``_turns`` its turn.
    - The slot of a pod that left has no pod, the row ``UNPLACED`` and still the pod's turn; its
      other columns mean nothing. Only a pod that is put back uses it again. ``_make_room`` closes
      the gaps, and keeps the order.
    - Slots that are not used yet have priority 0, requests of 0 and an unread start.
    - ``_starts`` has ``_UNREAD`` until a start is first compared: most pods come and go without
      that.
    """

    def __init__(self, resources: int) -> None:
        self.infos: list[PodInfo | None] = []
        self.rows: NDArray[np.intp] = np.zeros(0, np.intp)
        self.priorities: NDArray[np.int64] = np.zeros(0, np.int64)
        self.amounts: NDArray[np.int64] = np.zeros((resources, 0), np.int64)
        self._starts: NDArray[np.int64] = np.zeros(0, np.int64)
        self._turns: NDArray[np.int64] = np.zeros(0, np.int64)
        self._latest = -1  # the turn of the last slot
        self._gaps = 0

    def add_resource(self) -> None:
        nothing = np.zeros((1, self.amounts.shape[1]), np.int64)
        self.amounts = np.vstack((self.amounts, nothing))

    def add(self, info: PodInfo, row: int, amounts: list[tuple[int, int]]) -> None:
        if len(self.infos) == len(self.rows):
            self._make_room()
        slot = len(self.infos)
        if info.turn > self._latest:
            self.infos.append(info)
            self._turns[slot] = self._latest = info.turn
        else:
            slot = self._reopened(info.turn)
            self.infos[slot] = info
        info.slot = slot
        self.rows[slot] = row
        if info.priority:
            self.priorities[slot] = info.priority
        columns = self.amounts
        for resource, amount in amounts:
            columns[resource, slot] = amount

    def add_all(
        self, infos: Sequence[PodInfo], rows: NDArray[np.intp], amounts: NDArray[np.int64]
    ) -> None:
        """Add pods whose turns follow the latest one. ``amounts`` are by resource and pod."""
        first, end = len(self.infos), len(self.infos) + len(infos)
        while end > len(self.rows):
            self._make_room()
            first, end = len(self.infos), len(self.infos) + len(infos)
        for slot, info in enumerate(infos, first):
            assert info.turn > self._latest, "a pod that is put back is added alone"
            info.slot = slot
            self._latest = info.turn
        self.infos += infos
        self.rows[first:end] = rows
        self.priorities[first:end] = [info.priority for info in infos]
        self._turns[first:end] = [info.turn for info in infos]
        self.amounts[:, first:end] = amounts

    def remove(self, info: PodInfo) -> None:
        slot = info.slot
        self.infos[slot] = None
        self.rows[slot] = UNPLACED
        info.slot = UNPLACED
        self._gaps += 1

    def _reopened(self, turn: int) -> int:
        """Return the slot of a pod that is put back: its gap, or a new one in its place."""
        used = len(self.infos)
        slot = int(self._turns[:used].searchsorted(turn))
        if slot < used and self._turns[slot] == turn:
            assert self.infos[slot] is None, "two pods have one turn"
            self._gaps -= 1
        else:
            self.infos.insert(slot, None)
            for info in self.infos[slot + 1 :]:
                if info is not None:
                    info.slot += 1
            for column in (self.rows, self.priorities, self._starts, self._turns, *self.amounts):
                column[slot + 1 : used + 1] = column[slot:used]
            self._turns[slot] = turn
        self.priorities[slot] = 0
        self._starts[slot] = _UNREAD
        self.amounts[:, slot] = 0
        return slot

    def renewed(self, info: PodInfo) -> None:
        """The placed pod has a new version, which may have a start."""
        self._starts[info.slot] = _UNREAD

    def below(self, priority: int, rows: NDArray[np.intp], size: int) -> PlacedPods:
        """Return the pods of lower priority on these rows of a table with ``size`` rows."""
        used = len(self.infos)
        is_asked = np.zeros(size + 1, np.bool_)  # the last element is for slots without a pod
        is_asked[rows] = True
        chosen = is_asked.take(self.rows[:used]) & (self.priorities[:used] < priority)
        return PlacedPods(self, np.flatnonzero(chosen))

    def sum_below(self, priority: int, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Return what pods of lower priority request, by resource and row."""
        used = len(self.infos)
        slots = np.flatnonzero((self.rows[:used] >= 0) & (self.priorities[:used] < priority))
        rows = self.rows[slots]
        sums = np.zeros(shape, np.int64)
        for column, amounts in zip(sums, self.amounts, strict=True):
            np.add.at(column, rows, amounts[slots])
        return sums

    def starts_of(self, slots: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return when these pods started, in nanoseconds, or ``_NOT_STARTED``."""
        starts = self._starts[slots]
        for position in np.flatnonzero(starts == _UNREAD).tolist():
            info = self.infos[slots[position]]
            assert info is not None
            starts[position] = info.started(_NOT_STARTED)
        self._starts[slots] = starts
        return starts

    def _make_room(self) -> None:
        """Close the gaps if half of the slots have no pod, else make the columns longer."""
        if 2 * self._gaps >= len(self.rows) > 0:
            kept = np.flatnonzero(self.rows >= 0)
            self.infos = [self.infos[slot] for slot in kept.tolist()]
            for slot, info in enumerate(self.infos):
                info.slot = slot  # type: ignore[union-attr]  # gaps are left out
            self._gaps = 0
            last = self.infos[-1] if self.infos else None
            self._latest = -1 if last is None else last.turn
            self._resize(kept, len(self.rows))
        else:
            self._resize(slice(None), max(_FIRST_CAPACITY, 2 * len(self.rows)))

    def _resize(self, kept: NDArray[np.intp] | slice, capacity: int) -> None:
        self.rows = grown(self.rows[kept], capacity, UNPLACED)
        self.priorities = grown(self.priorities[kept], capacity, 0)
        self._starts = grown(self._starts[kept], capacity, _UNREAD)
        self._turns = grown(self._turns[kept], capacity, 0)
        self.amounts = grown(self.amounts[:, kept], capacity, 0)

    def check(self, pods: Collection[PodInfo]) -> None:
        """Raise ``AssertionError`` when the columns differ from the placed pods."""
        there = [info for info in self.infos if info is not None]
        assert {info.uid for info in there} == {info.uid for info in pods}, "pods have no slot"
        assert len(there) == len(pods), "pods have more than one slot"
        assert len(self.infos) - len(there) == self._gaps, "gaps are not counted"
        turns = self._turns[: len(self.infos)]
        assert (turns[:-1] < turns[1:]).all(), "pods are not in the order of their turns"
        for slot, info in enumerate(self.infos):
            if info is None:
                assert self.rows[slot] == UNPLACED, f"slot {slot} has no pod, but a row"
                continue
            assert info.slot == slot, f"{info.key} is in slot {slot}, not {info.slot}"
            assert self.rows[slot] == info.row, f"{info.key} is in another row"
            assert self.priorities[slot] == info.priority, f"{info.key} has another priority"
            assert turns[slot] == info.turn, f"{info.key} has another turn"
            starts = _UNREAD, info.started(_NOT_STARTED)
            assert self._starts[slot] in starts, f"{info.key} has another start"


@dataclass(frozen=True, slots=True)
class PlacedPods:
    """Some placed pods as columns. Valid in its own cycle."""

    _columns: PodColumns
    _slots: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def rows(self) -> NDArray[np.intp]:
        """Return the row of each pod's node."""
        return self._columns.rows.take(self._slots)

    @property
    def priorities(self) -> NDArray[np.int64]:
        return self._columns.priorities.take(self._slots)

    def starts(self, now: int) -> NDArray[np.int64]:
        """Return when each pod started, in nanoseconds; ``now`` if it has not started."""
        starts = self._columns.starts_of(self._slots)
        known: NDArray[np.int64] = np.where(starts == _NOT_STARTED, now, starts)
        return known

    def requested(self, resources: Sequence[int]) -> NDArray[np.int64]:
        """Return what each pod requests, by resource and pod."""
        amounts = self._columns.amounts
        lines = [amounts[resource].take(self._slots) for resource in resources]
        return np.array(lines, np.int64).reshape(len(lines), len(self))

    def take(self, positions: NDArray[np.intp]) -> PlacedPods:
        """Return the pods at these positions, in this order."""
        return PlacedPods(self._columns, self._slots[positions])

    def infos(self) -> list[PodInfo]:
        infos = self._columns.infos
        return [info for slot in self._slots.tolist() if (info := infos[slot]) is not None]

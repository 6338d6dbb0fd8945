"""PrioritySort: pods of higher priority are tried first, equal ones in the order they came."""

from __future__ import annotations

from podium import framework as fwk


class PrioritySort(fwk.QueueSortPlugin):
    name = "PrioritySort"

    def less(self, first: fwk.QueuedPod, second: fwk.QueuedPod) -> bool:
        if first.info.priority != second.info.priority:
            return first.info.priority > second.info.priority
        return first.timestamp < second.timestamp

    def sort_key(self, queued: fwk.QueuedPod) -> tuple[int, float]:
        return -queued.info.priority, queued.timestamp

"""Waiting members of pod groups that are not in a queued group."""

from __future__ import annotations

from collections.abc import Iterator

from podium.framework.queued_pod import QueuedPod


class MembersByGroup:
    """Waiting pods by the key of their PodGroup, and then by their own.

    Invariant: every group in ``by_group`` has members. Only the methods write to it.
    """

    def __init__(self) -> None:
        self.by_group: dict[str, dict[str, QueuedPod]] = {}

    def __len__(self) -> int:
        return sum(map(len, list(self.by_group.values())))

    def __iter__(self) -> Iterator[QueuedPod]:
        return (member for own in self.by_group.values() for member in own.values())

    def add(self, member: QueuedPod) -> None:
        self.by_group.setdefault(member.pod.group_key, {})[member.key] = member

    def find(self, group_key: str, key: str) -> QueuedPod | None:
        return self.by_group.get(group_key, {}).get(key)

    def remove(self, group_key: str, key: str) -> None:
        own = self.by_group.get(group_key, {})
        if own.pop(key, None) is not None and not own:
            del self.by_group[group_key]

    def take(self, group_key: str) -> list[QueuedPod]:
        """Remove and return the members of one group."""
        return list(self.by_group.pop(group_key, {}).values())

    def take_all(self) -> list[QueuedPod]:
        members = list(self)
        self.by_group.clear()
        return members

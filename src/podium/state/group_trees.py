"""The trees of pod groups: which CompositePodGroup each group belongs to, and what is below it.

A group that names no parent is a root. Groups whose ancestors are not known yet, or that are their
own ancestors, have no root: their pods wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from podium.api.objects import CompositePodGroup, Pod, PodGroup
from podium.api.pod_groups import POD_GROUP, SchedulingGroup

MAX_DEPTH: Final = 4  # levels of a tree, PodGroups included


class GroupTrees:
    """All known groups by entity key, such as ``podgroup/default/workers``.

    Invariant: ``_children`` has each known group under its parent, which need not be known.
    Without ``has_composites`` every PodGroup is a tree of its own.
    """

    def __init__(self, *, has_composites: bool = False) -> None:
        self._has_composites = has_composites
        self._groups: dict[str, SchedulingGroup] = {}
        self._children: dict[str, dict[str, None]] = {}

    # --- changes ----------------------------------------------------------------------------------

    def change(self, old: SchedulingGroup | None, new: SchedulingGroup | None) -> None:
        """Take a change of a group; without a new object it is gone."""
        if old is not None:
            self.remove(old)
        if new is not None:
            self.put(new)

    def put(self, group: SchedulingGroup) -> None:
        """Take a group or its new version, which may have another parent."""
        known = self._groups.get(group.entity_key)
        if known is not None:
            self.remove(known)
        self._groups[group.entity_key] = group
        if parent := self.parent_key(group):
            self._children.setdefault(parent, {})[group.entity_key] = None

    def remove(self, group: SchedulingGroup) -> None:
        known = self._groups.pop(group.entity_key, None)
        parent = "" if known is None else self.parent_key(known)
        if parent:
            siblings = self._children[parent]
            del siblings[group.entity_key]
            if not siblings:
                del self._children[parent]

    # --- reading ----------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[SchedulingGroup]:
        return iter(self._groups.values())

    def get(self, entity_key: str) -> SchedulingGroup | None:
        return self._groups.get(entity_key)

    def group_of(self, pod: Pod) -> PodGroup | None:
        """Return the PodGroup of a pod."""
        return self.pod_group(pod.group_key) if pod.group_key else None

    def pod_group(self, key: str) -> PodGroup | None:
        """Return the PodGroup with this ``namespace/name``."""
        found = self._groups.get(f"{POD_GROUP}/{key}")
        return found if isinstance(found, PodGroup) else None

    def parent_key(self, group: SchedulingGroup) -> str:
        return group.parent_key if self._has_composites else ""

    def lineage(self, group: SchedulingGroup) -> list[SchedulingGroup]:
        """Return the group and its ancestors, up to one that is not known or comes twice."""
        found = {group.entity_key: group}
        while key := self.parent_key(group):
            parent = self._groups.get(key)
            if parent is None or key in found:
                break
            found[key] = group = parent
        return list(found.values())

    def root(self, group: SchedulingGroup) -> SchedulingGroup | None:
        """Return the topmost ancestor; ``None`` if one is missing, or the tree is a circle."""
        last = self.lineage(group)[-1]
        return None if self.parent_key(last) else last

    def root_of(self, pod: Pod) -> SchedulingGroup | None:
        """Return the root of the tree that a pod belongs to."""
        group = self.group_of(pod)
        return None if group is None else self.root(group)

    def children(self, group: SchedulingGroup) -> list[SchedulingGroup]:
        """Return the groups right below a group, in the order in which they are tried."""
        return self._children_of(group.entity_key)

    def leaves(self, group: SchedulingGroup) -> list[PodGroup]:
        """Return the PodGroups at or below a group, in order. It need not be known itself."""
        return list(self._leaves(group.entity_key, set()))

    def _leaves(self, key: str, seen: set[str]) -> Iterator[PodGroup]:
        if key in seen:
            return
        seen.add(key)
        group = self._groups.get(key)
        if isinstance(group, PodGroup):
            yield group
        for child in self._children_of(key):
            yield from self._leaves(child.entity_key, seen)

    def _children_of(self, key: str) -> list[SchedulingGroup]:
        found = [self._groups[child] for child in self._children.get(key, ())]
        return sorted(found, key=lambda each: (each.metadata.creation_timestamp, each.name))

    def check(self) -> None:
        listed = {(parent, key) for parent, own in self._children.items() for key in own}
        named = {(self.parent_key(each), each.entity_key) for each in self if self.parent_key(each)}
        assert listed == named, f"{listed} are not the children {named}"
        assert all(isinstance(each, PodGroup | CompositePodGroup) for each in self)

"""The objects of one kind in the store, and their invariants."""

from __future__ import annotations

from dataclasses import dataclass, field

from podium.apiserver.statuses import Json
from podium.apiserver.watches import DELETED, History, Item

Items = list[Item]
Key = tuple[str, str]  # namespace ("" for cluster-scoped kinds) and name


@dataclass(slots=True)
class ObjectTable:
    """The objects of one kind.

    Invariants: ``items`` and ``by_namespace`` hold the same objects, the latter grouped by
    namespace so that a list of one namespace is short. ``_ordered`` is either None or all keys in
    order; adding or removing a key resets it. `check_table` checks them, together with the history.
    """

    history: History
    items: dict[Key, Item] = field(default_factory=dict)
    by_namespace: dict[str, dict[Key, Item]] = field(default_factory=dict)
    _ordered: list[Key] | None = None  # all keys in order; None until they are needed

    def put(self, item: Item) -> None:
        if item.key not in self.items:
            self._ordered = None
        self.items[item.key] = item
        self.by_namespace.setdefault(item.key[0], {})[item.key] = item

    def pop(self, key: Key) -> None:
        self._ordered = None
        del self.items[key]
        inside = self.by_namespace[key[0]]
        del inside[key]
        if not inside:
            del self.by_namespace[key[0]]

    def ordered(self, namespace: str | None) -> Items:
        if namespace is not None:
            return sorted(self.inside(namespace).values(), key=by_key)
        if self._ordered is None:
            self._ordered = sorted(self.items)
        return [self.items[key] for key in self._ordered]

    def inside(self, namespace: str | None) -> dict[Key, Item]:
        return self.items if namespace is None else self.by_namespace.get(namespace, {})


def by_key(item: Item) -> Key:
    return item.key


def is_finished(obj: Json) -> bool:
    """Return whether nothing holds a deleted object any more: no finalizer, no grace period."""
    meta = obj["metadata"]
    if "deletionTimestamp" not in meta or meta.get("finalizers"):
        return False
    if obj.get("kind") == "Namespace" and (obj.get("spec") or {}).get("finalizers"):
        return False  # while a namespace is not empty, its spec holds it as well
    return not meta.get("deletionGracePeriodSeconds")


def check_table(resource: str, table: ObjectTable, version: int) -> None:
    scattered = {key: item for part in table.by_namespace.values() for key, item in part.items()}
    assert scattered == table.items, f"{resource}: the index by namespace differs"
    uids = [item.meta.uid for item in table.items.values()]
    assert len(uids) == len(set(uids)), f"{resource}: a uid is used twice"
    for key, item in table.items.items():
        obj = item.decode()
        meta = obj["metadata"]
        assert item.key == key == (meta.get("namespace", ""), meta["name"]), f"{resource}: {key}"
        assert meta["resourceVersion"] == str(item.version), f"{resource}: {key} version"
        assert item.version <= version, f"{resource}: {key} is from the future"
        assert not is_finished(obj), f"{resource}: {key} should be gone"
    versions = [event.version for event in table.history.events]
    assert versions == sorted(set(versions)), f"{resource}: history out of order"
    assert len(versions) <= 2 * table.history.limit, f"{resource}: history unbounded"
    sizes = sum(len(event.new.encoded) for event in table.history.events)
    assert sizes == table.history.size, f"{resource}: history of another size"
    latest = {event.key: event for event in table.history.events}
    for key, event in latest.items():
        held = table.items.get(key)
        expected = None if event.type == DELETED else event.new
        assert held is expected, f"{resource}: {key} is not what its last event says"

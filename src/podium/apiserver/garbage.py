"""The garbage collector: deletes the dependents of an object that is deleted.

It listens to the store and acts within the same write, so that no request sees a half-done
deletion. Foreground deletion waits for the dependents first.
"""

from __future__ import annotations

from collections import defaultdict

from podium.apiserver.kinds.api_kind import KindTable
from podium.apiserver.kinds.core.pods import pod_grace
from podium.apiserver.statuses import Json
from podium.apiserver.store import FOREGROUND, ORPHAN, Deletion, Key, ObjectStore
from podium.apiserver.watches import DELETED, Event, Item

Ref = tuple[str, Key]  # a resource and the key of an object in it


class GarbageCollector:
    """Knows by uid which objects depend on which, and cleans up after deletions."""

    def __init__(self, store: ObjectStore, kinds: KindTable) -> None:
        self._store = store
        self._kinds = kinds
        self._dependents: dict[str, set[Ref]] = defaultdict(set)
        store.listen(self._on_event)

    def _on_event(self, resource: str, event: Event) -> None:
        ref = (resource, event.key)
        before = _owners(event.old) if event.old else []
        after = _owners(event.new) if event.type != DELETED else []
        self._index(ref, before, after)
        if event.type == DELETED:
            self._after_removal(event, before)
        else:
            if after and after != before and not self._store.is_restoring:
                self._collect_orphan(ref)
            self._after_marking(ref, event.new)

    def _index(self, ref: Ref, before: list[Json], after: list[Json]) -> None:
        old = {owner.get("uid", "") for owner in before}
        new = {owner.get("uid", "") for owner in after}
        for uid in old - new:
            self._dependents[uid].discard(ref)
            if not self._dependents[uid]:
                del self._dependents[uid]
        for uid in new - old:
            self._dependents[uid].add(ref)

    def _after_removal(self, event: Event, owners: list[Json]) -> None:
        for dependent in sorted(self._dependents.get(event.new.meta.uid, ())):
            self._collect_orphan(dependent)
        for owner in owners:  # it was the last dependent that its owner waited for
            found = self._owner(event.key[0], owner)
            if found is not None:
                self._after_marking(found, self._store.item(*found))

    def _after_marking(self, ref: Ref, item: Item) -> None:
        if b'"deletionTimestamp"' not in item.encoded:
            return
        meta = item.decode()["metadata"]
        finalizers = meta.get("finalizers") or []
        if "deletionTimestamp" not in meta:
            return
        if ORPHAN in finalizers:
            for dependent in sorted(self._dependents.get(meta["uid"], ())):
                self._disown(dependent, meta["uid"])
            self._release(ref, ORPHAN)
        elif FOREGROUND in finalizers:
            self._delete_dependents(ref, meta["uid"])

    def _delete_dependents(self, ref: Ref, uid: str) -> None:
        for dependent in sorted(self._dependents.get(uid, ())):
            item = self._store.find(*dependent)
            if item is not None and "deletionTimestamp" not in item.decode()["metadata"]:
                self._delete(dependent, foreground=True)
        blocking = [
            dependent for dependent in self._dependents.get(uid, ()) if self._blocks(dependent, uid)
        ]
        if not blocking:
            self._release(ref, FOREGROUND)

    def _blocks(self, dependent: Ref, uid: str) -> bool:
        item = self._store.find(*dependent)
        owners = _owners(item) if item else []
        return any(owner.get("uid") == uid and owner.get("blockOwnerDeletion") for owner in owners)

    def _collect_orphan(self, ref: Ref) -> None:
        """Delete an object if none of its owners exists any more."""
        item = self._store.find(*ref)
        if item is None:
            return
        owners = _owners(item)
        left = [owner for owner in owners if self._is_there(item.key[0], owner)]
        if owners and not left:
            self._delete(ref)
        elif len(left) < len(owners):
            obj = item.decode()
            obj["metadata"]["ownerReferences"] = left
            self._store.update(ref[0], obj)

    def _is_there(self, namespace: str, owner: Json) -> bool:
        """Return whether an owner exists. An owner of an unknown kind counts as existing."""
        if self._kinds.of(owner.get("apiVersion", ""), owner.get("kind", "")) is None:
            return True
        return self._owner(namespace, owner) is not None

    def _owner(self, namespace: str, owner: Json) -> Ref | None:
        kind = self._kinds.of(owner.get("apiVersion", ""), owner.get("kind", ""))
        if kind is None:
            return None
        ref = (kind.storage, (namespace if kind.namespaced else "", owner.get("name", "")))
        item = self._store.find(*ref)
        return ref if item is not None and item.meta.uid == owner.get("uid") else None

    def _delete(self, ref: Ref, foreground: bool = False) -> None:
        item = self._store.item(*ref)
        grace = pod_grace(item.decode()) if ref[0] == "pods" else 0
        dependents = self._dependents.get(item.meta.uid)
        finalizers = (FOREGROUND,) if foreground and dependents else ()
        self._store.delete(*ref, Deletion(grace, finalizers))

    def _disown(self, ref: Ref, uid: str) -> None:
        obj = self._store.item(*ref).decode()
        owners = obj["metadata"].get("ownerReferences") or []
        obj["metadata"]["ownerReferences"] = [one for one in owners if one.get("uid") != uid]
        self._store.update(ref[0], obj)

    def _release(self, ref: Ref, finalizer: str) -> None:
        item = self._store.find(*ref)
        if item is None:
            return
        obj = item.decode()
        kept = [one for one in obj["metadata"].get("finalizers") or [] if one != finalizer]
        obj["metadata"]["finalizers"] = kept
        if not kept:
            del obj["metadata"]["finalizers"]
        self._store.update(ref[0], obj)


def _owners(item: Item) -> list[Json]:
    if (
        b'"ownerReferences"' not in item.encoded
    ):  # most objects have no owner; this check is cheaper than decoding
        return []
    return item.decode()["metadata"].get("ownerReferences") or []

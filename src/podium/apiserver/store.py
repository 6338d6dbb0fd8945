"""The versioned object store: objects as JSON, one version counter, bounded watch history.

A pure state machine without HTTP: no sockets, no sleeping, time from the Clock. It knows what every
kind shares (names, versions, uids, deletion with finalizers and grace); what a kind adds on top is
`api.py`'s. Objects go in as plain dicts and come out as fresh ones.
"""

from __future__ import annotations

import random
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from podium.api.times import time_text
from podium.apiserver import statuses
from podium.apiserver.object_table import Items, Key, ObjectTable, by_key, check_table, is_finished
from podium.apiserver.statuses import Json
from podium.apiserver.watches import ADDED, DELETED, MODIFIED, Event, History, Item, Watch
from podium.clock import Clock
from podium.logs import get_logger

__all__ = [
    "ALWAYS",
    "FOREGROUND",
    "NOW",
    "ORPHAN",
    "Deletion",
    "Key",
    "Listing",
    "ObjectStore",
    "Preconditions",
    "check_current",
    "failed_precondition",
]

log = get_logger(__name__)

Names = list[str]
Objects = list[Json]

# Without vowels and look-alikes, so that a generated name is no word.
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_LONGEST_PREFIX = 63 - _SUFFIX_LENGTH
_NAME_TRIES = 8

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"  # the garbage collector's own finalizers


@dataclass(frozen=True, slots=True)
class Preconditions:
    """What must still be true of an object for it to be deleted."""

    uid: str | None = None
    version: str | None = None


ALWAYS = Preconditions()


@dataclass(frozen=True, slots=True)
class Deletion:
    """How to delete: after which grace, with which finalizers added, under which conditions."""

    grace_seconds: int | None = 0  # None leaves it to the finalizers alone
    finalizers: tuple[str, ...] = ()
    preconditions: Preconditions = ALWAYS
    dry_run: bool = False
    graceful: bool = False  # of a kind with grace: also what goes at once is shown as going


@dataclass(frozen=True, slots=True)
class Listing:
    """The objects of a kind at one version, in the order of their keys."""

    items: Items
    version: int


NOW = Deletion()

Listener = Callable[[str, Event], None]


class ObjectStore:
    """Objects by resource (``"pods"``, ``"deployments.apps"``), each with its latest version."""

    def __init__(self, clock: Clock, *, history: int = 8192, seed: int | None = None) -> None:
        self.clock = clock
        self.version = 1  # clients read 0 as "any version", so no state is called that
        self._limit = history
        self._random = random.Random(seed)
        self._seeded = seed is not None
        self._tables: dict[str, ObjectTable] = {}
        self.faults = 0  # of listeners; an invariant is that there are none
        self._listeners: list[Listener] = []
        self._untold: deque[tuple[str, Event]] = deque()

    def listen(self, listener: Listener) -> None:
        """Call ``listener(resource, event)`` on each change, inside the write that makes it."""
        self._listeners.append(listener)

    def drop(self, resource: str) -> None:
        """Forget a kind that no longer exists, and everything of it."""
        for key in list(self._table(resource).items):
            self._remove(resource, key)

    # Reading

    def find(self, resource: str, key: Key) -> Item | None:
        return self._table(resource).items.get(key)

    def item(self, resource: str, key: Key) -> Item:
        found = self.find(resource, key)
        if found is None:
            raise statuses.not_found(resource, key[1])
        return found

    def get(self, resource: str, namespace: str, name: str) -> Json:
        return self.item(resource, (namespace, name)).decode()

    def list(self, resource: str, namespace: str | None = None, at: int | None = None) -> Listing:
        """All objects, of one namespace or of all; ``at`` gives them as they were then."""
        table = self._table(resource)
        if at is not None and at > self.version:
            raise statuses.too_new(at, self.version)
        if at is None:
            return Listing(table.ordered(namespace), self.version)
        return Listing(self._as_of(table, namespace, at), at)

    def objects(self, resource: str, namespace: str | None = None) -> Objects:
        """All objects as fresh dicts, for code in this process."""
        return [item.decode() for item in self.list(resource, namespace).items]

    def count(self, resource: str) -> int:
        return len(self._table(resource).items)

    def watchers(self, resource: str) -> int:
        return len(self._table(resource).history.watches)

    def resources(self) -> Names:
        return sorted(self._tables)

    def watch(self, resource: str, since: int, notify: Callable[[], None]) -> Watch:
        """Follow a kind from a version; the caller closes the watch."""
        return Watch(self._table(resource).history, since, notify)

    # Writing

    def create(self, resource: str, obj: Json, *, dry_run: bool = False) -> Item:
        obj, meta = _own(obj)
        key = self._new_key(resource, meta)
        meta["uid"] = meta.get("uid") or self.new_uid()
        meta["creationTimestamp"] = time_text(self.clock.now())
        for theirs in ("deletionTimestamp", "deletionGracePeriodSeconds"):
            meta.pop(theirs, None)
        return self._write(resource, key, obj, dry_run)

    def update(self, resource: str, obj: Json, *, dry_run: bool = False) -> Item:
        """Replace an object; a version in it must be the current one."""
        obj, meta = _own(obj)
        key = (meta.get("namespace", ""), meta["name"])
        current = self.item(resource, key)
        check_current(resource, current, meta)
        old = current.decode()
        _keep_system_fields(old["metadata"], meta)
        meta["resourceVersion"] = old["metadata"]["resourceVersion"]
        if obj == old:
            return current  # a write that changes nothing makes no version
        if is_finished(obj):
            return self._remove(resource, key, obj, dry_run)
        return self._write(resource, key, obj, dry_run)

    def delete(self, resource: str, key: Key, how: Deletion = NOW) -> Item:
        """Delete now, or mark as being deleted while grace or finalizers hold it."""
        current = self.item(resource, key)
        _check_preconditions(resource, current, how.preconditions)
        obj = current.decode()
        meta = obj["metadata"]
        self._mark_deleted(meta, how)
        if is_finished(obj):
            item = self._remove(resource, key, _last_state(current, obj), how.dry_run)
            return _item(key, item.version, obj) if how.graceful else item
        if obj == current.decode():
            return current
        return self._write(resource, key, obj, how.dry_run)

    def remove(self, resource: str, key: Key) -> None:
        """Take an object away whatever holds it: for a whole kind that goes."""
        self._remove(resource, key)

    def check_invariants(self) -> None:
        """Raise AssertionError when the parts of the store contradict one another."""
        assert not self.faults, "a listener failed: see the log"
        for resource, table in self._tables.items():
            check_table(resource, table, self.version)

    def _table(self, resource: str) -> ObjectTable:
        table = self._tables.get(resource)
        if table is None:
            # A kind's history starts with the kind: what was before holds nothing of it.
            table = self._tables[resource] = ObjectTable(History(self._limit))
        return table

    def _as_of(self, table: ObjectTable, namespace: str | None, at: int) -> Items:
        """The state at an earlier version: the present one with later events undone."""
        later = table.history.since(at)
        if not later:
            return table.ordered(namespace)
        items = dict(table.inside(namespace))
        for event in reversed(later):
            if namespace is not None and event.key[0] != namespace:
                continue
            if event.old is None:
                items.pop(event.key, None)
            else:
                items[event.key] = event.old
        return sorted(items.values(), key=by_key)

    def _new_key(self, resource: str, meta: Json) -> Key:
        namespace = meta.get("namespace", "")
        if meta.get("name"):
            if self.find(resource, (namespace, meta["name"])):
                raise statuses.already_exists(resource, meta["name"])
            return (namespace, meta["name"])
        meta["name"] = self.new_name(resource, meta)
        return (namespace, meta["name"])

    def new_name(self, resource: str, meta: Json) -> str:
        """A name that is free, made from the prefix in the metadata."""
        prefix = str(meta["generateName"])[:_LONGEST_PREFIX]
        for _ in range(_NAME_TRIES):
            letters = self._random.choices(_SUFFIX_LETTERS, k=_SUFFIX_LENGTH)
            name = prefix + "".join(letters)
            if self.find(resource, (meta.get("namespace", ""), name)) is None:
                return name
        raise statuses.already_exists(resource, name)

    def new_uid(self) -> str:
        if self._seeded:
            return str(uuid.UUID(int=self._random.getrandbits(128), version=4))
        return str(uuid.uuid4())

    def _mark_deleted(self, meta: Json, how: Deletion) -> None:
        grace = how.grace_seconds or 0
        if "deletionTimestamp" in meta:  # a second deletion can only shorten the grace
            grace = min(grace, meta.get("deletionGracePeriodSeconds", grace))
        if "deletionTimestamp" not in meta or grace < meta.get("deletionGracePeriodSeconds", 0):
            if "generation" in meta and "deletionTimestamp" not in meta:
                meta["generation"] += 1  # to the kind's controller a deletion changes the spec
            meta["deletionTimestamp"] = time_text(self.clock.now() + grace)
            if how.grace_seconds is not None:
                meta["deletionGracePeriodSeconds"] = grace
        if how.finalizers:
            kept = [one for one in meta.get("finalizers", []) if one not in (FOREGROUND, ORPHAN)]
            meta["finalizers"] = [*kept, *how.finalizers]

    def _write(self, resource: str, key: Key, obj: Json, dry_run: bool) -> Item:
        table = self._table(resource)
        old = table.items.get(key)
        version = self.version if dry_run else self.version + 1
        item = _item(key, version, obj)
        if dry_run:
            return item if old else _unversioned(item)
        self.version = version
        table.put(item)
        self._commit(resource, Event(version, MODIFIED if old else ADDED, old, item))
        return item

    def _remove(
        self, resource: str, key: Key, obj: Json | None = None, dry_run: bool = False
    ) -> Item:
        """Take an object away; its last state carries the version of its removal."""
        table = self._table(resource)
        old = table.items[key]
        version = self.version if dry_run else self.version + 1
        item = _item(key, version, old.decode() if obj is None else obj)
        if dry_run:
            return item
        self.version = version
        table.pop(key)
        self._commit(resource, Event(version, DELETED, old, item))
        return item

    def _commit(self, resource: str, event: Event) -> None:
        self._table(resource).history.append(event)
        self._untold.append((resource, event))
        if len(self._untold) > 1:
            return  # a listener wrote: the call that is telling tells this too, in order
        while self._untold:
            self._tell(*self._untold[0])
            self._untold.popleft()

    def _tell(self, resource: str, event: Event) -> None:
        for listener in self._listeners:
            try:
                listener(resource, event)
            except Exception:  # the write is done: its writer and the other listeners go on
                self.faults += 1
                log.error("listener failed", resource=resource, key=event.key)


def _own(obj: Json) -> tuple[Json, Json]:
    """The object and its metadata as copies, since the caller's stay as they are."""
    meta = dict(obj.get("metadata") or {})
    return {**obj, "metadata": meta}, meta


def _item(key: Key, version: int, obj: Json) -> Item:
    obj["metadata"]["resourceVersion"] = str(version)
    for name in ("apiVersion", "kind"):
        if name in obj:
            obj[name] = obj.pop(name)  # last, so that lists can cut them off unread
    return Item(key, version, msgspec.json.encode(obj))


def _unversioned(item: Item) -> Item:
    """An object that was only tried: it has no version."""
    obj = item.decode()
    del obj["metadata"]["resourceVersion"]
    return Item(item.key, item.version, msgspec.json.encode(obj))


def _last_state(current: Item, marked: Json) -> Json:
    """An object that goes at once is never seen as being deleted."""
    obj = current.decode()
    return marked if "deletionTimestamp" in obj["metadata"] else obj


def check_current(resource: str, current: Item, meta: Json) -> None:
    """A version or a uid that somebody brings along must be that of the object."""
    name, version, uid = current.key[1], meta.get("resourceVersion"), meta.get("uid")
    if version and version != str(current.version):
        raise statuses.conflict(resource, name)
    if uid and uid != current.meta.uid:
        why = failed_precondition("UID", uid, current.meta.uid)
        raise statuses.conflict(resource, name, why)


def _check_preconditions(resource: str, current: Item, wanted: Preconditions) -> None:
    name = current.key[1]
    uid, version = current.meta.uid, str(current.version)
    for what, want, have in (
        ("UID", wanted.uid, uid),
        ("ResourceVersion", wanted.version, version),
    ):
        if want is not None and want != have:
            raise statuses.conflict(resource, name, failed_precondition(what, want, have))


def failed_precondition(what: str, want: str, have: str) -> str:
    return f"Precondition failed: {what} in precondition: {want}, {what} in object meta: {have}"


def _keep_system_fields(old: Json, new: Json) -> None:
    """What only the server writes stays as it was, whatever the client sent."""
    for name in ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"):
        if name in old:
            new[name] = old[name]
        else:
            new.pop(name, None)

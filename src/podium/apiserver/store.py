"""The versioned object store: objects as JSON, one version counter, a bounded history for watches.

It is a state machine without HTTP: no sockets, no sleeping, time from the Clock. It knows what all
kinds share: names, versions, uids, deletion with finalizers and grace periods. What a kind adds is
in `api.py`. Objects go in as plain dicts and come out as new ones.
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

# Without vowels and similar characters, so that generated names are not words.
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_LONGEST_PREFIX = 63 - _SUFFIX_LENGTH
_NAME_TRIES = 8

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"  # finalizers of the garbage collector


@dataclass(frozen=True, slots=True)
class Preconditions:
    """Conditions that an object must still meet to be deleted."""

    uid: str | None = None
    version: str | None = None


ALWAYS = Preconditions()


@dataclass(frozen=True, slots=True)
class Deletion:
    """The options of a deletion: its grace period, finalizers and preconditions."""

    grace_seconds: int | None = 0  # None: the object goes when its finalizers are gone
    finalizers: tuple[str, ...] = ()
    preconditions: Preconditions = ALWAYS
    dry_run: bool = False
    graceful: bool = False  # an object that goes at once is shown as being deleted, too


@dataclass(frozen=True, slots=True)
class Listing:
    """The objects of a kind at one version, ordered by key."""

    items: Items
    version: int


NOW = Deletion()

Listener = Callable[[str, Event], None]


class ObjectStore:
    """Objects by resource (``"pods"``, ``"deployments.apps"``), each at its latest version.

    Every change raises ``version`` by one, becomes one event in the history of its resource, and is
    then passed to the listeners. A listener may write: its changes wait in ``_unreported`` until
    all listeners have seen the present one, so that all see the same order.
    """

    def __init__(self, clock: Clock, *, history: int = 8192, seed: int | None = None) -> None:
        self.clock = clock
        self.version = 1  # clients read 0 as "any version", so versions start at 1
        self._limit = history
        self._random = random.Random(seed)
        self._seeded = seed is not None
        self._tables: dict[str, ObjectTable] = {}
        self.is_restoring = False
        self.faults = 0  # exceptions in listeners; tests check that there are none
        self._listeners: list[Listener] = []
        self._unreported: deque[tuple[str, Event]] = deque()

    def listen(self, listener: Listener) -> None:
        """Call ``listener(resource, event)`` on each change, inside the write that makes it."""
        self._listeners.append(listener)

    def drop(self, resource: str) -> None:
        """Remove all objects of a kind that no longer exists."""
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
        """Return all objects, of one namespace or of all; with ``at``, as of that version."""
        table = self._table(resource)
        if at is not None and at > self.version:
            raise statuses.too_new(at, self.version)
        if at is None:
            return Listing(table.ordered(namespace), self.version)
        return Listing(self._as_of(table, namespace, at), at)

    def objects(self, resource: str, namespace: str | None = None) -> Objects:
        """Return all objects as new dicts, for code in this process."""
        return [item.decode() for item in self.list(resource, namespace).items]

    def count(self, resource: str) -> int:
        return len(self._table(resource).items)

    def watchers(self, resource: str) -> int:
        return len(self._table(resource).history.watches)

    def resources(self) -> Names:
        return sorted(self._tables)

    def watch(self, resource: str, since: int, notify: Callable[[], None]) -> Watch:
        """Follow a kind from a version. The caller closes the watch."""
        return Watch(self._table(resource).history, since, notify)

    # Writing

    def create(self, resource: str, obj: Json, *, dry_run: bool = False) -> Item:
        obj, meta = _copied(obj)
        key = self._new_key(resource, meta)
        meta["uid"] = meta.get("uid") or self.new_uid()
        meta["creationTimestamp"] = time_text(self.clock.now())
        for theirs in ("deletionTimestamp", "deletionGracePeriodSeconds"):
            meta.pop(theirs, None)
        return self._write(resource, key, obj, dry_run)

    def restore(self, resource: str, obj: Json) -> Item:
        """Put an object from another store, with its uid and times; replace one with its name.

        Owners that are not there are no reason to collect it: they may not have been copied.
        """
        obj, meta = _copied(obj)
        self.is_restoring = True
        try:
            return self._write(resource, (meta.get("namespace", ""), meta["name"]), obj, False)
        finally:
            self.is_restoring = False

    def update(self, resource: str, obj: Json, *, dry_run: bool = False) -> Item:
        """Replace an object. A version in it must be the current one."""
        obj, meta = _copied(obj)
        key = (meta.get("namespace", ""), meta["name"])
        current = self.item(resource, key)
        check_current(resource, current, meta)
        old = current.decode()
        _keep_system_fields(old["metadata"], meta)
        meta["resourceVersion"] = old["metadata"]["resourceVersion"]
        if obj == old:
            return current  # a write that changes nothing creates no version
        if is_finished(obj):
            return self._remove(resource, key, obj, dry_run)
        return self._write(resource, key, obj, dry_run)

    def delete(self, resource: str, key: Key, how: Deletion = NOW) -> Item:
        """Delete an object now, or mark it while its grace period or finalizers hold it."""
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
        """Remove an object whatever holds it, because its whole kind is removed."""
        self._remove(resource, key)

    def check_invariants(self) -> None:
        """Raise AssertionError if the parts of the store contradict each other."""
        assert not self.faults, "a listener failed: see the log"
        for resource, table in self._tables.items():
            check_table(resource, table, self.version)

    def _table(self, resource: str) -> ObjectTable:
        table = self._tables.get(resource)
        if table is None:
            # The history of a kind starts with the kind; there was nothing before.
            table = self._tables[resource] = ObjectTable(History(self._limit))
        return table

    def _as_of(self, table: ObjectTable, namespace: str | None, at: int) -> Items:
        """Return the state at an earlier version: the present state with later events undone."""
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
        """Return a free name that starts with the prefix in the metadata."""
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
        if "deletionTimestamp" in meta:  # a second deletion can only shorten the grace period
            grace = min(grace, meta.get("deletionGracePeriodSeconds", grace))
        if "deletionTimestamp" not in meta or grace < meta.get("deletionGracePeriodSeconds", 0):
            if "generation" in meta and "deletionTimestamp" not in meta:
                meta["generation"] += 1  # for controllers a deletion counts as a change of the spec
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
        """Remove an object. Its last state carries the version of the removal."""
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
        self._unreported.append((resource, event))
        if len(self._unreported) > 1:
            return  # written by a listener: the outer call reports it next, in order
        while self._unreported:
            self._report(*self._unreported[0])
            self._unreported.popleft()

    def _report(self, resource: str, event: Event) -> None:
        for listener in self._listeners:
            try:
                listener(resource, event)
            except Exception:  # the write is done, so the writer and the other listeners continue
                self.faults += 1
                log.error("listener failed", resource=resource, key=event.key)


def _copied(obj: Json) -> tuple[Json, Json]:
    """Return a copy of the object and its metadata, so that the caller's stay unchanged."""
    meta = dict(obj.get("metadata") or {})
    return {**obj, "metadata": meta}, meta


def _item(key: Key, version: int, obj: Json) -> Item:
    obj["metadata"]["resourceVersion"] = str(version)
    for name in ("apiVersion", "kind"):
        if name in obj:
            obj[name] = obj.pop(name)  # last, so that lists can cut them off without decoding
    return Item(key, version, msgspec.json.encode(obj))


def _unversioned(item: Item) -> Item:
    """Return the result of a dry run, which has no version."""
    obj = item.decode()
    del obj["metadata"]["resourceVersion"]
    return Item(item.key, item.version, msgspec.json.encode(obj))


def _last_state(current: Item, marked: Json) -> Json:
    """Return the last state of an object. One that is removed at once never shows as deleting."""
    obj = current.decode()
    return marked if "deletionTimestamp" in obj["metadata"] else obj


def check_current(resource: str, current: Item, meta: Json) -> None:
    """Refuse a version or uid that is not that of the current object."""
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
    """Keep the fields that only the server writes, whatever the client sent."""
    for name in ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"):
        if name in old:
            new[name] = old[name]
        else:
            new.pop(name, None)

"""The API without HTTP: create, update, patch and delete objects of any kind.

Routes call it for clients; controllers and kubelets in this process call it directly. Between the
request and the store it decodes the object, fills in defaults, runs admission, validates, and
records which manager owns which field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from podium.api.times import time_text
from podium.apiserver import metadata, statuses
from podium.apiserver.crd_rules import custom_causes, fill_defaults
from podium.apiserver.decoding import Undecodable, conform
from podium.apiserver.deletion import DeleteOptions, check_preconditions, deletion_of
from podium.apiserver.disabled_fields import drop_disabled
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kinds.builtin import builtin_kinds
from podium.apiserver.object_types import check_type
from podium.apiserver.ownership import APPLY, UPDATE, Manager, Writer, apply, track
from podium.apiserver.preparation import (
    count_generation,
    drop_status,
    keep_names,
    keep_status,
    left_in_status,
    only_status,
    prepare_create,
    strip_system_metadata,
)
from podium.apiserver.required_fields import missing_fields
from podium.apiserver.statuses import Cause, Json, Refusal, bad_request
from podium.apiserver.store import (
    Key,
    ObjectStore,
    check_current,
    failed_precondition,
)
from podium.apiserver.watches import Item
from podium.apiserver.zeros import drop_zeros
from podium.release import LATEST, Release

Change = Callable[[Json], Json]


@dataclass(slots=True)
class Call:
    """The options of a write, besides the object itself."""

    manager: str = ""  # owns the written fields; with "" no owner is recorded
    dry_run: bool = False
    validation: str = "Warn"  # what to do about unknown fields: Ignore, Warn, Strict
    subresource: str = ""
    warnings: list[str] = field(default_factory=list)


class Api:
    """The operations of all kinds on one store."""

    def __init__(
        self,
        store: ObjectStore,
        release: Release = LATEST,
        features: frozenset[str] = frozenset(),
    ) -> None:
        self.store = store
        self.release = release
        self.features = features
        self.kinds = builtin_kinds(release, features)

    def kind(self, resource: str) -> ApiKind:
        """Return the kind of a resource, such as ``"pods"`` or ``"deployments.apps"``."""
        return self.kinds.resource(resource)

    # Reading

    def item(self, kind: ApiKind, key: Key) -> Item:
        found = self.store.find(kind.storage, key)
        if found is None:
            raise statuses.not_found(kind.resource, key[1])
        return found

    def get(self, kind: ApiKind, key: Key) -> Json:
        return kind.from_stored(self.item(kind, key).decode())

    # Writing

    def create(self, kind: ApiKind, namespace: str, raw: Any, call: Call) -> Item:
        obj = self._decoded(kind, raw, call)
        meta = obj["metadata"] = dict(obj.get("metadata") or {})
        _place(kind, meta, namespace)
        self._check_namespace(kind, namespace, meta)
        if meta.get("resourceVersion"):
            raise bad_request("resourceVersion should not be set on objects to be created")
        strip_system_metadata(meta)
        meta["uid"] = self.store.new_uid()
        drop_status(kind, obj)
        self._default(kind, obj)
        self._track(kind, None, obj, call)  # what follows is set by the server and has no owner
        self._drop_disabled(kind, obj)
        self._admit(kind, obj, None)
        if not meta.get("name") and meta.get("generateName"):
            meta["name"] = self.store.new_name(kind.storage, meta)
        elif not meta.get("name") and kind.named_by_uid:
            meta["name"] = self.store.new_uid()
        prepare_create(kind, obj, time_text(self.store.clock.now()))
        kind.complete(obj)
        self._check(kind, self._causes(kind, obj), (obj, None), call)
        call.warnings += kind.creation_warnings(obj)
        if kind.stored_as and self.store.find(kind.storage, (namespace, meta["name"])):
            raise statuses.already_exists(kind.resource, meta["name"])
        if kind.counts_generations:
            meta["generation"] = 1
        return self.store.create(kind.storage, kind.to_stored(obj), dry_run=call.dry_run)

    def restore(self, kind: ApiKind, raw: Any) -> Item:
        """Put an object as another API server had it: with its uid, its times and its status.

        It gets the defaults that an older server may not have known, and is not checked again.
        """
        obj = self._decoded(kind, raw, Call(validation="Ignore"))
        meta = obj["metadata"] = dict(obj.get("metadata") or {})
        _place(kind, meta, meta.get("namespace", ""))
        self._default(kind, obj)
        if kind.has_status:
            obj.setdefault("status", {})
        return self.store.restore(kind.storage, kind.to_stored(obj))

    def update(self, kind: ApiKind, key: Key, raw: Any, call: Call) -> Item:
        """Replace an object, or only its status if `call.subresource` is "status"."""
        obj = self._decoded(kind, raw, call)
        meta = obj["metadata"] = dict(obj.get("metadata") or {})
        _place(kind, meta, key[0])
        check_name(meta, key)
        if kind.put_creates and self.store.find(kind.storage, key) is None:
            if uid := meta.get("uid"):
                why = failed_precondition("UID", uid, "")
                raise statuses.conflict(kind.resource, key[1], why)
            meta.pop("resourceVersion", None)
            return self.create(kind, key[0], obj, call)
        return self._replace(kind, key, obj, call)

    def modify(self, kind: ApiKind, key: Key, change: Change, call: Call) -> Item:
        """Read an object, pass it to ``change``, and write what it returns."""
        live = self.get(kind, key)
        changed = change(live)
        return self.update(kind, key, changed, call)

    def apply(self, kind: ApiKind, key: Key, config: Any, call: Call, force: bool = False) -> Item:
        """Apply a configuration on the server: create what is missing, refuse what others own."""
        raw_meta = config.get("metadata") if isinstance(config, dict) else None
        if isinstance(raw_meta, dict) and raw_meta.get("managedFields") is not None:
            raise bad_request("metadata.managedFields must be nil")
        wanted = self._decoded(kind, config, call)
        _check_declared(kind, key, config)
        meta = wanted["metadata"] = dict(wanted.get("metadata") or {})
        _place(kind, meta, key[0])
        wanted["apiVersion"], wanted["kind"] = kind.api_version, kind.kind
        writer = self._writer(kind, call, APPLY)
        item = self.store.find(kind.storage, key)
        if item is None:
            check_name(meta, key)
            if meta.get("uid"):
                why = (
                    f"uid mismatch: the provided object specified uid {meta['uid']}, "
                    "and no existing object was found"
                )
                raise statuses.conflict(kind.resource, key[1], why)
            meta.pop("resourceVersion", None)
            shell: Json = {"metadata": {}}
            created = apply(shell, wanted, kind.schema, writer, force)
            return self.create(kind, key[0], created, _untracked(call))
        live = kind.from_stored(item.decode())
        merged = apply(live, wanted, kind.schema, writer, force)
        check_name(meta, key)
        return self._replace(kind, key, merged, _untracked(call))

    def delete(self, kind: ApiKind, key: Key, options: DeleteOptions) -> Item:
        item = self.item(kind, key)
        check_preconditions(kind, item, options.preconditions)
        if why := kind.deletion_refusal(key[1]):
            raise statuses.forbidden(kind.resource, key[1], why)
        held = self.store.delete(kind.storage, key, deletion_of(kind, item.decode(), options))
        if kind.mark_deleted is None or self.store.find(kind.storage, key) is None:
            return held
        obj = held.decode()
        kind.mark_deleted(obj)
        if options.dry_run:
            return Item(key, held.version, msgspec.json.encode(obj))
        return self.store.update(kind.storage, obj)

    def _replace(self, kind: ApiKind, key: Key, obj: Json, call: Call) -> Item:
        current = self.item(kind, key)
        old = current.decode()
        self._check_version(kind, obj, current)
        new = kind.to_stored(obj)
        new = (
            only_status(kind, old, new)
            if call.subresource == "status"
            else keep_status(kind, old, new)
        )
        keep_names(old["metadata"], new["metadata"])
        left = left_in_status(kind, old, new)  # before empty lists, which remove, are dropped
        self._default(kind, new)
        self._track(kind, old, new, call)
        self._drop_disabled(kind, new)
        if call.subresource == "status":
            kind.prepare_status(old, new)
        if left:  # nobody owns it from now on
            new["status"] = {**new.get("status", {}), **left}
        self._admit(kind, new, old)
        kind.complete(new)
        self._check(kind, self._update_causes(kind, old, new, call), (new, old), call)
        count_generation(kind, old, new)
        return self.store.update(kind.storage, new, dry_run=call.dry_run)

    # Between the request and the store

    def _decoded(self, kind: ApiKind, raw: Any, call: Call) -> Json:
        check_type(kind, raw)
        obj, unknown = conform(kind, raw)
        if unknown and call.validation == "Strict":
            listed = ", ".join(f'unknown field "{path}"' for path in unknown)
            message = f"strict decoding error: {listed}"
            raise Undecodable(kind, message)
        if call.validation == "Warn":
            call.warnings += [f'unknown field "{path}"' for path in unknown]
        return {**obj, "apiVersion": kind.api_version, "kind": kind.kind}

    def _check_namespace(self, kind: ApiKind, namespace: str, meta: Json) -> None:
        if not kind.namespaced:
            return
        item = self.store.find("namespaces", ("", namespace))
        if item is None:
            raise statuses.not_found("namespaces", namespace)
        if "deletionTimestamp" in item.decode()["metadata"]:
            why = (
                f"unable to create new content in namespace {namespace} "
                "because it is being terminated"
            )
            error = statuses.forbidden(kind.resource, meta.get("name", ""), why)
            cause = {"reason": "NamespaceTerminating", "field": "metadata.namespace"}
            cause["message"] = f"namespace {namespace} is being terminated"
            (error.details or {})["causes"] = [cause]
            raise error

    def _default(self, kind: ApiKind, obj: Json) -> None:
        if kind.custom:
            fill_defaults(obj, kind.schema)
        else:
            if not kind.stored_version:
                drop_zeros(obj, kind.schema)
            kind.set_defaults(obj)
            kind.stamp(obj, self.store.clock.now())

    def _drop_disabled(self, kind: ApiKind, obj: Json) -> None:
        if not kind.custom and not kind.stored_version:
            drop_disabled(kind, obj)

    def _admit(self, kind: ApiKind, obj: Json, old: Json | None) -> None:
        for admit in kind.admissions:
            admit(obj, old, self.store)

    def _causes(self, kind: ApiKind, obj: Json) -> Iterator[Cause]:
        own = list(self._own_causes(kind, obj))
        if kind.checked_first:
            first = [one for one in own if one.field.startswith(kind.checked_first)]
            yield from first
            own = [one for one in own if one not in first]
            if first and kind.metadata_checked_last:
                return
        if not own or not kind.metadata_checked_last:
            yield from metadata.metadata_causes(kind, obj["metadata"])
        yield from own

    def _own_causes(self, kind: ApiKind, obj: Json) -> Iterator[Cause]:
        if kind.custom:
            yield from custom_causes(obj, kind.schema)
            return
        yield from kind.check(obj)
        if not kind.stored_version:
            yield from missing_fields(obj, kind)

    def _update_causes(self, kind: ApiKind, old: Json, new: Json, call: Call) -> Iterator[Cause]:
        yield from metadata.update_causes(old["metadata"], new["metadata"])
        yield from metadata.metadata_causes(kind, new["metadata"])
        if kind.custom:
            yield from custom_causes(new, kind.schema, old)
        elif call.subresource == "status":
            yield from kind.check_status(old, new)
        else:
            if kind.checks_updates:
                yield from kind.check(new)
            yield from kind.check_update(old, new)
            if not kind.stored_version:
                yield from missing_fields(new, kind)

    def _check(
        self, kind: ApiKind, causes: Iterable[Cause], change: tuple[Json, Json | None], call: Call
    ) -> None:
        """Refuse an object with causes, or one that the rules of a custom kind refuse.

        ``change`` is the object and the one that it replaces. Warnings come with a refusal, too.
        """
        if kind.rules is None:
            self._refuse(kind, change[0], causes)
            return
        known = list(causes)
        findings = kind.rules.check_after(known, *change)
        call.warnings += findings.warnings
        try:
            self._refuse(kind, change[0], known + findings.causes)
        except Refusal as error:
            error.warnings = tuple(findings.warnings)
            raise

    def _refuse(self, kind: ApiKind, obj: Json, causes: Iterable[Cause]) -> None:
        """Raise a 422 that lists every cause, if there is any."""
        found = _distinct(causes)
        if found:
            meta = obj["metadata"]
            name = meta.get("name") or meta.get("generateName") or ""
            raise statuses.invalid(kind.kind, kind.internal_group, name, found)

    def _check_version(self, kind: ApiKind, obj: Json, current: Item) -> None:
        version = obj["metadata"].get("resourceVersion") or ""
        path = "metadata.resourceVersion"
        if version and not (version.isascii() and version.isdigit()):
            cause = statuses.bad_value(path, version, "must be a number")
            self._refuse(kind, obj, [cause])
        check_current(kind.resource, current, obj["metadata"])
        if not version and kind.update_needs_version:
            detail = "must be specified for an update"
            cause = Cause("FieldValueInvalid", path, f"Invalid value: 0: {detail}")
            meta = obj["metadata"]
            raise statuses.invalid(kind.plural, kind.group, meta.get("name", ""), [cause])

    def _writer(self, kind: ApiKind, call: Call, operation: str) -> Writer:
        manager = Manager(call.manager, operation, kind.api_version, call.subresource)
        return Writer(manager, time_text(self.store.clock.now()))

    def _track(self, kind: ApiKind, old: Json | None, new: Json, call: Call) -> None:
        if not call.manager:
            return
        writer = self._writer(kind, call, UPDATE)
        if kind.has_status and call.subresource != "status":
            old, new = _without_status(old), _without_status(new) or {}
        track(old, new, kind.schema, writer)


def _without_status(obj: Json | None) -> Json | None:
    return obj and {name: value for name, value in obj.items() if name != "status"}


def _distinct(causes: Iterable[Cause]) -> list[Cause]:
    """Return each cause once. A check and the schema may both report a missing field."""
    found: dict[tuple[str, ...], Cause] = {}
    for cause in causes:
        is_missing = cause.reason == "FieldValueRequired"
        found.setdefault((cause.field, cause.reason, "" if is_missing else cause.message), cause)
    return list(found.values())


def _untracked(call: Call) -> Call:
    """Return a copy of the call for an object whose owners are already recorded."""
    return Call("", call.dry_run, "Ignore", call.subresource, call.warnings)


def _place(kind: ApiKind, meta: Json, namespace: str) -> None:
    """Put the object into the namespace of the path; cluster-scoped kinds have none."""
    if not kind.namespaced:
        meta.pop("namespace", None)
        return
    if meta.get("namespace") and meta["namespace"] != namespace:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    meta["namespace"] = namespace


def check_name(meta: Json, key: Key) -> None:
    if not meta.get("name"):
        raise bad_request(
            f"the name of the object ({key[1]} based on URL) was undeterminable: "
            "name must be provided"
        )
    if meta["name"] != key[1]:
        raise bad_request(
            f"the name of the object ({meta['name']}) does not match the name on the URL ({key[1]})"
        )


def _check_declared(kind: ApiKind, key: Key, config: Any) -> None:
    """Refuse unknown fields of an applied configuration, since nobody could own them."""
    unknown = [] if kind.custom else conform(kind, config)[1]
    if unknown:
        fields = ", ".join(f".{path}: field not declared in schema" for path in unknown)
        about = f"{key[0]}/{key[1]}; {kind.group}/{kind.version}, Kind={kind.kind}"
        raise bad_request(f"failed to create typed patch object ({about}): {fields}")

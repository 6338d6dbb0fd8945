"""CustomResourceDefinitions: each adds one kind per served version to the table of kinds."""

from __future__ import annotations

from collections.abc import Iterator

from podium.api.times import time_text
from podium.apiserver.expressions.objects import Validator
from podium.apiserver.expressions.rules import schema_of
from podium.apiserver.kinds.api_kind import ApiKind, KindTable
from podium.apiserver.kinds.apiextensions import CRDS
from podium.apiserver.ownership import UPDATE, Manager, Writer, track
from podium.apiserver.schemas import ANYTHING, OBJECT_META, Schema, Schemas, schemas_of
from podium.apiserver.statuses import Json
from podium.apiserver.store import ObjectStore
from podium.apiserver.watches import DELETED, Event
from podium.release import Release

# In the order in which kube-apiserver lists them.
_VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


class CustomKinds:
    """Keeps the custom kinds of a table in step with the definitions in the store."""

    def __init__(self, store: ObjectStore, kinds: KindTable) -> None:
        self._store = store
        self._kinds = kinds
        self._by_definition: dict[str, list[ApiKind]] = {}
        store.listen(self._on_event)

    def _on_event(self, resource: str, event: Event) -> None:
        if resource != CRDS:
            return
        name = event.key[1]
        if event.type == DELETED:
            rows = self._by_definition.pop(name, [])
            for row in rows:
                self._kinds.remove(row)
            for storage in {row.storage for row in rows}:
                self._store.drop(storage)
            return
        crd = event.new.decode()
        if event.old is None or event.old.decode().get("spec") != crd["spec"]:
            self._serve(name, crd)
        if not _is_established(crd):
            self._establish(crd)

    def _serve(self, name: str, crd: Json) -> None:
        for row in self._by_definition.get(name, ()):
            self._kinds.remove(row)
        self._by_definition[name] = list(kinds_of(crd, self._kinds.release))
        for row in self._by_definition[name]:
            self._kinds.add(row)

    def _establish(self, crd: Json) -> None:
        """Report in the definition's status that its names are accepted."""
        new = {**crd, "metadata": dict(crd["metadata"]), "status": self._established(crd)}
        kind = self._kinds.resource(CRDS)
        manager = Manager("kube-apiserver", UPDATE, kind.api_version, "status")
        track(crd, new, kind.schema, Writer(manager, time_text(self._store.clock.now())))
        self._store.update(CRDS, new)

    def _established(self, crd: Json) -> Json:
        now = time_text(self._store.clock.now())
        spec = crd["spec"]
        conditions = [
            _condition("NamesAccepted", now, "NoConflicts", "no conflicts found"),
            _condition(
                "Established", now, "InitialNamesAccepted", "the initial names have been accepted"
            ),
        ]
        stored = [one["name"] for one in spec["versions"] if one.get("storage")]
        return {
            **(crd.get("status") or {}),
            "conditions": conditions,
            "acceptedNames": spec["names"],
            "storedVersions": stored,
        }


def _condition(kind: str, now: str, reason: str, message: str) -> Json:
    return {
        "type": kind,
        "status": "True",
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def _is_established(crd: Json) -> bool:
    conditions = (crd.get("status") or {}).get("conditions") or []
    return any(one.get("type") == "Established" for one in conditions)


def kinds_of(crd: Json, release: Release) -> Iterator[ApiKind]:
    """Yield one kind per served version of a definition."""
    spec, names = crd["spec"], crd["spec"]["names"]
    stored = next(one["name"] for one in spec["versions"] if one.get("storage"))
    for version in spec["versions"]:
        if not version.get("served"):
            continue
        is_stored = version["name"] == stored
        yield ApiKind(
            spec["group"],
            version["name"],
            names["kind"],
            names["plural"],
            names.get("singular") or "",
            tuple(names.get("shortNames") or ()),
            namespaced=spec.get("scope") == "Namespaced",
            subresources=tuple(version.get("subresources") or ()),
            categories=tuple(names.get("categories") or ()),
            verbs=_VERBS,
            counts_generations=True,
            update_needs_version=True,
            stored_version="" if is_stored else f"{spec['group']}/{stored}",
            custom=True,
            custom_schema=_schema(version, schemas_of(release)),
            rules=_rules(version, release),
            details=version,
            release=release,
        )


def _rules(version: Json, release: Release) -> Validator | None:
    raw = schema_of(version)
    found = Validator(raw, release)
    return None if found.is_empty else found


def _schema(version: Json, published: Schemas) -> Schema:
    raw = schema_of(version)
    if not raw:
        return ANYTHING
    schema = published.of_custom_kind(raw)
    schema.type = "object"
    schema.properties = {**schema.properties, "metadata": published.named(OBJECT_META)}
    for name in ("apiVersion", "kind"):
        schema.properties.setdefault(name, Schema(type="string"))
    return schema

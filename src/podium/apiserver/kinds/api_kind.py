"""The description of an API kind, and the table of all kinds that a server serves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from podium.apiserver.admission import Admission
from podium.apiserver.expressions.objects import Validator
from podium.apiserver.kinds.columns import AGE, NAME, Column
from podium.apiserver.names import subdomain_problems
from podium.apiserver.schemas import Schema, Schemas, schemas_of
from podium.apiserver.statuses import Cause, Json
from podium.apiserver.watches import Item
from podium.release import LATEST, RELEASES, Release

ALL_VERBS = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
)
CREATE_ONLY = ("create",)
ONE_AT_A_TIME = tuple(verb for verb in ALL_VERBS if verb != "deletecollection")

SCHEME = "pkg/api/legacyscheme/scheme.go:30"
NOT_SELECTABLE = "field label not supported: {path}"

Causes = Iterable[Cause]


def _do_nothing(obj: Json) -> None:
    """Do nothing: the default of hooks that change an object."""


def _start_empty(obj: Json, now: str) -> None:
    """Leave a new object as it was written."""


def _has_no_times(obj: Json, now: float) -> None:
    """Set nothing: no field of the object is the time of a write."""


def _leave_status(old: Json, new: Json) -> None:
    """Leave a new status as it was written."""


def _no_causes(*objects: Json) -> Causes:
    return ()


def _no_warnings(subject: Json | Item) -> Iterable[str]:
    return ()


def _as_written(old: Json, new: Json) -> Json:
    return new


def _unchanged(obj: Json) -> Json:
    return obj


def _at_once(obj: Json, asked: int | None) -> int | None:
    return 0


def _may_be_deleted(name: str) -> str:
    return ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ApiKind:
    """One kind in one version, and everything that sets it apart from other kinds.

    Code that serves requests reads these fields and knows no kind by name. A built-in kind is
    described once, in the file of its API group. A CustomResourceDefinition adds one description
    per served version.
    """

    # Names, verbs and subresources.
    group: str
    version: str
    kind: str
    plural: str
    singular_name: str = ""  # the kind in lower case when it is empty
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    namespaced: bool = True
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: tuple[str, ...] = ()
    scheme: str = SCHEME  # where Go registers the kind; messages name it
    deprecation: str = ""  # a warning in every answer

    # Releases. Fields have the values of `release`, whose schema describes the kind.
    release: Release = LATEST
    since: Release = RELEASES[0]  # the first release that serves it
    features: frozenset[str] = frozenset()  # the feature gates that the server has turned on
    # The fields that have another value in an older release.
    earlier: Mapping[Release, Mapping[str, Any]] = field(default_factory=dict)

    # Custom kinds only.
    custom: bool = False
    custom_schema: Schema | None = None
    rules: Validator | None = None  # in CEL, if the definition has any
    details: Json = field(default_factory=dict)  # the version in the definition

    # Storage: two kinds, or two versions of one, can share their objects.
    stored_as: str = ""  # the resource whose storage it shares, if it does
    stored_version: str = ""  # the apiVersion it is stored with, if not its own
    convert_to_stored: Callable[[Json], Json] = _unchanged
    convert_from_stored: Callable[[Json], Json] = _unchanged
    is_cached: bool = True  # watches are served from a cache, with its error messages

    # Metadata.
    name_problems: Callable[[str], list[str]] = subdomain_problems
    checks_name_prefix: bool = True  # generateName must be a valid start of a name
    named_by_uid: bool = False  # an object without a name gets a uid for one
    counts_generations: bool = False  # metadata.generation is 1 and goes up with the spec
    generation_stays: bool = False  # metadata.generation stays at 1
    generation_counts: tuple[str, ...] = ()  # metadata that counts as part of the spec

    # Writing.
    created_with_status: bool = False  # the creator may set the status
    status_sets_metadata: bool = False  # writing the status may change labels and annotations
    kept_in_status: tuple[str, ...] = ()  # stay if a written status leaves them out
    put_creates: bool = False  # a PUT of a missing object creates it
    update_needs_version: bool = False  # a PUT without a resourceVersion is refused

    # Hooks of a write, in the order in which they are called. `keep_from_old` returns the new
    # object with what an update may not change; `stamp` sets defaults that are times;
    # `prepare_status` changes a new status; `start` gets a new object and the time; `complete`
    # adds what Go always writes and nobody owns.
    keep_from_old: Callable[[Json, Json], Json] = _as_written
    set_defaults: Callable[[Json], None] = _do_nothing
    stamp: Callable[[Json, float], None] = _has_no_times
    prepare_status: Callable[[Json, Json], None] = _leave_status
    admissions: tuple[Admission, ...] = ()
    start: Callable[[Json, str], None] = _start_empty
    complete: Callable[[Json], object] = _do_nothing
    check: Callable[[Json], Causes] = _no_causes
    checks_updates: bool = True  # `check` is called for updates, too
    check_update: Callable[[Json, Json], Causes] = _no_causes  # after `check` of the new object
    check_status: Callable[[Json, Json], Causes] = _no_causes  # when the status is written
    creation_warnings: Callable[[Json], Iterable[str]] = _no_warnings
    warnings: Callable[[Item], Iterable[str]] = _no_warnings

    # Validation.
    checked_first: str = ""  # causes about fields that start with this come first
    metadata_checked_last: bool = False  # and only if nothing else is wrong
    checks_required: bool = True  # the required fields of the schema must be there
    # Required fields that may be missing nevertheless, by the name of their type.
    not_required: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    # Reading.
    selects_by_labels: bool = False  # spec.selector is a plain map of labels
    columns: tuple[Column, ...] = (NAME, AGE)  # of `kubectl get`
    selectable_fields: tuple[str, ...] = ()  # beyond metadata.name and metadata.namespace
    unknown_field: str = (
        '"{path}" is not a known field selector: only "metadata.name", "metadata.namespace"'
    )

    # Deletion.
    deletion_refusal: Callable[[str], str] = _may_be_deleted
    failed_precondition: str = ""  # starts the refusal, where it is not the usual one
    grace: Callable[[Json, int | None], int | None] = _at_once
    is_graceful: bool = False  # an object that goes at once is shown as being deleted, too
    # Called while finalizers hold a deleted object.
    mark_deleted: Callable[[Json], None] | None = None
    has_dependents: bool = True
    orphans_dependents: bool = False  # unless a client says otherwise
    orphaning_warning: str = ""
    shown_when_deleted: bool = False  # the answer is the object, even if it is gone

    def __repr__(self) -> str:
        return f"ApiKind({self.api_version} {self.kind})"

    @property
    def singular(self) -> str:
        return self.singular_name or self.kind.lower()

    @property
    def resource(self) -> str:
        """Return the name in messages, and the key in the store: ``deployments.apps``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def storage(self) -> str:
        return self.stored_as or self.resource

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def prefix(self) -> str:
        return f"/apis/{self.api_version}" if self.group else f"/api/{self.version}"

    @property
    def list_kind(self) -> str:
        return f"{self.kind}List"

    @property
    def internal_group(self) -> str:
        """The group in messages about objects: that of the kind whose storage it shares."""
        return "" if self.stored_as else self.group

    @property
    def has_status(self) -> bool:
        return "status" in self.subresources

    @property
    def schema(self) -> Schema:
        return self.custom_schema or _published(self)

    def in_release(self, release: Release) -> ApiKind:
        """Return the kind as another release has it."""
        return self if release == self.release else _in_release(self, release)

    def with_features(self, features: frozenset[str]) -> ApiKind:
        """Return the kind as a server with these feature gates has it."""
        return self if features == self.features else _with_features(self, features)

    @property
    def schemas(self) -> Schemas:
        return schemas_of(self.release)

    def to_stored(self, obj: Json) -> Json:
        """Return an object of this version in the form in which it is stored."""
        if not self.stored_version:
            return obj
        return self.convert_to_stored({**obj, "apiVersion": self.stored_version})

    def from_stored(self, obj: Json) -> Json:
        """Return a stored object as this version shows it."""
        if not self.stored_version:
            return obj
        return self.convert_from_stored({**obj, "apiVersion": self.api_version})


@cache  # one object per kind and release, since the schema is kept by kind
def _in_release(kind: ApiKind, release: Release) -> ApiKind:
    return replace(kind, release=release, **kind.earlier.get(release, {}))


@cache
def _with_features(kind: ApiKind, features: frozenset[str]) -> ApiKind:
    return replace(kind, features=features)


@cache  # asked for several times in each write
def _published(kind: ApiKind) -> Schema:
    return kind.schemas.of_kind(kind.group, kind.version, kind.kind)


class KindTable:
    """All kinds that a server serves, found by path, by apiVersion and kind, and by resource."""

    def __init__(self, kinds: Iterable[ApiKind], release: Release = LATEST) -> None:
        self.release = release
        self._by_path: dict[tuple[str, str, str], ApiKind] = {}
        self._by_kind: dict[tuple[str, str, str], ApiKind] = {}
        self._by_resource: dict[str, ApiKind] = {}
        self.generation = 0  # goes up with each change, so that documents can be kept until then
        for kind in kinds:
            self.add(kind)

    def add(self, kind: ApiKind) -> None:
        self._by_path[kind.group, kind.version, kind.plural] = kind
        self._by_kind[kind.group, kind.version, kind.kind] = kind
        if not kind.stored_version or kind.resource not in self._by_resource:
            self._by_resource[kind.resource] = kind
        self.generation += 1

    def remove(self, kind: ApiKind) -> None:
        self._by_path.pop((kind.group, kind.version, kind.plural), None)
        self._by_kind.pop((kind.group, kind.version, kind.kind), None)
        if self._by_resource.get(kind.resource) is kind:
            del self._by_resource[kind.resource]
        self.generation += 1

    def at(self, group: str, version: str, plural: str) -> ApiKind | None:
        return self._by_path.get((group, version, plural))

    def of(self, api_version: str, kind: str) -> ApiKind | None:
        group, _, version = api_version.rpartition("/")
        return self._by_kind.get((group, version, kind))

    def resource(self, resource: str) -> ApiKind:
        """Return the kind of a resource such as ``deployments.apps``, in its stored version.

        For code that knows that the kind is there; any other resource is a KeyError.
        """
        return self._by_resource[resource]

    def groups(self) -> dict[str, dict[str, list[ApiKind]]]:
        """Return the kinds by group and version, in the order in which they were added."""
        found: dict[str, dict[str, list[ApiKind]]] = {}
        for kind in self:
            found.setdefault(kind.group, {}).setdefault(kind.version, []).append(kind)
        return found

    def __iter__(self) -> Iterator[ApiKind]:
        return iter(list(self._by_path.values()))

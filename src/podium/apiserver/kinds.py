"""The table of kinds: what the API server serves. A kind is a row; CRDs add rows at run time.

Everything generic reads this table: routes, discovery, OpenAPI, Tables, validation. Rules of single
kinds stand elsewhere, keyed by the resource's name: `defaults.py`, `rules.py`, `columns.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from podium.apiserver.schemas import ANYTHING, Schema
from podium.apiserver.statuses import Json

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


@dataclass(frozen=True, slots=True)
class Kind:
    """One row: a kind in one version, and what is particular about it as data."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    short_names: tuple[str, ...] = ()
    namespaced: bool = True
    subresources: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    counts_generations: bool = False  # metadata.generation goes up with each change of the spec
    stored_as: str = ""  # the resource under which it is stored, when that is another's
    stored_version: str = ""  # the apiVersion it is stored with, when that is another one
    custom: bool = False
    schema: Schema = field(default=ANYTHING, repr=False, compare=False)
    details: Json = field(default_factory=dict, repr=False, compare=False)  # a CRD's version

    @property
    def resource(self) -> str:
        """The name in messages, and the key in the store: ``deployments.apps``."""
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
    def has_status(self) -> bool:
        return "status" in self.subresources


class Kinds:
    """The rows, found by path and by apiVersion and kind."""

    def __init__(self, rows: list[Kind]) -> None:
        self._by_path: dict[tuple[str, str, str], Kind] = {}
        self._by_kind: dict[tuple[str, str, str], Kind] = {}
        self._by_resource: dict[str, Kind] = {}
        self.generation = 0  # goes up with each change, so that discovery can be kept
        for row in rows:
            self.add(row)

    def add(self, row: Kind) -> None:
        self._by_path[row.group, row.version, row.plural] = row
        self._by_kind[row.group, row.version, row.kind] = row
        if not row.stored_version or row.resource not in self._by_resource:
            self._by_resource[row.resource] = row
        self.generation += 1

    def remove(self, row: Kind) -> None:
        self._by_path.pop((row.group, row.version, row.plural), None)
        self._by_kind.pop((row.group, row.version, row.kind), None)
        if self._by_resource.get(row.resource) is row:
            del self._by_resource[row.resource]
        self.generation += 1

    def at(self, group: str, version: str, plural: str) -> Kind | None:
        return self._by_path.get((group, version, plural))

    def of(self, api_version: str, kind: str) -> Kind | None:
        group, _, version = api_version.rpartition("/")
        return self._by_kind.get((group, version, kind))

    def resource(self, resource: str) -> Kind:
        """The row of a resource such as ``deployments.apps``, of several versions the stored one;
        for code that knows it is there."""
        return self._by_resource[resource]

    def groups(self) -> dict[str, dict[str, list[Kind]]]:
        """Rows by group and version, in the order of the table."""
        found: dict[str, dict[str, list[Kind]]] = {}
        for row in self:
            found.setdefault(row.group, {}).setdefault(row.version, []).append(row)
        return found

    def __iter__(self) -> Iterator[Kind]:
        return iter(list(self._by_path.values()))

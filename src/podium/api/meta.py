"""What all API objects share: the base classes, metadata, label selectors, conditions.

Every struct is frozen and every field has a default, so tests build objects from the fields that
matter. Objects are trees without cycles, so the garbage collector need not track them
(``gc=False``). Maps are plain dicts and must be treated as read-only: see ``read_only.py``.
"""

from typing import Annotated, Any

import msgspec
from msgspec import field

# Quantities stay as written: most are never read, and equal texts share one cached result.
Quantity = str | int | float
ResourceList = dict[str, Quantity]
# The API and numpy have 64-bit integers, Python's are unlimited: larger ones are not decoded.
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Value(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """Base of everything decoded from JSON; unknown fields are ignored."""


class HashedValue(Value, frozen=True, gc=False, cache_hash=True):
    """A value without maps, for use as a cache key: its hash is computed once."""


class OwnerReference(HashedValue, frozen=True, gc=False):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class ObjectReference(HashedValue, frozen=True, gc=False):
    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""
    field_path: str = ""


class ObjectMeta(Value, frozen=True, gc=False):
    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int64 = 0
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    creation_timestamp: str = ""
    deletion_timestamp: str = ""
    deletion_grace_period_seconds: Int64 | None = None
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()


NO_META = ObjectMeta()


class ApiObject(Value, frozen=True, gc=False):
    """Base of the kinds that have metadata."""

    metadata: ObjectMeta = NO_META

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace

    @property
    def uid(self) -> str:
        return self.metadata.uid

    @property
    def key(self) -> str:
        """``namespace/name``, or the bare name of an object without a namespace."""
        meta = self.metadata
        return f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name

    @property
    def labels(self) -> dict[str, str]:
        return self.metadata.labels

    @property
    def annotations(self) -> dict[str, str]:
        return self.metadata.annotations

    @property
    def is_terminating(self) -> bool:
        return bool(self.metadata.deletion_timestamp)

    @property
    def controller(self) -> OwnerReference | None:
        """The first owner that manages this object, if any."""
        for owner in self.metadata.owner_references:
            if owner.controller:
                return owner
        return None


class KeptJson:
    """The JSON an object was decoded from.

    It has no JSON form, so the field that holds it can be neither received nor sent. Objects that
    differ only in it are equal.
    """

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KeptJson)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return f"<{len(self.data)} bytes>"


NOTHING_KEPT = KeptJson(b"")


class RawObject(ApiObject, frozen=True, gc=False, kw_only=True):
    """An object that can keep its JSON, for plugins that read what the structs leave out."""

    _raw: KeptJson = field(default=NOTHING_KEPT, name="(raw)")

    @property
    def has_raw(self) -> bool:
        return self._raw is not NOTHING_KEPT

    @property
    def raw_json(self) -> bytes:
        """Return the JSON that the object was decoded from; ``LookupError`` if it was not kept."""
        if not self.has_raw:
            raise LookupError(f"{type(self).__name__} {self.key}: its JSON was not kept")
        return self._raw.data

    def raw(self, path: str) -> Any:
        """Read a dotted path such as ``status.podIPs.0.ip``; None if there is nothing."""
        found = msgspec.json.decode(self.raw_json)
        for step in path.split("."):
            if isinstance(found, dict):
                found = found.get(step)
            elif isinstance(found, list) and step.isdigit() and int(step) < len(found):
                found = found[int(step)]
            else:
                return None
        return found


class LabelSelectorRequirement(HashedValue, frozen=True, gc=False):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Value, frozen=True, gc=False):
    """A selector as written; ``podium.api.selectors.label_selector`` compiles it."""

    match_labels: dict[str, str] = field(default_factory=dict)
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class Condition(HashedValue, frozen=True, gc=False):
    """A condition of a pod, a node, a claim or a budget."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str = ""
    last_probe_time: str | None = None  # API servers write null here: decoding must not stumble
    last_heartbeat_time: str = ""
    observed_generation: Int64 = 0


def is_newer(obj: ApiObject, than: ApiObject) -> bool:
    """Whether this is the later of two versions; only numbers can be compared."""
    one, other = obj.metadata.resource_version, than.metadata.resource_version
    return one.isdecimal() and other.isdecimal() and int(one) > int(other)

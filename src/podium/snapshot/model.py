"""`Snapshot`: the objects of a cluster as JSON, where they come from, and what is missing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import msgspec

from podium.release import RELEASES, Release

Json = dict[str, Any]
# How notes about the scheduler's configuration begin.
ASSUMED: Final = "the default configuration of the scheduler is assumed"
FOUND: Final = "the scheduler's configuration is that of"


class KindName(NamedTuple):
    """An API version and a kind, such as ``("apps/v1", "ReplicaSet")``."""

    api_version: str
    kind: str

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]

    @property
    def full_kind(self) -> str:
        """Return the kind with its group, such as ``apps/ReplicaSet``."""
        return f"{self.group}/{self.kind}" if self.group else self.kind


class Missing(NamedTuple):
    """A kind that a snapshot lacks although decisions can depend on it."""

    kind: str
    reason: str  # "not in the file", or what the API server said
    consequence: str  # "default spreading may differ"

    def __str__(self) -> str:
        return f"{self.kind} objects are missing ({self.reason}): {self.consequence}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a cluster at one time.

    ``objects`` holds the JSON of each object, with apiVersion and kind, in the order of the file or
    the API server. ``podium.api.objects.decode`` reads it as it is.
    """

    objects: Mapping[KindName, tuple[bytes, ...]]
    source: str = ""  # a server or a file
    taken_at: str = ""  # RFC 3339; "" for files that do not say it
    server_version: str = ""  # such as "v1.37.0"
    resource_version: str = ""  # the version of all objects; "" if they are not of one version
    configuration: Json | None = None  # a KubeSchedulerConfiguration
    missing: tuple[Missing, ...] = ()
    notes: tuple[str, ...] = ()  # what else a reader should know
    is_anonymized: bool = False

    @property
    def release(self) -> Release | None:
        """The release of the cluster, if it is one that podium can behave as."""
        text = self.server_version.removeprefix("v")
        matches = (each for each in RELEASES if text.startswith(f"{each}."))
        return next(matches, None)

    @property
    def is_partial(self) -> bool:
        """Whether answers about it must be marked as partial."""
        return bool(self.missing)

    def of_kind(self, kind: str) -> tuple[bytes, ...]:
        """Return the JSON of all objects of a kind, such as ``"Pod"``, in every version."""
        parts = [found for name, found in self.objects.items() if name.kind == kind]
        return tuple(raw for part in parts for raw in part)

    def dicts(self, kind: str = "") -> Iterator[Json]:
        """Yield the objects of one kind, or of all kinds, as new dicts."""
        for name, found in self.objects.items():
            if not kind or name.kind == kind:
                yield from map(msgspec.json.decode, found)

    def stream(self) -> ObjectStream:
        """Return a stream of the objects, as ``streamed`` does for a file."""
        pairs = ((name, raw) for name, found in self.objects.items() for raw in found)
        return ObjectStream(replace(self, objects={}), pairs)

    def without_configuration(self) -> Snapshot:
        """Return it for use with another configuration: without its own, and notes about that."""
        notes = tuple(note for note in self.notes if not note.startswith((ASSUMED, FOUND)))
        return replace(self, configuration=None, notes=notes)

    def __len__(self) -> int:
        return sum(map(len, self.objects.values()))


@dataclass(frozen=True, slots=True)
class ObjectStream:
    """A snapshot whose objects are read one by one, once. Their JSON is not kept.

    ``taken`` is the snapshot without its objects. ``check`` raises if an object that was yielded is
    not an API object at all; it does nothing if objects are checked before they are yielded.
    """

    taken: Snapshot
    objects: Iterator[tuple[KindName, bytes]]
    check: Callable[[], object] = lambda: None

    def collected(self) -> Snapshot:
        """Read all objects and return the whole snapshot."""
        found: dict[KindName, list[bytes]] = defaultdict(list)
        for name, raw in self.objects:
            found[name].append(raw)
        return replace(self.taken, objects={name: tuple(raws) for name, raws in found.items()})

"""What has changed in the cluster since the last question, as JSON for the process that answers.

The objects are those that the scheduler has watched anyway. They are frozen, so an object that is
the same as before has not changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from podium.api.meta import ApiObject
from podium.client.resources import NODES, PODS, Resource, resource_of
from podium.live.watching import Watching
from podium.state.kinds import ASPECTS

_ALL: Final[tuple[Resource[Any], ...]] = (NODES, PODS, *map(resource_of, ASPECTS))
RESOURCES: Final = {each.event_name: each for each in _ALL}
Objects = Mapping[str, Sequence[ApiObject]]  # by the name of the kind


class Decider(NamedTuple):
    """How the scheduler decides: its configuration, release, and what --plugin named."""

    configuration: dict[str, Any]
    release: str
    sources: tuple[str, ...] = ()
    extenders: tuple[str, ...] = ()


class Changes(NamedTuple):
    """Objects that are new or have changed, and the keys of those that are gone."""

    put: dict[str, list[bytes]]
    gone: list[tuple[str, str]]


def watched_objects(watching: Watching) -> Objects:
    """Return all objects that a simulation needs; from any thread."""
    return {
        informer.resource.event_name: list(informer.objects())
        for informer in watching.informers
        if informer.resource.event_name in RESOURCES
    }


class Mirror:
    """Remembers what was sent to the process that answers."""

    def __init__(self) -> None:
        self._sent: dict[tuple[str, str], ApiObject] = {}

    def changes(self, objects: Objects) -> Changes:
        """Return what differs from the last call; from then on it counts as sent."""
        before, self._sent = self._sent, {
            (kind, each.key): each for kind, found in objects.items() for each in found
        }  # fmt: skip
        put = {kind: list(_encoded(kind, found, before)) for kind, found in objects.items()}
        gone = [where for where in before if where not in self._sent]
        return Changes({kind: found for kind, found in put.items() if found}, gone)


def _encoded(
    kind: str, objects: Sequence[ApiObject], before: Mapping[tuple[str, str], ApiObject]
) -> Iterator[bytes]:
    encode = msgspec.json.Encoder().encode
    changed = (each for each in objects if before.get((kind, each.key)) is not each)
    for each in changed:
        yield encode(each)

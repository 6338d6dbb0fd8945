"""Read the replies of extenders as Go does: keys in any case; null means not given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, ParamSpec, TypeVar

import msgspec

from podium.api.codec import UNREADABLE
from podium.errors import ExtenderError
from podium.framework.cluster_view import ClusterView
from podium.framework.extender import Filtered
from podium.framework.preemption import Candidate, Candidates
from podium.state.pod_info import PodInfo

T = TypeVar("T")
P = ParamSpec("P")

_INT64: Final = range(-(2**63), 2**63)


class _Meta(msgspec.Struct):
    name: str = ""


class _Node(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class _NodeList(msgspec.Struct):
    items: list[_Node] | None = None


class _Scored(msgspec.Struct):
    host: str | None = None
    score: int | None = None


def _readable(read: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function to report a reply that cannot be read as an ``ExtenderError``."""

    def reading(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return read(*args, **kwargs)
        except UNREADABLE as fault:
            raise ExtenderError(f"the extender's reply cannot be read: {fault}") from fault

    return reading


class _Members:
    """The members of a JSON object, found by name without regard to case."""

    def __init__(self, data: bytes | msgspec.Raw) -> None:
        found = msgspec.json.decode(data, type=dict[str, msgspec.Raw] | None) or {}
        self._found = {name.lower(): value for name, value in found.items()}

    def get(self, name: str, kind: type[T]) -> T | None:
        value = self._found.get(name.lower())
        # mypy has no type for a value such as `kind | None`.
        wanted: Any = kind | None
        return None if value is None else msgspec.json.decode(value, type=wanted)


@_readable
def filtered(reply: bytes, names_only: bool) -> Filtered:
    members = _Members(reply)
    if error := members.get("Error", str):
        raise ExtenderError(error)
    return Filtered(
        _passed(members, names_only),
        members.get("FailedNodes", dict[str, str]) or {},
        members.get("FailedAndUnresolvableNodes", dict[str, str]) or {},
    )


def _passed(members: _Members, names_only: bool) -> list[str]:
    names = members.get("NodeNames", list[str]) if names_only else None
    if names is not None:
        return names
    nodes = members.get("Nodes", _NodeList)
    return [] if nodes is None else [node.metadata.name for node in nodes.items or ()]


@_readable
def scores(reply: bytes) -> dict[str, int]:
    """Return scores by node; a node that is listed twice gets the sum."""
    total: dict[str, int] = {}
    entries = msgspec.json.decode(reply, type=list[dict[str, Any] | None] | None) or ()
    # Converted all at once: there may be thousands, and one at a time takes ten times as long.
    folded = [{key.lower(): value for key, value in (entry or {}).items()} for entry in entries]
    for scored in msgspec.convert(folded, list[_Scored]):
        name, score = scored.host or "", scored.score or 0
        if score not in _INT64:
            raise ExtenderError(f'the extender\'s score of node "{name}" is not a 64-bit integer')
        total[name] = total.get(name, 0) + score
    return total


@_readable
def candidates(reply: bytes, extender: str, cluster: ClusterView) -> Candidates:
    """Return the candidates. The reply names victims by uid: they must be on these nodes."""
    by_node = _Members(reply).get("NodeNameToMetaVictims", dict[str, msgspec.Raw]) or {}
    found = []
    for node, victims in by_node.items():
        members = _Members(victims)
        pods = tuple(_victims(members, node, extender, cluster))
        found.append(Candidate(node, pods, members.get("NumPDBViolations", int) or 0))
    return found


def _victims(
    members: _Members, node: str, extender: str, cluster: ClusterView
) -> Iterator[PodInfo]:
    found = cluster.node(node)
    if found is None:
        raise ExtenderError(f'nodeinfo not found for node name "{node}"')
    on_node = {info.uid: info for info in found.pods}
    for pod in members.get("Pods", list[msgspec.Raw]) or ():
        uid = _Members(pod).get("UID", str) or ""
        if uid not in on_node:
            raise ExtenderError(
                f"extender: {extender} claims to preempt pod (UID: &{{{uid}}}) on node: {node}, "
                "but the pod is not found on that node"
            )
        yield on_node[uid]


@_readable
def error(reply: bytes) -> str:
    """Return the error in the reply; empty if there is none."""
    return _Members(reply).get("Error", str) or ""

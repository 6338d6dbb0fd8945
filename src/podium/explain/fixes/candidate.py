"""A change that may help a pod, and how it is written down as patches and objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from podium.api.meta import ApiObject
from podium.api.objects import Node, Pod
from podium.client.resources import resource_of
from podium.explain.edits import Edit
from podium.explain.values import Change

Rewrite = Callable[[Pod], Pod]


def unchanged(pod: Pod) -> Pod:
    return pod


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change that may help: ``rewrite`` changes the pod, ``edits`` the cluster.

    ``changes`` says what the edits are; those of the pod are worked out when the candidate has
    proved to help. ``victims`` are the pods that go; ``tied`` counts other choices of victims that
    are as good.
    """

    kind: str
    text: str
    rewrite: Rewrite = unchanged
    edits: tuple[Edit, ...] = ()
    changes: tuple[Change, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)
    victims: tuple[str, ...] = ()
    tied: int = 1
    nominated: str = ""  # the node where preemption makes room


def sums(limits: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write a total as a sum with these limits, few summands first."""
    if not limits:
        yield from [()] if total == 0 else []
        return
    for first in range(min(limits[0], total), -1, -1):
        for rest in sums(limits[1:], total - first):
            yield first, *rest


def patch_pod(before: Pod, after: Pod, text: str) -> tuple[Change, ...]:
    """Return the change from one version of a pod to another; nothing if they are equal."""
    return _patched("Pod", before, after, text)


def patch_node(before: Node, after: Node, text: str, *, status: bool = False) -> Change:
    (change,) = _patched("Node", before, after, text)
    return msgspec.structs.replace(change, status=status)


def patch_object(before: ApiObject, after: ApiObject, text: str) -> Change:
    (change,) = _patched(type(before).__name__, before, after, text)
    return change


def creation(obj: ApiObject, text: str) -> Change:
    """Return the change that creates an object."""
    resource = resource_of(type(obj))
    group = f"{resource.group}/" if resource.group else ""
    manifest = {"apiVersion": f"{group}{resource.version}", "kind": resource.kind, **_json(obj)}
    manifest["metadata"].pop("uid", None)
    return Change("create", resource.kind, obj.key, text, object=manifest)


def deletion(kind: str, key: str, text: str) -> Change:
    return Change("delete", kind, key, text)


def _patched(kind: str, before: ApiObject, after: ApiObject, text: str) -> tuple[Change, ...]:
    steps = tuple(_differences("", _json(before), _json(after)))
    return (Change("patch", kind, before.key, text, patch=steps),) if steps else ()


def _json(obj: ApiObject) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(obj))
    return plain


def _differences(path: str, before: Any, after: Any) -> Iterator[dict[str, Any]]:
    """Yield the steps of a JSON patch. Lists of equal length are compared by element."""
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in (*before, *(key for key in after if key not in before)):
            yield from _difference(f"{path}/{_escaped(key)}", key, before, after)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _differences(f"{path}/{index}", old, new)
    else:
        yield {"op": "replace", "path": path, "value": after}


def _difference(
    path: str, key: str, before: dict[str, Any], after: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    if key not in after:
        yield {"op": "remove", "path": path}
    elif key not in before:
        yield {"op": "add", "path": path, "value": after[key]}
    else:
        yield from _differences(path, before[key], after[key])


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")

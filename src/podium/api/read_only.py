"""Makes the maps of pods and nodes read-only before plugins from outside podium see them.

Structs are frozen, but their maps are plain dicts, which are cheap to decode and can be changed by
mistake. ``Profile.guard`` calls ``make_read_only`` before PreEnqueue and before each attempt, in
profiles that have a plugin from outside podium. ``ClusterState`` calls ``make_node_read_only`` when
a node enters it, if some profile has such a plugin. Without one the maps stay plain dicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, NoReturn

from msgspec.structs import force_setattr

from podium.api.nodes import Node
from podium.api.pods import Container, Pod


def refusal(what: str) -> str:
    """Return the error message for a plugin that tries to change an object."""
    return (
        f"it tried to change {what}, but objects are read-only for plugins: write through "
        "handle.client, or keep it in the state"
    )


class ReadOnlyMap(dict[str, Any]):
    """A read-only dict of a pod. ``copy()`` and pickling return a plain dict."""

    __slots__ = ()
    owner: ClassVar = "pod"

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError(refusal(f"a map of the {self.owner}"))

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


class ReadOnlyNodeMap(ReadOnlyMap):
    """A read-only dict of a node."""

    __slots__ = ()
    owner = "node"


_EMPTY: Final = ReadOnlyMap()


def make_read_only(pod: Pod) -> None:
    """Make labels, annotations, node selector and resource requests and limits read-only."""
    meta, spec = pod.metadata, pod.spec
    if type(meta.labels) is ReadOnlyMap:
        return  # done already, for an earlier attempt
    force_setattr(meta, "labels", _read_only(meta.labels))
    force_setattr(meta, "annotations", _read_only(meta.annotations))
    force_setattr(spec, "node_selector", _read_only(spec.node_selector))
    force_setattr(spec, "overhead", _read_only(spec.overhead))
    for container in spec.containers:
        _make_resources_read_only(container)
    for container in spec.init_containers:
        _make_resources_read_only(container)


def make_node_read_only(node: Node) -> None:
    """Make labels, annotations, capacity and allocatable read-only."""
    for part, names in (
        (node.metadata, ("labels", "annotations")),
        (node.status, ("capacity", "allocatable")),
    ):
        for name in names:
            plain = getattr(part, name)
            if type(plain) is not ReadOnlyNodeMap:
                force_setattr(part, name, ReadOnlyNodeMap(plain))


def _make_resources_read_only(container: Container) -> None:
    resources = container.resources
    force_setattr(resources, "requests", _read_only(resources.requests))
    force_setattr(resources, "limits", _read_only(resources.limits))


def _read_only(plain: Mapping[str, Any]) -> ReadOnlyMap:
    return ReadOnlyMap(plain) if plain else _EMPTY

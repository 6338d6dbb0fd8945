"""Maps of a pod that plugins may read and not change: for pods that wait to be scheduled.

Structs are frozen, and their maps are plain dicts: cheap to decode, and open to a slip of a
plugin's author. The queue closes those of the pods it hands to plugins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NoReturn

from msgspec.structs import force_setattr

from podium.api.pods import Container, Pod


def refusal(what: str) -> str:
    """What a plugin's author is told."""
    return (
        f"it tried to change {what}, but objects are read-only for plugins: write through "
        "handle.client, or keep it in the state"
    )


class ReadOnlyMap(dict[str, Any]):
    """A dict in everything but what changes it; its copies are plain dicts."""

    __slots__ = ()

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError(refusal("a map of the pod"))

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


_EMPTY: Final = ReadOnlyMap()


def close_maps(pod: Pod) -> None:
    """Close its labels, annotations and node selector, and what its containers ask for."""
    meta, spec = pod.metadata, pod.spec
    if type(meta.labels) is ReadOnlyMap:
        return  # the same pod again
    force_setattr(meta, "labels", _closed(meta.labels))
    force_setattr(meta, "annotations", _closed(meta.annotations))
    force_setattr(spec, "node_selector", _closed(spec.node_selector))
    force_setattr(spec, "overhead", _closed(spec.overhead))
    for container in spec.containers:
        _close_resources(container)
    for container in spec.init_containers:
        _close_resources(container)


def _close_resources(container: Container) -> None:
    resources = container.resources
    force_setattr(resources, "requests", _closed(resources.requests))
    force_setattr(resources, "limits", _closed(resources.limits))


def _closed(plain: Mapping[str, Any]) -> ReadOnlyMap:
    return ReadOnlyMap(plain) if plain else _EMPTY

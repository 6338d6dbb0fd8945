"""Names for what is new in a simulation, where one like it is there already."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from itertools import count
from typing import Any


def new_names(like: str, is_taken: Callable[[str], bool]) -> Iterator[str]:
    """Yield free names for objects like the one of this name: ``web-new-1`` and so on."""
    names = (f"{like}-new-{number}" for number in count(1))
    return (name for name in names if not is_taken(name))


def with_free_name(
    pod: Mapping[str, Any], taken: Container[str], replicas: int | None = None
) -> Mapping[str, Any]:
    """Return the manifest of a pod that can be added, ``replicas`` times if that is given.

    ``taken`` has the keys of other pods. A pod keeps its name if that is free; so does one with a
    uid, which is a version of a pod that is there.
    """
    name = pod["metadata"].get("name")
    if not isinstance(name, str) or not name or pod["metadata"].get("uid"):
        return pod

    def renamed(name: str) -> Mapping[str, Any]:
        return {**pod, "metadata": {**pod["metadata"], "name": name}}

    def is_taken(name: str) -> bool:
        return any(key in taken for key in keys_of_copies(renamed(name), replicas))

    return renamed(next(new_names(name, is_taken))) if is_taken(name) else pod


def keys_of_copies(pod: Mapping[str, Any], replicas: int | None) -> list[str]:
    """Return the keys of the pods that are added for a manifest."""
    namespace = pod["metadata"].get("namespace") or "default"
    names = names_of_copies(pod["metadata"].get("name", ""), replicas)
    return [f"{namespace}/{name}" for name in names]


def names_of_copies(name: str, replicas: int | None) -> list[str]:
    """Return the names of the copies of a pod; without ``replicas`` there is only itself."""
    return [name] if replicas is None else [f"{name}-{number}" for number in range(replicas)]

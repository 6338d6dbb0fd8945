"""Rules about all templates of a workload together: names, depth, priorities, children."""

from __future__ import annotations

from collections.abc import Iterator

from podium.apiserver import statuses
from podium.apiserver.statuses import Cause, Json

Causes = Iterator[Cause]
MAX_DEPTH = 4
_GROUPS, _COMPOSITES = "podGroupTemplates", "compositePodGroupTemplates"


def tree_causes(spec: Json) -> Causes:
    names = {one.get("name", "") for one in spec.get(_GROUPS) or ()}
    yield from _repeated(spec, "spec", names)
    for index, one in enumerate(spec.get(_COMPOSITES) or ()):
        if _depth(one) >= MAX_DEPTH:
            detail = f"maximum template hierarchy depth is {MAX_DEPTH}"
            yield statuses.bad_value(f"spec.{_COMPOSITES}[{index}]", one.get(_COMPOSITES), detail)
    yield from _priorities(spec)
    for index, one in enumerate(spec.get(_COMPOSITES) or ()):
        yield from _childless(one, f"spec.{_COMPOSITES}[{index}]")


def _repeated(inside: Json, path: str, names: set[str]) -> Causes:
    """Find names that an earlier list has; those of one list are compared elsewhere."""
    composites = inside.get(_COMPOSITES) or []
    yield from _in_list(composites, f"{path}.{_COMPOSITES}", names)
    for index, one in enumerate(composites):
        where = f"{path}.{_COMPOSITES}[{index}]"
        yield from _in_list(one.get(_GROUPS) or [], f"{where}.{_GROUPS}", names)
        yield from _repeated(one, where, names)


def _in_list(listed: list[Json], path: str, names: set[str]) -> Causes:
    own = [one.get("name", "") for one in listed]
    for index, name in enumerate(own):
        if name in names:
            yield statuses.duplicate(f"{path}[{index}].name", name)
    names.update(own)


def _depth(composite: Json) -> int:
    return 1 + max(map(_depth, composite.get(_COMPOSITES) or ()), default=0)


def _priorities(spec: Json) -> Causes:
    """Compare all templates with the first one."""
    groups = [_priority(one) for one in spec.get(_GROUPS) or ()]
    if len(set(groups)) > 1:
        yield statuses.bad_value("spec", None, "detected multiple priority configurations")
        return
    below = [_priority(each) for one in spec.get(_COMPOSITES) or () for each in _all(one)]
    if len({*groups, *below}) > 1:
        detail = "all priority and priorityClassName values must be identical"
        yield statuses.bad_value("spec", None, f"{detail}, detected multiple values")


def _priority(template: Json) -> tuple[str, int | None]:
    return template.get("priorityClassName") or "", template.get("priority")


def _all(composite: Json) -> Iterator[Json]:
    yield composite
    for one in composite.get(_COMPOSITES) or ():
        yield from _all(one)
    yield from composite.get(_GROUPS) or ()


def _childless(composite: Json, path: str) -> Causes:
    if not composite.get(_GROUPS) and not composite.get(_COMPOSITES):
        detail = "must have at least one child PodGroupTemplate or CompositePodGroupTemplate"
        yield statuses.bad_value(path, composite.get("name", ""), detail)
    for index, one in enumerate(composite.get(_COMPOSITES) or ()):
        yield from _childless(one, f"{path}.{_COMPOSITES}[{index}]")

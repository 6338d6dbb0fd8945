"""Traces of SimKube (version 2 of its format), with a file of the nodes to replay them on.

A trace of SimKube has objects that own pods, and nodes are not among them. The pods that
controllers would create are made here, without what controllers do in between: a changed template
replaces all pods at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from podium import files, snapshot
from podium.api.codec import UNREADABLE
from podium.errors import InvalidTrace, PodiumError, Problem
from podium.replay.convert.draft import Draft, Json
from podium.replay.lines import Arrival, Departure
from podium.replay.workload import SYSTEM_CLASSES

VERSION: Final = 2

# Where kinds have the template of their pods.
_TEMPLATES: Final = {
    "batch/v1.CronJob": "/spec/jobTemplate/spec/template",
    "apps/v1.DaemonSet": "/spec/template",
    "apps/v1.Deployment": "/spec/template",
    "batch/v1.Job": "/spec/template",
    "apps/v1.ReplicaSet": "/spec/template",
    "apps/v1.StatefulSet": "/spec/template",
    "v1.Pod": "",
}
_SCALED: Final = ("apps/v1.Deployment", "apps/v1.ReplicaSet", "apps/v1.StatefulSet")

Lifecycle = dict[str, Any] | str  # {"Finished": [start, end]}, {"Running": start} or "Empty"


class _Event(msgspec.Struct):
    ts: int
    applied_objs: list[Json] = []
    deleted_objs: list[Json] = []


class _Trace(msgspec.Struct):
    """The parts of the file that are read here."""

    version: int
    events: list[_Event]
    config: Json = {}
    pod_lifecycles: dict[tuple[str, str], dict[int, list[Lifecycle]]] = {}


def from_simkube(files: Sequence[Path]) -> Draft:
    if len(files) != 2:
        what = "a SimKube trace and a file of nodes (manifests or a snapshot)"
        raise InvalidTrace("the files", [Problem("", f"give two: {what}")])
    trace, draft = _read(files[0]), Draft(objects=_objects(files[1]))
    owners = _Owners(trace, draft)
    for event in trace.events:
        for obj in event.applied_objs:
            owners.apply(obj, float(event.ts))
        for obj in event.deleted_objs:
            owners.delete(obj, float(event.ts))
    return draft


def _read(path: Path) -> _Trace:
    try:
        data = files.read(path)
        decode = msgspec.json.decode if data.lstrip()[:1] == b"{" else msgspec.msgpack.decode
        trace = decode(data, type=_Trace)
    except PodiumError as error:
        raise InvalidTrace(str(path), [Problem("", str(error))]) from error
    except UNREADABLE as error:
        why = f"not a whole trace of SimKube: {error}"
        raise InvalidTrace(str(path), [Problem("", why)]) from error
    if trace.version != VERSION:
        why = f"version {trace.version} of SimKube's format; this podium reads {VERSION}"
        raise InvalidTrace(str(path), [Problem("version", why)])
    return trace


def _objects(path: Path) -> list[Json]:
    found = snapshot.load(path)
    if not any(kind.kind == "Node" for kind in found.objects):
        raise InvalidTrace(str(path), [Problem("", "it has no nodes")])
    return [msgspec.json.decode(each) for objects in found.objects.values() for each in objects]


@dataclass(slots=True)
class _Owner:
    """An object that owns pods, as it was applied last."""

    template: Json
    pods: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=itertools.count)


class _Owners:
    """The objects of the trace that own pods, by kind and name."""

    def __init__(self, trace: _Trace, draft: Draft) -> None:
        self._draft = draft
        self._owners: dict[tuple[str, str], _Owner] = {}
        self._lifecycles = {
            key: sorted(
                (each for same in by_hash.values() for each in same if _start(each) is not None),
                key=lambda each: _start(each) or 0,
            )
            for key, by_hash in trace.pod_lifecycles.items()
        }
        self._paths = dict(_TEMPLATES) | _configured_paths(trace.config)
        self._classes = {
            str(obj.get("metadata", {}).get("name"))
            for obj in draft.objects
            if obj.get("kind") == "PriorityClass"
        } | set(SYSTEM_CLASSES)

    def apply(self, obj: Json, time: float) -> None:
        kind, name = _kind(obj), _key(obj)
        path = self._paths.get(kind)
        if path is None or kind == "apps/v1.DaemonSet":
            self._draft.left_out[f"versions of objects of the kind {kind} left out"] += 1
            return
        template = self._pod(_at(obj, path) or {})
        owner = self._owners.get((kind, name))
        if owner is None:
            owner = self._owners[kind, name] = _Owner(template)
            self._create(owner, kind, obj, time)
        elif kind in _SCALED:
            self._change(owner, kind, obj, template, time)
        owner.template = template

    def delete(self, obj: Json, time: float) -> None:
        owner = self._owners.pop((_kind(obj), _key(obj)), None)
        if owner is not None:
            self._scale(owner, "", _key(obj), 0, time)

    def _create(self, owner: _Owner, kind: str, obj: Json, time: float) -> None:
        name = _key(obj)
        if kind == "v1.Pod":
            self._arrive(owner, name, time, self._lifecycle(kind, name, 0))
        elif kind in _SCALED:
            self._scale(owner, kind, name, _replicas(obj), time)
        else:
            self._by_lifecycles(owner, kind, name)

    def _change(self, owner: _Owner, kind: str, obj: Json, template: Json, time: float) -> None:
        if template != owner.template:
            self._draft.left_out["rollouts replaced all pods of an object at once"] += 1
            self._scale(owner, kind, _key(obj), 0, time)
            owner.template = template
        self._scale(owner, kind, _key(obj), _replicas(obj), time)

    def _scale(self, owner: _Owner, kind: str, name: str, count: int, time: float) -> None:
        while len(owner.pods) > count:
            self._draft.lines.append(Departure(time=time, name=owner.pods.pop()))
        while len(owner.pods) < count:
            number = next(owner.numbers)
            pod = f"{name}-{number}"
            self._arrive(owner, pod, time, self._lifecycle(kind, name, number))

    def _by_lifecycles(self, owner: _Owner, kind: str, name: str) -> None:
        """Let pods arrive when they started in the cluster of the trace."""
        lifecycles = self._lifecycles.get((kind, name), [])
        if not lifecycles:
            self._draft.left_out[f"objects of the kind {kind} without lifecycles left out"] += 1
        for number, lifecycle in enumerate(lifecycles):
            self._arrive(owner, f"{name}-{number}", float(_start(lifecycle) or 0), lifecycle)

    def _arrive(self, owner: _Owner, name: str, time: float, lifecycle: Lifecycle | None) -> None:
        shape = self._draft.shape(owner.template)
        duration = None if lifecycle is None else _duration(lifecycle)
        self._draft.lines.append(Arrival(time=time, name=name, shape=shape, duration=duration))
        owner.pods.append(name)

    def _lifecycle(self, kind: str, name: str, number: int) -> Lifecycle | None:
        """Return the lifecycle of a pod; as in SimKube, they are used again after the last one."""
        found = self._lifecycles.get((kind, name))
        return found[number % len(found)] if found else None

    def _pod(self, template: Json) -> Json:
        """Return what of a template matters to the scheduler and can be replayed."""
        spec = dict(template.get("spec") or {})
        spec.pop("nodeName", None)
        volumes = spec.get("volumes") or []
        kept = [one for one in volumes if not {"persistentVolumeClaim", "ephemeral"} & one.keys()]
        if len(kept) < len(volumes):
            self._draft.left_out["volumes with claims left out of templates"] += 1
        if volumes:
            spec["volumes"] = kept
        name = spec.get("priorityClassName")
        if name and spec.get("priority") is None and name not in self._classes:
            self._draft.left_out[f'priority class "{name}" is unknown and counts as 0, in'] += 1
            del spec["priorityClassName"]
        metadata = template.get("metadata") or {}
        return {"metadata": {"labels": metadata.get("labels") or {}}, "spec": spec}


def _configured_paths(config: Mapping[str, Any]) -> dict[str, str]:
    found = {}
    for kind, tracked in (config.get("trackedObjects") or {}).items():
        paths = (tracked or {}).get("podSpecTemplatePaths") or []
        if paths:
            found[str(kind)] = str(paths[0])
    return found


def _kind(obj: Json) -> str:
    return f"{obj.get('apiVersion', 'v1')}.{obj.get('kind', '')}"


def _key(obj: Json) -> str:
    metadata = obj.get("metadata") or {}
    return f"{metadata.get('namespace') or 'default'}/{metadata.get('name')}"


def _at(obj: Any, path: str) -> Any:
    """Return the value at a JSON pointer."""
    for step in path.split("/")[1:]:
        obj = obj.get(step) if isinstance(obj, dict) else None
    return obj


def _replicas(obj: Json) -> int:
    found = (obj.get("spec") or {}).get("replicas")
    return 1 if found is None else int(found)


def _start(lifecycle: Lifecycle) -> int | None:
    match lifecycle:
        case {"Finished": [start, _]} | {"Running": start}:
            return int(start)
    return None


def _duration(lifecycle: Lifecycle) -> float | None:
    match lifecycle:
        case {"Finished": [start, end]}:
            return float(max(end - start, 0))
    return None

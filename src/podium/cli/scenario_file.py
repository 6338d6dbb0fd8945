"""Read the file of `podium simulate run`: the steps of a scenario.

    apiVersion: simulation.podium.dev/v1
    kind: Scenario
    steps:
      - nodes: {add: "like:node-1*10"}
      - drain: [node-1, node-2]
      - add: {file: web.yaml, replicas: 20}
      - fit: pod.yaml

Files are looked up beside the scenario.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from podium.api.manifests import documents, read_text
from podium.cli.manifests import read_objects, read_pod
from podium.errors import ConfigError, PodiumError, Problem, did_you_mean
from podium.simulation.limits import check_number
from podium.simulation.scenario import Add, AddNodes, DrainNodes, Fit, RemoveNodes, Step

API_VERSION: Final = "simulation.podium.dev/v1"
KIND: Final = "Scenario"
_FIELDS: Final = ("apiVersion", "kind", "metadata", "steps")


class _Wrong(PodiumError):
    """A value in the file that is not what the step takes; ``path`` is where, below the step."""

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        super().__init__(message)


def read_scenario(path: Path) -> list[Step]:
    """Return the steps of a file; ``ConfigError`` lists everything that is wrong with it."""
    problems: list[Problem] = []
    steps = list(_steps(_document(path), path.parent, problems))
    if problems:
        raise ConfigError(str(path), problems)
    return steps


def _document(path: Path) -> Mapping[str, Any]:
    try:
        found = documents(read_text(path))
    except PodiumError as error:
        raise PodiumError(f"{path}: {error}") from error
    if len(found) != 1 or not isinstance(found[0], dict):
        raise ConfigError(str(path), [Problem("", f"expected one object of kind {KIND}")])
    return found[0]


def _steps(document: Mapping[str, Any], folder: Path, problems: list[Problem]) -> Iterator[Step]:
    for name, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if document.get(name) != wanted:
            problems.append(Problem(name, f"must be {wanted}, not {document.get(name)!r}"))
    for name in document:
        if name not in _FIELDS:
            problems.append(Problem(name, f"no such field{did_you_mean(name, _FIELDS)}"))
    steps = document.get("steps")
    if not isinstance(steps, list) or not steps:
        problems.append(Problem("steps", "must be a list of at least one step"))
        return
    for number, step in enumerate(steps):
        yield from _step(f"steps[{number}]", step, folder, problems)


def _step(path: str, step: Any, folder: Path, problems: list[Problem]) -> Iterator[Step]:
    known = ", ".join(_READERS)
    if not isinstance(step, dict) or len(step) != 1:
        problems.append(Problem(path, f"must have exactly one of {known}"))
        return
    ((name, value),) = step.items()
    read = _READERS.get(name)
    if read is None:
        hint = did_you_mean(name, _READERS) or f"; there are {known}"
        problems.append(Problem(f"{path}.{name}", f"no such step{hint}"))
        return
    try:
        yield from read(value, folder)
    except _Wrong as wrong:
        problems.append(Problem(f"{path}.{name}{wrong.path}", str(wrong)))
    except PodiumError as error:
        problems.append(Problem(f"{path}.{name}", str(error)))


def _add(value: Any, folder: Path) -> Iterator[Step]:
    fields = {"file": value} if isinstance(value, str) else _fields(value, ("file", "replicas"))
    name, replicas = fields.get("file"), fields.get("replicas")
    if not isinstance(name, str):
        raise _Wrong(".file", "must name a file")
    if replicas is not None and (not isinstance(replicas, int) or isinstance(replicas, bool)):
        raise _Wrong(".replicas", f"must be a number, not {replicas!r:.40}")
    if replicas is not None:
        check_number("replicas", replicas)
    objects = [obj for _, obj in read_objects([str(folder / name)])]
    yield Add(objects, replicas, name)


def _drain(value: Any, folder: Path) -> Iterator[Step]:
    given = value if isinstance(value, dict) else {"nodes": value}
    fields = _fields(given, ("nodes", "ignoreBudgets"))
    nodes = fields.get("nodes")
    nodes = [nodes] if isinstance(nodes, str) else nodes
    if not isinstance(nodes, list) or not nodes or not all(isinstance(one, str) for one in nodes):
        raise _Wrong("", "must be a list of names of nodes")
    ignored = fields.get("ignoreBudgets", False)
    if not isinstance(ignored, bool):
        raise _Wrong(".ignoreBudgets", f"must be true or false, not {ignored!r}")
    yield DrainNodes(tuple(nodes), ignored)


def _nodes(value: Any, folder: Path) -> Iterator[Step]:
    fields = _fields(value, ("add", "remove"))
    for name in ("add", "remove"):
        if name in fields and not isinstance(fields[name], str):
            raise _Wrong(f".{name}", f"must be text, not {fields[name]!r}")
    if "add" in fields:
        yield AddNodes.parse(fields["add"])
    if "remove" in fields:
        yield RemoveNodes(fields["remove"])


def _fit(value: Any, folder: Path) -> Iterator[Step]:
    if not isinstance(value, str):
        raise _Wrong("", "must name a file with a pod")
    yield Fit(read_pod(str(folder / value)), value)


def _fields(value: Any, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not value:
        raise _Wrong("", f"must have {' or '.join(known)}")
    for name in value:
        if name not in known:
            raise _Wrong(f".{name}", f"no such field{did_you_mean(name, known)}")
    return value


_READERS: Final[dict[str, Callable[[Any, Path], Iterator[Step]]]] = {
    "add": _add,
    "drain": _drain,
    "fit": _fit,
    "nodes": _nodes,
}

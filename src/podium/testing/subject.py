"""The plugin under test, and what it answers for a pod on a cluster: run_filter and run_score.

Answers come about as in a scheduling cycle of a profile with this one plugin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from podium.api.meta import ApiObject
from podium.api.objects import Pod
from podium.cycle.pod_classes import PodClass
from podium.framework.answers import AttemptFailed
from podium.framework.args import Args, as_written, spelled_twice
from podium.framework.plugin import Plugin
from podium.framework.registry import Registry
from podium.framework.status import Status
from podium.state.rows import Rows
from podium.testing.handle import FakeHandle

Objects = Iterable[ApiObject]
Arguments = Args | Mapping[str, Any]


class Answers(NamedTuple):
    """By name of the node: the verdict of each, and the score of those that are feasible."""

    verdicts: dict[str, Status]
    scores: dict[str, int]


class Subject:
    """A plugin in a profile of its own, on a cluster of its own.

    ``written`` is whatever its author writes: a class, a factory, a decorated function; or a plugin
    that the test has built, with the handle that it was built with as ``objects``.
    """

    def __init__(
        self, written: Any, objects: Objects | FakeHandle = (), args: Arguments | None = None
    ) -> None:
        self.handle = objects if isinstance(objects, FakeHandle) else FakeHandle(*objects)
        self.plugin = _built(written, args, self.handle)
        self.handle.use(self.plugin)
        self.cluster = self.handle.state
        self.profile = self.handle.profile

    def pod_class(self, pod: Pod) -> PodClass:
        """Return what is to be known of pods with this signature; nothing so far."""
        return PodClass(self.profile, self.cluster, pod)

    def answers(self, pod: Pod, pod_class: PodClass | None = None) -> Answers:
        """From scratch, or by what a pod class knows already."""
        pod_class = pod_class or self.pod_class(pod)
        judged = pod_class.judgement.refresh(pod)
        refused = judged.pre.status
        if not refused.ok:
            return Answers(dict.fromkeys(self.handle.rows.names, refused.by("")), {})
        statuses = judged.node_statuses()
        verdicts = {node.name: statuses.of(node).by("") for node in self.handle.rows}
        feasible = judged.verdicts.feasible
        if not self.profile.scores or not len(feasible):
            return Answers(verdicts, {})
        board = pod_class.scoreboard
        version = judged.verdicts.version
        board.refresh(judged.state, pod, Rows(self.cluster, feasible), version)
        names = self.cluster.table.names
        scores = {names[row]: board.total.item(row) for row in feasible.tolist()}
        return Answers(verdicts, scores)


def error_of(failed: AttemptFailed) -> str:
    """Return what the plugin answered instead of a verdict; what it raised is raised again."""
    if failed.__cause__ is not None:
        raise failed.__cause__
    return failed.status.message


def _built(written: Any, args: Arguments | None, handle: FakeHandle) -> Plugin:
    if isinstance(written, Plugin):
        return written
    registry = Registry([written])
    (name,) = registry
    try:
        arguments = _arguments(args or {}, registry.args_type(name))
    except ValueError as fault:
        raise ValueError(f"wrong arguments of plugin {name}: {fault}") from fault
    return registry.build(name, arguments, handle)


def _arguments(given: Arguments, kind: type[Args]) -> Args:
    """Build a plugin's ``Args`` as a configuration does; raise what is wrong with them."""
    if isinstance(given, Args):
        return given
    for name, other in spelled_twice(given, kind):
        raise ValueError(f"given twice: {name} and {other}; remove one of them")
    args = msgspec.convert(as_written(given, kind), kind)
    if problems := [f"{problem.path}: {problem.message}" for problem in args.validate()]:
        raise ValueError("; ".join(problems))
    return args


def run_filter(
    plugin: Any, pod: Pod, objects: Objects | FakeHandle, *, args: Arguments | None = None
) -> dict[str, Status]:
    """Return what the plugin's PreFilter and Filter say about each node, by its name.

    ``objects`` are the nodes, and whatever else the cluster has: pods that run, claims, services;
    or the handle of a plugin that is built already. ``args`` are those of a configuration, as a
    dict, or the plugin's own ``Args``. What the plugin raises is raised.
    """
    subject = Subject(plugin, objects, args)
    if not subject.profile.filters and not subject.profile.pre_filters:
        raise TypeError(f"{subject.plugin.name} has neither PreFilter nor Filter")
    return subject.answers(pod).verdicts


def run_score(
    plugin: Any, pod: Pod, objects: Objects | FakeHandle, *, args: Arguments | None = None
) -> dict[str, int]:
    """Return the plugin's score of each node after normalizing, 0 to 100.

    The parameters are those of ``run_filter``.

    A plugin that also filters scores only the nodes that it lets pass.
    """
    subject = Subject(plugin, objects, args)
    if not subject.profile.scores:
        raise TypeError(f"{subject.plugin.name} has no Score")
    return subject.answers(pod).scores

"""What a check is run on: a pod, a cluster, and what happens to that cluster.

Cases are written down by a test, or generated; ``forms`` and ``signatures`` judge them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import msgspec

from podium.api.meta import ApiObject
from podium.api.objects import Node, Pod
from podium.state.cluster import ClusterState

_MISSING = (
    "a check on generated clusters needs hypothesis: install podium[testing], or give the check a "
    "pod and objects of your own"
)


@dataclass(frozen=True, slots=True)
class Change:
    """The API shows an object, new or changed, or that it is gone."""

    obj: ApiObject
    gone: bool = False

    def apply(self, cluster: ClusterState) -> None:
        """Nothing happens where an object is gone that was not there."""
        match self.obj:
            case Node() as node:
                self._apply_node(cluster, node)
            case Pod() as pod:
                self._apply_pod(cluster, pod)
            case other if self.gone:
                cluster.remove_object(type(other), other.key)
            case other:
                cluster.set_object(other)

    def _apply_node(self, cluster: ClusterState, node: Node) -> None:
        if not self.gone:
            cluster.set_node(node)
        elif cluster.node(node.name) is not None:
            cluster.remove_node(node.name)

    def _apply_pod(self, cluster: ClusterState, pod: Pod) -> None:
        known = cluster.pods.get(pod.uid)
        if self.gone:
            if known is not None:
                cluster.remove_pod(known.pod)
        elif known is not None:
            cluster.update_pod(pod)
        elif pod.node_name:
            cluster.add_pod(pod)

    def __str__(self) -> str:
        what = f"{type(self.obj).__name__} {self.obj.key}"
        return f"{what} is gone" if self.gone else f"{what} was added or changed"


@dataclass(frozen=True, slots=True)
class Case:
    """``similar`` are pods that differ from ``pod`` in little; ``changes`` come one by one."""

    pod: Pod
    objects: list[ApiObject]
    similar: list[Pod] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)


def told(pod: Pod, objects: Iterable[ApiObject]) -> Case:
    """A cluster that is built up object by object, and taken down again."""
    story = [Change(obj) for obj in objects]
    ends = [Change(change.obj, gone=True) for change in reversed(story)]
    return Case(pod, [], [replica(pod, f"{pod.name}-twin")], [*story, *ends])


def each_generated(check: Callable[[Case], object], like: Iterable[ApiObject]) -> None:
    """Run a check on as many cases as hypothesis' settings say; it shows the simplest failure."""
    try:
        import hypothesis
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(_MISSING, name="hypothesis") from missing
    from podium.testing.generated_cases import cases

    @hypothesis.settings(deadline=None, database=None)
    @hypothesis.given(case=cases(tuple(like)))
    def checked(case: Case) -> None:
        check(case)

    checked()


def replica(template: Pod, name: str) -> Pod:
    """Return the same pod under another name."""
    meta = msgspec.structs.replace(template.metadata, name=name, uid=f"uid-{name}")
    return msgspec.structs.replace(template, metadata=meta)

"""Find invalid selectors anywhere in an object, for ``validation.py``.

A running scheduler does not refuse them: the plugins that use a selector define what an invalid
one means.
"""

from collections.abc import Iterator

from podium.api.affinity import (
    PREFERRED,
    REQUIRED,
    NodeAffinity,
    NodeSelector,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
)
from podium.api.meta import ApiObject, LabelSelector
from podium.api.pods import Pod
from podium.api.selectors import label_selector, node_selector, preferred_problems
from podium.api.storage import CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim
from podium.api.workloads import PodDisruptionBudget, ReplicaSet, StatefulSet
from podium.errors import InvalidSelector, Problem

Problems = Iterator[Problem]


def selector_problems(obj: ApiObject) -> Problems:
    match obj:
        case Pod():
            yield from _pod(obj)
        case PersistentVolume() if obj.spec.node_affinity is not None:
            yield from _on_nodes(obj.spec.node_affinity.required, "spec.nodeAffinity.required")
        case PersistentVolumeClaim() | ReplicaSet() | StatefulSet() | PodDisruptionBudget():
            yield from _on_labels(obj.spec.selector, "spec.selector")
        case CSIStorageCapacity():
            yield from _on_labels(obj.node_topology, "nodeTopology")


def _pod(pod: Pod) -> Problems:
    for index, constraint in enumerate(pod.spec.topology_spread_constraints):
        path = f"spec.topologySpreadConstraints[{index}].labelSelector"
        yield from _on_labels(constraint.label_selector, path)
    affinity = pod.spec.affinity
    if affinity is None:
        return
    if affinity.node_affinity is not None:
        yield from _node_affinity(affinity.node_affinity, "spec.affinity.nodeAffinity")
    yield from _pod_affinity(affinity.pod_affinity, "spec.affinity.podAffinity")
    yield from _pod_affinity(affinity.pod_anti_affinity, "spec.affinity.podAntiAffinity")


def _node_affinity(affinity: NodeAffinity, path: str) -> Problems:
    yield from _on_nodes(affinity.required, f"{path}.{REQUIRED}")
    for error in preferred_problems(affinity.preferred):
        yield Problem(f"{path}.{PREFERRED}", error)


def _pod_affinity(affinity: PodAffinity | PodAntiAffinity | None, path: str) -> Problems:
    if affinity is None:
        return
    for index, term in enumerate(affinity.required):
        yield from _term(term, f"{path}.{REQUIRED}[{index}]")
    for index, weighted in enumerate(affinity.preferred):
        where = f"{path}.{PREFERRED}[{index}].podAffinityTerm"
        yield from _term(weighted.pod_affinity_term, where)


def _term(term: PodAffinityTerm, path: str) -> Problems:
    yield from _on_labels(term.label_selector, f"{path}.labelSelector")
    yield from _on_labels(term.namespace_selector, f"{path}.namespaceSelector")


def _on_nodes(selector: NodeSelector | None, path: str) -> Problems:
    for error in () if selector is None else node_selector(selector).errors:
        yield Problem(path, error)


def _on_labels(selector: LabelSelector | None, path: str) -> Problems:
    try:
        label_selector(selector)
    except InvalidSelector as error:
        yield Problem(path, str(error))

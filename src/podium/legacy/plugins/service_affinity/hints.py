"""Queueing hints: which events may make a pod schedulable that ServiceAffinity rejected."""

from __future__ import annotations

from podium.api.objects import Node, Pod, Service
from podium.legacy.plugins.service_affinity.agreement import agree


class Hints:
    """The hints for ``labels``, in which the pods of a service must agree."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        self.labels = labels

    def peers_changed(self, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
        """Whether another node may be the first with a peer now, or the pod itself changed."""
        if new is not None and new.uid == pod.uid:
            return True
        return _is_peer(pod, old) != _is_peer(pod, new)

    def node_may_agree(self, pod: Pod, old: Node | None, new: Node | None) -> bool:
        """Whether a node joined that fits the node selector, or one left or changed its labels."""
        if new is None:
            return True
        if old is None:
            wanted = pod.spec.node_selector
            pairs = tuple((label, wanted[label]) for label in self.labels if label in wanted)
            return agree(pairs, new.labels)
        return any(old.labels.get(label) != new.labels.get(label) for label in self.labels)

    def service_let_go(self, pod: Pod, old: Service, new: Service | None) -> bool:
        """Whether a service no longer selects the pod: then the pod need not follow its peers."""
        return _selects(old, pod) and not _selects(new, pod)


def _is_peer(pod: Pod, other: Pod | None) -> bool:
    if other is None or other.namespace != pod.namespace:
        return False
    return pod.labels.items() <= other.labels.items()


def _selects(service: Service | None, pod: Pod) -> bool:
    if service is None or service.namespace != pod.namespace:
        return False
    selector = service.spec.selector
    return selector is not None and selector.items() <= pod.labels.items()

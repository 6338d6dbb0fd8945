"""Which events may help a pod that its hard constraints rejected."""

from podium.api.objects import Node, Pod
from podium.api.selectors import label_names
from podium.errors import InvalidSelector
from podium.framework.events import ANY_LABEL, Topic
from podium.plugins.pod_topology_spread.constraints import Constraints, Spreading


class Hints:
    """The hints. They look up the pod's constraints, which may come from services and owners."""

    def __init__(self, spreading: Spreading) -> None:
        self._spreading = spreading
        # Pods come and go all the time; each counts for few constraints.
        self.labels_topic = Topic(_labels_of_change, self._labels_that_concern)

    def pods_shift_the_counts(self, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
        """Return whether the counts change, or this pod tolerates other taints."""
        if any(other is not None and not _is_involved(pod, other) for other in (old, new)):
            return False
        constraints = self._spreading.hard(pod)
        if old is not None and new is not None:
            return _update_shifts(pod, old, new, constraints)
        other = new or old
        return other is not None and any(c.selector.matches(other.labels) for c in constraints)

    def _labels_that_concern(self, pod: Pod) -> set[str]:
        """Return, for each constraint, a label of all pods that it counts."""
        any_label = f"{pod.namespace}/{ANY_LABEL}"
        if not pod.spec.topology_spread_constraints:
            return {any_label}  # they come from services and owners, which change
        try:
            labels = [each.selector.required_label for each in self._spreading.hard(pod)]
        except InvalidSelector:
            return {any_label}
        return {f"{pod.namespace}/{label or ANY_LABEL}" for label in labels}

    def nodes_shift_the_domains(self, pod: Pod, old: Node | None, new: Node | None) -> bool:
        """Return whether a node with all keys appeared, disappeared or changed keys or taints."""
        keys = [constraint.topology_key for constraint in self._spreading.hard(pod)]
        had = old is not None and all(key in old.labels for key in keys)
        has = new is not None and all(key in new.labels for key in keys)
        if old is None or new is None or had != has:
            return had or has
        moved = any(old.labels[key] != new.labels[key] for key in keys) if has else False
        return moved or (has and old.spec.taints != new.spec.taints)


def _labels_of_change(old: Pod | None, new: Pod | None) -> set[str]:
    """Return the labels of a pod, before and after, each with its namespace."""
    return {
        f"{version.namespace}/{label}"
        for version in (old, new)
        if version is not None
        for label in (ANY_LABEL, *label_names(version.labels))
    }


def _is_involved(pod: Pod, other: Pod) -> bool:
    """Return whether the other pod is this pod, or may count for its constraints."""
    if other.uid == pod.uid:
        return True
    return bool(other.node_name or other.nominated_node_name) and other.namespace == pod.namespace


def _update_shifts(pod: Pod, old: Pod, new: Pod, constraints: Constraints) -> bool:
    tolerates_others = new.uid == pod.uid and old.spec.tolerations != new.spec.tolerations
    if tolerates_others and any(constraint.honors_taints for constraint in constraints):
        return True
    return old.labels != new.labels and any(
        constraint.selector.matches(old.labels) != constraint.selector.matches(new.labels)
        for constraint in constraints
    )

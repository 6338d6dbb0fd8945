"""Which events may help a pod that InterPodAffinity rejected.

Terms are matched without looking up namespaces: a namespace selector is tried on no labels at all.
Events that are missed because of that do no lasting harm, as a later event wakes the pod.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from podium.api.affinity_terms import AffinityTerms, Terms, affinity_terms
from podium.api.objects import Node, Pod
from podium.api.selectors import label_names
from podium.errors import InvalidSelector
from podium.framework.events import ANY_LABEL, Topic

Match = Callable[[Terms, Pod | None], bool]


def pod_may_help(pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """Return whether a required pod has appeared, or a forbidden one has disappeared.

    A pod is forbidden if any term of an anti-affinity matches it.
    """
    return _may_help(pod, old, new, any_matches)


def pod_may_help_all_terms(pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """Return the same as 1.36, where a pod is forbidden only if all terms match it."""
    return _may_help(pod, old, new, all_match)


def _may_help(pod: Pod, old: Pod | None, new: Pod | None, is_forbidden: Match) -> bool:
    if old is not None and new is not None and new.uid == pod.uid:
        return True
    if (old is not None and not _has_node(old)) or (new is not None and not _has_node(new)):
        return False
    terms = _terms(pod)
    if old is None:
        return all_match(terms.required, new)
    if new is None:
        return is_forbidden(terms.required_anti, old) or is_forbidden(
            _terms(old).required_anti, pod
        )
    if all_match(terms.required, new) and not all_match(terms.required, old):
        return True
    anti = terms.required_anti
    return is_forbidden(anti, old) and not is_forbidden(anti, new)


def _labels_of_change(old: Pod | None, new: Pod | None) -> set[str] | None:
    """Return the labels of a pod, before and after; ``None`` if it may concern any pod."""
    if old is not None and new is None:
        left = affinity_terms(old)
        if left.required_anti or left.problems:
            return None
    versions = [version for version in (old, new) if version is not None]
    return {ANY_LABEL}.union(*(label_names(version.labels) for version in versions))


def _labels_that_concern(pod: Pod) -> set[str]:
    """Return a label for each required term. A pod that a term matches has that label.

    Required terms of the affinity must all match, so one label of one of them is enough.
    """
    terms = affinity_terms(pod)
    if terms.problems:
        return {ANY_LABEL}
    found = {term.selector.required_label or ANY_LABEL for term in terms.required_anti}
    if terms.required:
        labels = [term.selector.required_label for term in terms.required]
        found.add(next(filter(None, labels), ANY_LABEL))
    return found


# Pods come and go all the time, and pods that wait often select others by a label of their own.
LABELS_TOPIC: Final = Topic(_labels_of_change, _labels_that_concern)


def node_may_help(pod: Pod, old: Node | None, new: Node) -> bool:
    """Return whether a node has got a required domain, or has left a forbidden one."""
    terms = _terms(pod)
    near = {term.topology_key for term in terms.required}
    apart = {term.topology_key for term in terms.required_anti}
    if old is None:
        return bool(apart) or any(key in new.labels for key in near)
    before, after = old.labels, new.labels
    return any(key in after and before.get(key) != after[key] for key in near) or any(
        key in before and after.get(key) != before[key] for key in apart
    )


def all_match(terms: Terms, pod: Pod | None) -> bool:
    """Return whether there are terms and all of them match this pod."""
    if pod is None or not terms:
        return False
    return all(term.matches(pod.namespace, {}, pod.labels) for term in terms)


def any_matches(terms: Terms, pod: Pod | None) -> bool:
    """Return whether one of the terms matches this pod."""
    return pod is not None and any(term.matches(pod.namespace, {}, pod.labels) for term in terms)


def _has_node(pod: Pod) -> bool:
    return bool(pod.node_name or pod.status.nominated_node_name)


def _terms(pod: Pod) -> AffinityTerms:
    terms = affinity_terms(pod)
    for problem in terms.problems:
        if problem.startswith("required"):
            raise InvalidSelector(problem)
    return terms

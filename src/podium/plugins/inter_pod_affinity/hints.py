"""Which events may help a pod that InterPodAffinity rejected.

Terms are matched without looking up namespaces: a namespace selector is tried on no labels at all.
Events that are missed because of that do no lasting harm, as a later event wakes the pod.
"""

from __future__ import annotations

from podium.api.affinity_terms import AffinityTerms, Terms, affinity_terms
from podium.api.objects import Node, Pod
from podium.errors import InvalidSelector


def pod_may_help(pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """Return whether a required pod has appeared, or a forbidden one has disappeared."""
    if old is not None and new is not None and new.uid == pod.uid:
        return True
    if any(other is not None and not _has_node(other) for other in (old, new)):
        return False
    terms = _terms(pod)
    if old is None:
        return all_match(terms.required, new)
    if new is None:
        return all_match(terms.required_anti, old) or all_match(_terms(old).required_anti, pod)
    return _began_to_match(terms.required, old, new) or _began_to_match(
        terms.required_anti, new, old
    )


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


def _began_to_match(terms: Terms, before: Pod, after: Pod) -> bool:
    return all_match(terms, after) and not all_match(terms, before)


def _has_node(pod: Pod) -> bool:
    return bool(pod.node_name or pod.status.nominated_node_name)


def _terms(pod: Pod) -> AffinityTerms:
    terms = affinity_terms(pod)
    for problem in terms.problems:
        if problem.startswith("required"):
            raise InvalidSelector(problem)
    return terms

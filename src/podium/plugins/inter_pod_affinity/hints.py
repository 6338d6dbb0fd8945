"""Which events may help a pod that InterPodAffinity rejected.

Terms are tried as written: a namespace selector sees no labels here, so that only those match
through it that ask for none. An event it misses is made up for by the next one that wakes the pod.
"""

from __future__ import annotations

from podium.api.affinity_terms import AffinityTerms, Terms, affinity_terms
from podium.api.objects import Node, Pod
from podium.errors import InvalidSelector


def pod_may_help(pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """A pod came, went or changed its labels: the one wanted is there, or one in the way is not."""
    if old is not None and new is not None and new.uid == pod.uid:
        return True
    if any(other is not None and not _has_place(other) for other in (old, new)):
        return False
    terms = _terms(pod)
    if old is None:
        return speak_of(terms.required, new)
    if new is None:
        return speak_of(terms.required_anti, old) or speak_of(_terms(old).required_anti, pod)
    return _became(terms.required, old, new) or _became(terms.required_anti, new, old)


def node_may_help(pod: Pod, old: Node | None, new: Node) -> bool:
    """A node came or changed its labels: it has a wanted domain, or left a forbidden one."""
    terms = _terms(pod)
    near = {term.topology_key for term in terms.required}
    apart = {term.topology_key for term in terms.required_anti}
    if old is None:
        return bool(apart) or any(key in new.labels for key in near)
    before, after = old.labels, new.labels
    return any(key in after and before.get(key) != after[key] for key in near) or any(
        key in before and after.get(key) != before[key] for key in apart
    )


def speak_of(terms: Terms, pod: Pod | None) -> bool:
    """Whether there are terms and all of them match this pod."""
    if pod is None or not terms:
        return False
    return all(term.matches(pod.namespace, {}, pod.labels) for term in terms)


def _became(terms: Terms, before: Pod, after: Pod) -> bool:
    return speak_of(terms, after) and not speak_of(terms, before)


def _has_place(pod: Pod) -> bool:
    return bool(pod.node_name or pod.status.nominated_node_name)


def _terms(pod: Pod) -> AffinityTerms:
    terms = affinity_terms(pod)
    for problem in terms.problems:
        if problem.startswith("required"):
            raise InvalidSelector(problem)
    return terms

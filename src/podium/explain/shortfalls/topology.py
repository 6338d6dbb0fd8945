"""Which spread constraint or affinity term a node breaks, with the counts and the pods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from podium.api.affinity_terms import Term, affinity_terms
from podium.api.objects import Namespace, TopologySpreadConstraint
from podium.explain.amounts import MOST_HOLDERS, holder, listed, plural
from podium.explain.case import Case
from podium.explain.shortfalls.nodes import requirement_text
from podium.explain.values import Shortfall
from podium.framework.status import Status
from podium.plugins.pod_topology_spread.args import HARD
from podium.plugins.pod_topology_spread.constraints import Constraint
from podium.plugins.pod_topology_spread.hard import Domains, HardCounts
from podium.state.affinity_index import StandingTerm
from podium.state.pod_groups import Clause, PodQuery
from podium.state.pod_info import PodInfo

_NOWHERE: Final = -2  # not a domain, and not the mark of nodes without the label

# --- topology spread ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Broken:
    """A hard constraint that a node breaks.

    ``index`` is its place among the pod's constraints; ``None`` for one of the profile. ``skew`` is
    the ``maxSkew`` that would do; 0 if the node lacks the label.
    """

    index: int | None
    constraint: Constraint
    domain: str
    count: int
    minimum: int
    skew: int
    is_short: bool = False  # there are fewer domains than minDomains asks for

    @property
    def is_keyless(self) -> bool:
        return self.skew == 0


def broken_constraints(case: Case, row: int) -> list[Broken]:
    """Return the constraints that keep the pod off this node."""
    counts = case.kept(HardCounts)
    if counts is None:
        return []
    written = _written(case)
    found = []
    for number, domains in enumerate(counts.domains):
        broken = _broken(written[number] if written else None, domains, row)
        if broken is not None:
            found.append(broken)
    return found


def _written(case: Case) -> list[int]:
    """Return the indexes of the pod's own hard constraints."""
    own: tuple[TopologySpreadConstraint, ...] = case.pod.spec.topology_spread_constraints
    return [index for index, each in enumerate(own) if each.when_unsatisfiable == HARD]


def _broken(index: int | None, domains: Domains, row: int) -> Broken | None:
    domain = int(domains.label.numbers[row])
    constraint = domains.constraint
    if domain < 0:
        return Broken(index, constraint, "", 0, 0, 0)
    count = int(domains.counts[domain])
    known = domains.counts[domains.known]
    if not len(known) and not domains.is_short:
        return None  # no domain counts, so there is no skew
    minimum = 0 if domains.is_short else int(known.min())
    skew = count + constraint.counts_itself - minimum
    if skew <= constraint.max_skew:
        return None
    name = str(domains.label.values[domain])
    return Broken(index, constraint, name, count, minimum, skew, domains.is_short)


def skewed(case: Case, status: Status, row: int) -> list[Shortfall]:
    found = []
    for broken in broken_constraints(case, row):
        key = broken.constraint.topology_key
        if broken.is_keyless:
            text, details = f"it has no label {key}", {"topologyKey": key}
            found.append(
                Shortfall("TopologyLabelMissing", status.plugin, status.message, text, details)
            )
        else:
            found.append(_skewed(case, status, broken))
    return found


def _skewed(case: Case, status: Status, broken: Broken) -> Shortfall:
    key, most = broken.constraint.topology_key, broken.constraint.max_skew
    emptiest = f"the emptiest domain has {broken.minimum}"
    if broken.is_short:
        few = f"there are fewer than {plural(broken.constraint.min_domains, 'domain')} (minDomains)"
        emptiest = f"{few}, so the emptiest one counts as 0"
    text = (
        f"{key}={broken.domain} has {plural(broken.count, 'such pod')}, and {emptiest}: "
        f"one more makes a skew of {broken.skew}, and {most} is allowed"
    )
    details = {
        "topologyKey": key,
        "domain": broken.domain,
        "count": broken.count,
        "minimum": broken.minimum,
        "skew": broken.skew,
        "maxSkew": most,
    }
    pods = spread_with(case, broken)[:MOST_HOLDERS]
    return Shortfall(
        "TopologySpreadSkew", status.plugin, status.message, text, details, tuple(map(holder, pods))
    )


def spread_with(case: Case, broken: Broken) -> list[PodInfo]:
    """Return the pods that count in the domain of a broken constraint."""
    query = broken.constraint.query
    if query is None:
        return []
    return _pods_in(case, query, broken.constraint.topology_key, broken.domain)


# --- pod affinity and anti-affinity ---------------------------------------------------------------


def repelled(case: Case, status: Status, row: int) -> list[Shortfall]:
    message = status.message
    if "existing pods" in message:
        return list(_opposed(case, status, row))
    terms = affinity_terms(case.pod)
    if "anti-affinity" in message:
        return [each for term in terms.required_anti for each in _crowded(case, status, term, row)]
    return [each for term in terms.required for each in _far(case, status, term, row)]


def _crowded(case: Case, status: Status, term: Term, row: int) -> Iterator[Shortfall]:
    pods = unwanted(case, term, row)
    if pods:
        domain = _domain(case, term.topology_key, row)
        names = listed(info.key for info in pods)
        yield Shortfall(
            "PodAntiAffinity",
            status.plugin,
            status.message,
            f"its anti-affinity to {term_text(term)} excludes {term.topology_key}={domain}: "
            f"{names} {'matches' if len(pods) == 1 else 'match'}",
            {"topologyKey": term.topology_key, "domain": domain, "selector": term_text(term)},
            tuple(map(holder, pods[:MOST_HOLDERS])),
        )


def unwanted(case: Case, term: Term, row: int) -> list[PodInfo]:
    """Return the pods in a node's domain that match an anti-affinity term of the pod."""
    domain = _domain(case, term.topology_key, row)
    return [] if domain is None else _pods_in(case, _query(case, term), term.topology_key, domain)


def _far(case: Case, status: Status, term: Term, row: int) -> Iterator[Shortfall]:
    domain, selector = _domain(case, term.topology_key, row), term_text(term)
    details = {"topologyKey": term.topology_key, "domain": domain, "selector": selector}
    if term.selector.matches_nothing:
        text = "the pod's affinity has no label selector, so that it selects no pod"
    elif domain is None:
        text = f"it has no label {term.topology_key}"
    elif _pods_in(case, _query(case, term), term.topology_key, domain):
        return
    else:
        text = f"no pod with {selector} is in {term.topology_key}={domain}"
    yield Shortfall("PodAffinityMismatch", status.plugin, status.message, text, details)


def _opposed(case: Case, status: Status, row: int) -> Iterator[Shortfall]:
    for info, term in opponents(case, row):
        domain = _domain(case, term.topology_key, row)
        yield Shortfall(
            "ExistingAntiAffinity",
            status.plugin,
            status.message,
            f"{info.key} in {term.topology_key}={domain} does not want pods with {term_text(term)}",
            {"topologyKey": term.topology_key, "domain": domain, "selector": term_text(term)},
            (holder(info),),
        )


def opponents(case: Case, row: int) -> list[tuple[PodInfo, Term]]:
    """Return the placed pods whose anti-affinity keeps the pod off this node, with their terms."""
    pod, cluster = case.pod, case.cluster
    space = cluster.namespace_labels(pod.namespace)
    found = []
    for standing in cluster.affinity.matching("required_anti", pod.namespace, space, pod.labels):
        found += [
            (info, standing.term)
            for other in _holders(case, standing, row)
            for info in cluster.table.pods[other].values()
            if standing.term in info.terms.required_anti
        ]
    return found


def _holders(case: Case, standing: StandingTerm, row: int) -> list[int]:
    """Return the rows in a node's domain on which pods may have the term."""
    label = case.cluster.table.label_column(standing.term.topology_key)
    numbers = label.numbers
    if numbers[row] < 0:
        return []
    if label.is_unique:  # such as the hostname: no other row needs to be looked at
        return [row]
    holders = standing.rows.rows()
    inside: list[int] = holders[numbers[holders] == numbers[row]].tolist()
    return inside


def topology_keys(case: Case) -> list[str]:
    """Return every label that decides which placed pods matter to the pod."""
    pod, cluster = case.pod, case.cluster
    counts, terms = case.kept(HardCounts), affinity_terms(pod)
    space = cluster.namespace_labels(pod.namespace)
    standing = cluster.affinity.matching("required_anti", pod.namespace, space, pod.labels)
    keys = [each.constraint.topology_key for each in (counts.domains if counts else ())]
    keys += [term.topology_key for term in (*terms.required, *terms.required_anti)]
    keys += [each.term.topology_key for each in standing]
    return sorted(set(keys))


def term_text(term: Term) -> str:
    """Return what a term selects, as kubectl writes selectors."""
    if term.selector.matches_nothing:
        return "no pod"
    return ",".join(requirement_text(each) for each in term.selector.requirements) or "any label"


def _query(case: Case, term: Term) -> PodQuery:
    spaces: frozenset[str] | None = term.namespaces
    among = term.namespace_selector
    if among is not None:
        selected = (
            each.name for each in case.cluster.objects(Namespace) if among.matches(each.labels)
        )
        spaces = None if among.is_empty else term.namespaces | frozenset(selected)
    return PodQuery((Clause(spaces, term.selector),))


def _domain(case: Case, key: str, row: int) -> str | None:
    node = case.cluster.table.nodes[row]
    return None if node is None else node.labels.get(key)


def _pods_in(case: Case, query: PodQuery, key: str, domain: str) -> list[PodInfo]:
    """Return the matching pods on the nodes of a domain."""
    table, label = case.cluster.table, case.cluster.table.label_column(key)
    counts = case.cluster.counts(query)[: table.size]
    inside = label.numbers[: table.size] == label.number_of.get(domain, _NOWHERE)
    return [
        info
        for row in np.flatnonzero((counts > 0) & inside).tolist()
        for info in table.pods[row].values()
        if query.matches_pod(info)
    ]

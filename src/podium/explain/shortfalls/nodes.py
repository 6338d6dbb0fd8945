"""What a node itself lacks: taints, labels, free ports, declared features."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from podium.api.objects import NodeSelectorRequirement, NodeSelectorTerm, Pod, Taint
from podium.api.resources import HostPort, host_ports
from podium.api.selectors import NAME_FIELD, Requirement
from podium.api.taints import DO_NOT_SCHEDULE, tolerates
from podium.explain.amounts import holder, listed
from podium.explain.case import Case
from podium.explain.values import Shortfall
from podium.framework.status import Status
from podium.plugins.node_affinity import affinity_of
from podium.plugins.node_declared_features import RequiredFeatures
from podium.plugins.node_ports import any_clash
from podium.plugins.node_unschedulable import CORDONED
from podium.state.pod_info import PodInfo

UNTOLERATED: Final = "the pod does not tolerate its taint"


def cordoned(case: Case, status: Status, row: int) -> list[Shortfall]:
    return [
        Shortfall(
            "NodeUnschedulable",
            status.plugin,
            status.message,
            "it is cordoned",
            {"node": case.node(row).name},
        )
    ]


# --- taints ---------------------------------------------------------------------------------------


def tainted(case: Case, status: Status, row: int) -> list[Shortfall]:
    return [
        Shortfall(
            "UntoleratedTaint",
            status.plugin,
            status.message,
            f"{UNTOLERATED} {taint_text(taint)}",
            {"key": taint.key, "value": taint.value, "effect": taint.effect},
        )
        for taint in untolerated(case, row)
        if taint != CORDONED or not case.node(row).node.spec.unschedulable
    ]


def untolerated(case: Case, row: int) -> list[Taint]:
    """Return the taints that keep the pod off a node; a cordoned node counts as tainted."""
    node = case.node(row).node
    taints = [Taint(each.key, each.value, each.effect) for each in node.spec.taints]
    if node.spec.unschedulable and CORDONED not in taints:
        taints.append(CORDONED)
    return [
        taint
        for taint in taints
        if taint.effect in DO_NOT_SCHEDULE and not is_tolerated(case, taint)
    ]


def is_tolerated(case: Case, taint: Taint) -> bool:
    compares = taint != CORDONED and _compares(case)
    return any(tolerates(each, taint, compares) for each in case.pod.spec.tolerations)


def _compares(case: Case) -> bool:
    """Return whether tolerations with the operators Gt and Lt count in the pod's profile."""
    profile = case.attempt.profile
    filters = () if profile is None else profile.filters
    return any(getattr(each, "compares", False) for each in filters)


def taint_text(taint: Taint) -> str:
    """Return a taint as kubectl writes it."""
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"


# --- node selector and node affinity --------------------------------------------------------------


def mismatched(case: Case, status: Status, row: int) -> list[Shortfall]:
    if "scheduler-enforced" in status.message or "didn't satisfy" in status.message:
        return []
    labels, name = case.node(row).labels, case.node(row).name
    found = [
        _unmet("NodeAffinityMismatch", status, f"{key}={value}", key, labels.get(key))
        for key, value in unmet_pairs(case.pod, labels)
    ]
    terms = affinity_terms(case.pod)
    if terms and not any(not unmet(term, labels, name) for term in terms if asks(term)):
        nearest = min(
            (unmet(term, labels, name) for term in terms if asks(term)), key=len, default=[]
        )
        for requirement in nearest:
            value = name if requirement.key == NAME_FIELD else labels.get(requirement.key)
            text = requirement_text(requirement)
            found.append(_unmet("NodeAffinityMismatch", status, text, requirement.key, value))
    return found


def _unmet(code: str, status: Status, wanted: str, key: str, value: str | None) -> Shortfall:
    has = f"has {key}={value}" if value is not None else f"has no label {key}"
    details = {"requirement": wanted, "key": key, "value": value}
    return Shortfall(
        code, status.plugin, status.message, f"the pod wants {wanted}, and it {has}", details
    )


def unmet_pairs(pod: Pod, labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the pairs of the node selector that these labels do not have."""
    return [
        pair for pair in sorted(pod.spec.node_selector.items()) if labels.get(pair[0]) != pair[1]
    ]


def affinity_terms(pod: Pod) -> tuple[NodeSelectorTerm, ...]:
    required = affinity_of(pod).required
    return () if required is None else required.node_selector_terms


def asks(term: NodeSelectorTerm) -> bool:
    """Return whether a term asks for something: an empty one matches no node."""
    return bool(term.match_expressions or term.match_fields)


def unmet(
    term: NodeSelectorTerm, labels: Mapping[str, str], name: str
) -> list[NodeSelectorRequirement]:
    """Return the requirements of a term that a node does not meet."""
    missing = [each for each in term.match_expressions if not _meets(each, labels.get(each.key))]
    missing += [
        each
        for each in term.match_fields
        if not _meets(each, name if each.key == NAME_FIELD else "")
    ]
    return missing


def _meets(written: NodeSelectorRequirement, value: str | None) -> bool:
    requirement = Requirement(written.key, written.operator, written.values)
    try:
        return requirement.matches_value(value)
    except (ValueError, KeyError, IndexError):  # an operator that does not exist matches nothing
        return False


def requirement_text(requirement: NodeSelectorRequirement | Requirement) -> str:
    """Return a requirement as kubectl writes selectors."""
    key, values = requirement.key, requirement.values
    match requirement.operator:
        case "In" if len(values) == 1:
            return f"{key}={values[0]}"
        case "In":
            return f"{key} in ({', '.join(values)})"
        case "NotIn":
            return f"{key} notin ({', '.join(values)})"
        case "Exists":
            return key
        case "DoesNotExist":
            return f"!{key}"
        case "Gt" | "Lt":
            return f"{key} {'>' if requirement.operator == 'Gt' else '<'} {listed(values)}"
    return f"{key} {requirement.operator} ({', '.join(values)})"


# --- ports and features ---------------------------------------------------------------------------


def taken_ports(case: Case, status: Status, row: int) -> list[Shortfall]:
    found = []
    for port in dict.fromkeys(host_ports(case.pod)):
        holders = list(port_holders(case, port, row))
        if holders:
            address, protocol, number = port
            names = listed(info.key for info in holders)
            found.append(
                Shortfall(
                    "HostPortConflict",
                    status.plugin,
                    status.message,
                    f"{names} uses host port {number}/{protocol}",
                    {"port": number, "protocol": protocol, "address": address},
                    tuple(map(holder, holders)),
                )
            )
    return found


def port_holders(case: Case, port: HostPort, row: int) -> Iterator[PodInfo]:
    """Yield the pods on a node that use a host port that clashes with this one."""
    return (info for info in case.node(row).pods if any_clash((port,), info.ports))


def undeclared(case: Case, status: Status, row: int) -> list[Shortfall]:
    missing = sorted(required_features(case) - set(case.node(row).node.status.declared_features))
    text = f"it does not declare {listed(missing)}"
    return [
        Shortfall("FeatureNotDeclared", status.plugin, status.message, text, {"features": missing})
    ]


def required_features(case: Case) -> frozenset[str]:
    kept = case.kept(RequiredFeatures)
    return frozenset() if kept is None else kept.features


def names_of(infos: Iterable[PodInfo]) -> str:
    return listed(info.key for info in infos)

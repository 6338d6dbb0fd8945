"""The one sentence that says why a pod is pending, and the causes that it names.

A cause is true if the pod would fit on some node without it. Where no filter alone keeps the pod
off a node, the causes are all filters that refuse the nearest node, and all of them must go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from podium.api.affinity_terms import affinity_terms
from podium.api.claims import named_claims
from podium.api.objects import Node, PersistentVolumeClaim, ResourceClaim
from podium.errors import did_you_mean
from podium.explain.amounts import listed, plural, show
from podium.explain.case import Case, Verdicts
from podium.explain.near_misses import nearest, shortfalls_of, texts_of
from podium.explain.reasons import reason_of
from podium.explain.shortfalls.devices import unknown_classes
from podium.explain.shortfalls.nodes import untolerated
from podium.explain.shortfalls.resources import provided_to, requests_of
from podium.explain.shortfalls.topology import term_text
from podium.explain.values import Reason, Shortfall
from podium.state.pod_groups import Clause, PodQuery

_MOST_CAUSES: Final = 3


def causes(case: Case) -> tuple[Reason, ...]:
    """Return why the pod is pending, the cause that concerns most nodes first."""
    attempt = case.attempt
    if not attempt.gate.ok:
        return (reason_of(attempt.gate, "PreEnqueue"),)
    if attempt.error is not None:
        return (reason_of(attempt.error, _point_of(attempt.error.message)),)
    if attempt.node and not attempt.settled.ok:
        return (reason_of(attempt.settled, "Permit" if attempt.settled.is_wait else "Reserve"),)
    if attempt.refusal is not None:
        return (reason_of(attempt.refusal, "PreFilter", len(case.cluster.table.live_rows())),)
    return () if case.verdicts is None else tuple(_of_filters(case, case.verdicts))


def _point_of(message: str) -> str:
    """Return the extension point at which a plugin failed; empty if no plugin was asked."""
    points = {"PreFilter plugin": "PreFilter", "filter plugin": "Filter", "PreScore": "PreScore"}
    found = [point for text, point in points.items() if text in message]
    return found[0] if found else "Score" if "Score" in message else ""


def _of_filters(case: Case, verdicts: Verdicts) -> Iterator[Reason]:
    fewest = int(verdicts.counts.min()) if len(verdicts.rows) else 0
    if fewest == 1:
        alone = {plugin: verdicts.refused_only_by((plugin,)) for plugin in verdicts.refused}
        order = sorted(alone, key=lambda plugin: -int(np.count_nonzero(alone[plugin])))
        for plugin in order:
            if alone[plugin].any():
                yield _main(verdicts, plugin, alone[plugin])
        return
    rows = nearest(case)
    if rows:
        position = int(np.searchsorted(verdicts.rows, rows[0]))
        for plugin, status in verdicts.of(position).items():
            yield reason_of(status, "Filter", int(np.count_nonzero(verdicts.refused[plugin])))


def _main(verdicts: Verdicts, plugin: str, where: np.typing.NDArray[np.bool_]) -> Reason:
    """Return the most frequent reason of a filter, among these nodes."""
    column = verdicts.statuses[plugin]
    sizes = np.bincount(column.index[where], minlength=len(column.values))
    count = int(np.count_nonzero(where))
    return reason_of(column.values[int(sizes.argmax())], "Filter", count)


# --- sentences ------------------------------------------------------------------------------------


def pending(case: Case, found: tuple[Reason, ...]) -> str:
    """Return why no node takes the pod, in one sentence."""
    pod, total = case.pod.key, len(case.cluster.table.live_rows())
    if case.attempt.refusal is not None or case.verdicts is None:
        reason = found[0]
        return f"{pod} is pending: it {reason.text} ({reason.message})."
    nodes = plural(total, "node")
    alone = found if int(case.verdicts.counts.min()) == 1 else ()
    parts = [_part(case, reason, total) for reason in alone[:_MOST_CAUSES]]
    parts += _cordoned(case, case.verdicts, total)
    if not parts:
        row = nearest(case)[0]
        both = "; ".join(_texts(shortfalls_of(case, row)))
        name = case.cluster.table.names[row]
        return f"{pod} fits on none of {nodes}; {name} comes nearest, but {both}."
    more = f" and {len(alone) - _MOST_CAUSES} more reasons" if len(alone) > _MOST_CAUSES else ""
    return f"{pod} fits on none of {nodes}: {'; '.join(parts)}{more}."


def _cordoned(case: Case, verdicts: Verdicts, total: int) -> list[str]:
    """Return a part about nodes that only their cordon keeps the pod off.

    Two filters refuse them: one because of the cordon, one because of the taint that it brings.
    """
    nobody = np.zeros(len(verdicts.rows), np.bool_)
    both = nobody | verdicts.refused.get("NodeUnschedulable", nobody)
    both &= verdicts.refused.get("TaintToleration", nobody)
    both &= verdicts.counts == 2  # no other filter refuses the node
    rows = verdicts.rows[both].tolist()
    names = [case.node(row).name for row in rows if len(untolerated(case, row)) == 1]
    if not names:
        return []
    if len(names) == 1:
        return [f"{names[0]} is cordoned"]
    return [f"{'all' if len(names) == total else len(names)} are cordoned"]


def _texts(shortfalls: list[Shortfall]) -> list[str]:
    texts = texts_of(shortfalls)
    more = len(texts) - _MOST_CAUSES
    return texts if more <= 0 else [*texts[:_MOST_CAUSES], f"and {more} more"]


def _part(case: Case, reason: Reason, total: int) -> str:
    """Return what one filter alone refuses, with what comes nearest."""
    verdicts = case.verdicts
    assert verdicts is not None
    alone = verdicts.rows[verdicts.refused_only_by((reason.plugin,))]
    row = next(each for each in nearest(case) if each in set(alone.tolist()))
    name = case.cluster.table.names[row]
    texts = "; ".join(_texts([s for s in shortfalls_of(case, row) if s.plugin == reason.plugin]))
    if reason.nodes == 1:
        return f"on {name}, {texts}"
    what = f"{'all' if reason.nodes == total else reason.nodes} {_group(case, reason)}"
    if reason.nodes == total and reason.code in _NONE:
        what = f"none {_NONE[reason.code]}"
    return f"{what} (on {name}, {texts})"


# What all nodes do not: "none has ..." reads better than "all have no ...".
_NONE: Final = {
    "NodeAffinityMismatch": "matches its node selector or affinity",
    "ProfileAffinityMismatch": "matches the node affinity of the scheduler's profile",
    "VolumeNodeAffinityConflict": "can reach its volume",
    "NoVolumeToBind": "has a volume for its claim",
    "PodAffinityMismatch": "is near the pods that its affinity requires",
    "DevicesUnavailable": "has free devices for its claims",
    "DeviceResourceNotOffered": "offers a resource that it requests",
    "ClaimAllocatedElsewhere": "can use the devices of its claim",
    "FeatureNotDeclared": "declares a feature that it needs",
    "NamedNodesMissing": "is among the nodes that it names",
}


_GROUPS: Final = {
    "NodeUnschedulable": "are cordoned",
    "UntoleratedTaint": "have a taint that it does not tolerate",
    "NodeAffinityMismatch": "do not match its node selector or affinity",
    "ProfileAffinityMismatch": "do not match the node affinity of the scheduler's profile",
    "HostPortConflict": "have its host port in use",
    "TooManyPods": "have as many pods as they can have",
    "DiskConflict": "have a pod that uses the same disk",
    "ClaimInUse": "cannot take it while another pod uses its claim",
    "TooManyVolumes": "have as many volumes as they can have",
    "DriverNotInstalled": "lack the CSI driver of its volumes",
    "VolumeNodeAffinityConflict": "cannot reach its volume",
    "NoVolumeToBind": "have no volume for its claim",
    "InsufficientStorage": "have too little storage for its claim",
    "VolumeNotFound": "cannot use its claim, whose volume does not exist",
    "VolumeZoneConflict": "are outside the zone of its volume",
    "TopologyLabelMissing": "lack the label of its topology spread constraint",
    "TopologySpreadSkew": "would break its topology spread constraint",
    "ExistingAntiAffinity": "are near pods whose anti-affinity excludes it",
    "PodAntiAffinity": "are near pods that its anti-affinity excludes",
    "PodAffinityMismatch": "are not near the pods that its affinity requires",
    "DevicesUnavailable": "lack free devices for its claims",
    "DeviceResourceNotOffered": "do not offer a resource that it requests",
    "ClaimAllocatedElsewhere": "cannot use the devices of its claim",
    "FeatureNotDeclared": "do not declare a feature that it needs",
    "NamedNodesMissing": "are not among the nodes that it names",
}


def _group(case: Case, reason: Reason) -> str:
    if reason.code == "InsufficientResource":
        names = [each.removeprefix("Insufficient ") for each in reason.message.split(", ")]
        wanted = requests_of(case)
        amounts = [f"{show(name, wanted[name])} {name}" for name in names if name in wanted]
        return f"have less than {listed(amounts)} free"
    return _GROUPS.get(reason.code, f"are refused by {reason.plugin} ({reason.message})")


def suggestions(case: Case) -> tuple[str, ...]:
    """Return hints at misspelled names: labels, resources, claims, classes."""
    return tuple(_suggestions(case))


def _suggestions(case: Case) -> Iterator[str]:
    nodes = [node for node in case.cluster.table.nodes if node is not None]
    if case.pod.spec.node_selector:
        yield from _labels(case, nodes)
    offered = {name for node in nodes for name in node.status.allocatable} | {*provided_to(case)}
    for name in requests_of(case):
        if name not in offered and nodes:
            yield f"no node offers {name}{did_you_mean(name, offered)}"
    yield from _objects(case)
    yield from _namespaces(case)


def _namespaces(case: Case) -> Iterator[str]:
    """Yield hints at partners of required pod affinity that are in namespaces it leaves out."""
    for term in affinity_terms(case.pod).required if case.verdicts is not None else ():
        everywhere = case.cluster.counts(PodQuery((Clause(None, term.selector),)))
        if term.selector.matches_nothing or not everywhere.any():
            continue
        pods = [info.pod for info in case.cluster.pods.values()]
        found = {each.namespace for each in pods if term.selector.matches(each.labels)}
        spaces = case.cluster.namespace_labels
        if not any(term.in_scope(name, spaces(name)) for name in found):
            where = f"namespace{'s' if len(found) > 1 else ''} {listed(sorted(found))}"
            yield f"pods with {term_text(term)} are in {where}, where the affinity does not look"


def _labels(case: Case, nodes: list[Node]) -> Iterator[str]:
    keys = {key for node in nodes for key in node.labels}
    for key, value in case.pod.spec.node_selector.items():
        values = {node.labels[key] for node in nodes if key in node.labels}
        if key not in keys:
            yield f"no node has the label {key}{did_you_mean(key, keys)}"
        elif value not in values:
            yield f"no node has {key}={value}{did_you_mean(value, values)}"


def _objects(case: Case) -> Iterator[str]:
    """Yield hints at claims and classes that do not exist."""
    space = case.pod.namespace
    claims = [each.name for each in case.cluster.objects(PersistentVolumeClaim).in_namespace(space)]
    for named in named_claims(case.pod):
        if not named.is_ephemeral and named.name not in claims:
            yield f"there is no claim {named.name}{did_you_mean(named.name, claims)}"
    wanted = [each.resource_claim_name or "" for each in case.pod.spec.resource_claims]
    known = {each.name: each for each in case.cluster.objects(ResourceClaim).in_namespace(space)}
    for name in filter(None, wanted):
        if name not in known:
            yield f"there is no resource claim {name}{did_you_mean(name, known)}"
    classes = case.core.services.devices.classes
    for name in dict.fromkeys(unknown_classes(case)):
        yield f"there is no device class {name}{did_you_mean(name, classes)}"

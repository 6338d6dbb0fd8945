"""Changes of nodes: uncordon one, label one, or add one like another."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from msgspec.json import encode as encoded
from msgspec.structs import replace

from podium.api import resources
from podium.api.meta import ApiObject
from podium.api.nodes import HOSTNAME, NodeStatus
from podium.api.objects import (
    CSINode,
    Node,
    NodeSelectorRequirement,
    ObjectMeta,
    Pod,
    ResourceSlice,
)
from podium.explain.amounts import listed, show
from podium.explain.case import Case
from podium.explain.edits import AddPod, Edit, SetNode, SetObject
from podium.explain.fixes.candidate import Candidate, creation, patch_node
from podium.explain.fixes.relaxations import rows_by_nearness
from podium.explain.shortfalls.nodes import (
    affinity_terms,
    asks,
    required_features,
    unmet,
    unmet_pairs,
)
from podium.explain.shortfalls.resources import provided_to, requests_of
from podium.explain.shortfalls.volumes import labels_of_volumes
from podium.plugins.node_unschedulable import CORDONED
from podium.simulation.naming import new_names
from podium.state.pod_info import PodInfo
from podium.state.rows import NodeInfo

MOST_TRIED: Final = 32
_MOST_LARGER: Final = 4
_MOST_KINDS: Final = 128
# Kubernetes adds these by itself while a node is in trouble: a new node does not have them.
_TRANSIENT: Final = (
    "node.kubernetes.io/",
    "node.cloudprovider.kubernetes.io/",
    "ToBeDeletedByClusterAutoscaler",
    "DeletionCandidateOfClusterAutoscaler",
)


def uncordoned(case: Case) -> Iterator[Candidate]:
    """Yield the cordoned nodes, nearest first."""
    verdicts = case.verdicts
    if verdicts is None or "NodeUnschedulable" not in verdicts.refused:
        return
    cordoned = verdicts.refused["NodeUnschedulable"]
    rows = set(verdicts.rows[cordoned].tolist())
    tried = [row for row in rows_by_nearness(case) if row in rows][:MOST_TRIED]
    for row in tried:
        node = case.node(row).node
        taints = tuple(each for each in node.spec.taints if each.key != CORDONED.key)
        after = replace(node, spec=replace(node.spec, unschedulable=False, taints=taints))
        text = f"uncordon node {node.name}"
        change = patch_node(node, after, text)
        yield Candidate("uncordon", text, edits=(SetNode(after),), changes=(change,))


# --- labels and features of a node ----------------------------------------------------------------


def labelled(case: Case) -> Iterator[Candidate]:
    """Yield labels that make a node match the pod's node selector and affinity, fewest first."""
    verdicts = case.verdicts
    if verdicts is None:
        return
    found = []
    for row in verdicts.rows[verdicts.refused_only_by(("NodeAffinity",))].tolist():
        labels = _missing_labels(case, row)
        if labels:
            found.append((len(labels), row, labels))
    for _, row, labels in sorted(found, key=lambda each: each[:2])[:MOST_TRIED]:
        node = case.node(row).node
        after = replace(node, metadata=replace(node.metadata, labels={**node.labels, **labels}))
        pairs = listed((f"{key}={value}" for key, value in sorted(labels.items())), most=9)
        text = f"label node {node.name} with {pairs}"
        change = patch_node(node, after, text)
        details = {"labels": labels}
        yield Candidate(
            "node-label", text, edits=(SetNode(after),), changes=(change,), details=details
        )


def _missing_labels(case: Case, row: int) -> Mapping[str, str] | None:
    """Return labels that would make the node match; ``None`` if labels cannot."""
    node = case.node(row)
    pairs = dict(unmet_pairs(case.pod, node.labels))
    terms = [unmet(each, node.labels, node.name) for each in affinity_terms(case.pod) if asks(each)]
    if terms:
        ways = [way for way in map(_labels_for, terms) if way is not None]
        if not ways:
            return None
        fewest: dict[str, str] = min(ways, key=len)
        pairs = {**fewest, **pairs}
    return None if HOSTNAME in pairs else pairs


def _labels_for(missing: list[NodeSelectorRequirement]) -> dict[str, str] | None:
    labels = {}
    for each in missing:
        if each.operator not in ("In", "Exists") or each.key.startswith("metadata."):
            return None
        labels[each.key] = each.values[0] if each.values else ""
    return labels


def declaring(case: Case) -> Iterator[Candidate]:
    """Yield nodes that would do if their kubelet declared the features that the pod needs."""
    verdicts = case.verdicts
    if verdicts is None:
        return
    rows = verdicts.rows[verdicts.refused_only_by(("NodeDeclaredFeatures",))].tolist()
    wanted = required_features(case)
    lacking = [(sorted(wanted - set(_declared(case, row))), row) for row in rows]
    for missing, row in sorted(lacking, key=lambda each: len(each[0]))[:MOST_TRIED]:
        node = case.node(row).node
        declared = tuple(sorted((*_declared(case, row), *missing)))
        status = replace(node.status, declared_features=declared)
        after = replace(node, status=status)
        text = f"upgrade node {node.name} to a kubelet that declares {listed(missing, most=9)}"
        change = patch_node(node, after, text, status=True)
        details = {"features": missing}
        yield Candidate(
            "node-feature", text, edits=(SetNode(after),), changes=(change,), details=details
        )


def _declared(case: Case, row: int) -> tuple[str, ...]:
    return case.node(row).node.status.declared_features


# --- one more node --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Twin:
    """A new node like an existing one, with what comes with it."""

    like: str
    node: Node
    objects: tuple[ApiObject, ...]
    pods: tuple[Pod, ...]  # pods of daemon sets

    @property
    def edits(self) -> tuple[Edit, ...]:
        return (
            SetNode(self.node),
            *(SetObject(each) for each in self.objects),
            *(AddPod(each) for each in self.pods),
        )


def added(case: Case) -> Iterator[Candidate]:
    """Yield one more node like each kind of node that there is, the smallest first.

    The last ones are where the pod's volumes are: no node may be there yet.
    """
    rows = kinds_by_size(case)[:_MOST_KINDS]
    for row in rows:
        yield _new_node(twin_of(case, row), {})
    where = labels_of_volumes(case)
    for row in rows if where else ():
        yield _new_node(_relabelled(twin_of(case, row), where), where)


def _new_node(twin: Twin, where: Mapping[str, str]) -> Candidate:
    place = f" in {listed(f'{key}={value}' for key, value in where.items())}" if where else ""
    text = f"add one node like {twin.like}{place}"
    changes = [creation(twin.node, text)]
    changes += [creation(each, f"its {type(each).__name__}") for each in twin.objects]
    details = {"like": twin.like, "daemonPods": len(twin.pods), "labels": dict(where)}
    return Candidate("new-node", text, edits=twin.edits, changes=tuple(changes), details=details)


def _relabelled(twin: Twin, labels: Mapping[str, str]) -> Twin:
    meta = twin.node.metadata
    node = replace(twin.node, metadata=replace(meta, labels={**meta.labels, **labels}))
    return dataclasses.replace(twin, node=node)


def kinds_by_size(case: Case) -> list[int]:
    """Return a row of each kind of node that there is, the smallest first."""
    firsts: dict[object, int] = {}
    own, published = _labels_of_one_node(case), _published(case)
    live = case.cluster.table.live_rows().tolist()
    for row in live:
        node = case.node(row).node
        daemons = _daemons(case, row) if len(live) <= _MOST_KINDS else ()
        kind = _kind_of_node(node, own), tuple(published.get(node.name, ())), daemons
        firsts.setdefault(kind, row)
    return sorted(firsts.values(), key=lambda row: _size(case, row))


def larger(case: Case) -> Iterator[Candidate]:
    """Yield a node that is as large as the pod needs, where none is: the smallest such node.

    What device classes provide a node cannot simply have more of.
    """
    table = case.cluster.table
    provided = provided_to(case)
    requests = {name: amount for name, amount in requests_of(case).items() if name not in provided}
    rows = table.live_rows().tolist()
    if any(_is_large_enough(case.node(row), requests) for row in rows):
        return
    likes = (rows_by_nearness(case) or rows)[:_MOST_LARGER]
    for twin in [twin_of(case, row) for row in likes] or [Twin("", _blank(case), (), ())]:
        yield _larger(twin, requests)


def _larger(twin: Twin, requests: Mapping[str, int]) -> Candidate:
    node = _enlarged(twin.node, requests, twin.pods)
    amounts = (f"{show(name, amount)} {name}" for name, amount in sorted(requests.items()))
    which = f"a larger node like {twin.like}" if twin.like else "a node"
    text = f"add {which} with {listed(amounts, most=9) or 'room for pods'} free"
    made = Twin(twin.like, node, twin.objects, twin.pods)
    changes = (creation(node, text), *(creation(each, text) for each in twin.objects))
    before, offered = resources.allocatable(twin.node), resources.allocatable(node)
    enlarged = sorted(name for name in requests if offered[name] != before.get(name, 0))
    details = {"like": twin.like, "enlarged": enlarged}
    return Candidate("larger-node", text, edits=made.edits, changes=changes, details=details)


def _is_large_enough(node: NodeInfo, requests: Mapping[str, int]) -> bool:
    return all(node.allocatable(name) >= amount for name, amount in requests.items())


def _enlarged(node: Node, requests: Mapping[str, int], pods: tuple[Pod, ...]) -> Node:
    """Return the node with just enough of each resource for the pod and the daemon pods."""
    offered = dict(node.status.allocatable)
    have = resources.allocatable(node)
    for name, amount in requests.items():
        needed = amount + sum(resources.spec_requests(pod)[0].get(name, 0) for pod in pods)
        if have.get(name, 0) < needed:
            offered[name] = show(name, needed)
    status = replace(node.status, allocatable=offered, capacity={**node.status.capacity, **offered})
    return replace(node, status=status)


def _blank(case: Case) -> Node:
    """Return a node for a cluster that has none: it has the labels that the pod asks for."""
    name, spec = "new-node", case.pod.spec
    keys = {each.topology_key for each in spec.topology_spread_constraints} - {HOSTNAME}
    ways = (_labels_for(list(each.match_expressions)) for each in affinity_terms(case.pod))
    wanted = next((way for way in ways if way is not None), {})
    labels = {HOSTNAME: name, **dict.fromkeys(keys, "new"), **wanted, **spec.node_selector}
    status = NodeStatus(allocatable={"cpu": "100m", "memory": "128Mi", "pods": "110"})
    return Node(metadata=ObjectMeta(name=name, uid=f"uid-{name}", labels=labels), status=status)


def _labels_of_one_node(case: Case) -> frozenset[str]:
    """Return the labels that every node has with a value of its own, such as its name or id."""
    nodes = [node for node in case.cluster.table.nodes if node is not None]
    if len(nodes) <= _MOST_KINDS:
        return frozenset((HOSTNAME,))  # each can be tried: a few nodes may have a zone each
    values: dict[str, set[str]] = {}
    for node in nodes:
        for key, value in node.labels.items():
            values.setdefault(key, set()).add(value)
    unique = [key for key, found in values.items() if len(found) == len(nodes)]
    return frozenset((HOSTNAME, *unique))


def _kind_of_node(node: Node, own: frozenset[str]) -> object:
    labels = tuple(sorted(pair for pair in node.labels.items() if pair[0] not in own))
    taints = tuple(each for each in node.spec.taints if not each.key.startswith(_TRANSIENT))
    features = node.status.declared_features
    return labels, taints, tuple(sorted(map(str, resources.allocatable(node).items()))), features


def _published(case: Case) -> dict[str, list[bytes]]:
    """Return what drivers publish about each node, as far as it matters to pending pods."""
    found: dict[str, list[bytes]] = {}
    specs = [pod.spec for pod in (case.pod, *case.earlier, *case.later)]
    if any(spec.resource_claims for spec in specs):
        for each in case.cluster.objects(ResourceSlice):
            if each.spec.node_name:
                found.setdefault(each.spec.node_name, []).append(encoded(each.spec.devices))
    if any(spec.volumes for spec in specs):
        for csi_node in case.cluster.objects(CSINode):
            limits = [(each.name, each.allocatable) for each in csi_node.spec.drivers]
            found.setdefault(csi_node.name, []).append(encoded(limits))
    return found


def _daemons(case: Case, row: int) -> tuple[str, ...]:
    """Return what the pods of daemon sets take of a node."""
    found = (info for info in case.node(row).pods if _is_daemon(info))
    return tuple(sorted(str(sorted(info.requests.items())) for info in found))


def _size(case: Case, row: int) -> tuple[int, int, str]:
    node = case.node(row)
    return node.allocatable(resources.CPU), node.allocatable(resources.MEMORY), node.name


def twin_of(case: Case, row: int) -> Twin:
    """Return a new node like the one at a row, with the pods of its daemon sets."""
    old = case.node(row).node
    table = case.cluster.table
    name = next(new_names(old.name, lambda name: table.row_of(name) is not None))
    labels = {key: name if value == old.name else value for key, value in old.labels.items()}
    if HOSTNAME in labels:
        labels[HOSTNAME] = name
    meta = ObjectMeta(name=name, uid=f"uid-{name}", labels=labels, annotations=old.annotations)
    taints = tuple(each for each in old.spec.taints if not each.key.startswith(_TRANSIENT))
    spec = replace(old.spec, unschedulable=False, taints=taints, provider_id="")
    status = replace(old.status, volumes_attached=(), volumes_in_use=())
    daemons = [info for info in case.node(row).pods if _is_daemon(info)]
    return Twin(
        old.name,
        Node(metadata=meta, spec=spec, status=status),
        tuple(_objects_of(case, old.name, name)),
        tuple(_moved(info.pod, name) for info in daemons),
    )


def _objects_of(case: Case, old: str, new: str) -> Iterator[ApiObject]:
    """Yield what drivers publish about a node: which volumes it can hold, which devices it has."""
    csi_node = case.cluster.objects(CSINode).get(old)
    if csi_node is not None:
        yield replace(csi_node, metadata=ObjectMeta(name=new, uid=f"uid-csi-{new}"))
    for given in case.cluster.objects(ResourceSlice):
        if given.spec.node_name == old:
            meta = ObjectMeta(name=f"{new}-{given.name}", uid=f"uid-{new}-{given.name}")
            pool = given.spec.pool
            named = replace(pool, name=new if pool.name == old else f"{new}-{pool.name}")
            yield replace(given, metadata=meta, spec=replace(given.spec, node_name=new, pool=named))


def _is_daemon(info: PodInfo) -> bool:
    controller = info.pod.controller
    return controller is not None and controller.kind == "DaemonSet"


def _moved(pod: Pod, node: str) -> Pod:
    meta = replace(pod.metadata, name=f"{pod.name}-{node}", uid=f"{pod.uid}-{node}")
    return replace(pod, metadata=meta, spec=replace(pod.spec, node_name=node))

"""Clusters for the tests of InterPodAffinity, and a slow model of its rules.

The model reads objects one by one and counts in plain dicts; it shares nothing with the plugin
but the matching of labels.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from podium import framework as fwk
from podium.api.objects import (
    LabelSelector,
    Namespace,
    Node,
    ObjectMeta,
    Pod,
    PodAffinityTerm,
    WeightedPodAffinityTerm,
)
from podium.api.selectors import label_selector
from podium.plugins.inter_pod_affinity import InterPodAffinity
from podium.release import LATEST, V1_37, Release
from podium.testing.builders import pairs
from podium.testing.handle import FakeHandle
from tests.support.releases import plugin_of

FAR = "node(s) didn't match pod affinity rules"
CROWDED = "node(s) didn't match pod anti-affinity rules"
OPPOSED = "node(s) didn't satisfy existing pods anti-affinity rules"


def term(labels: str | None = "", key: str = "zone", **rest: Any) -> dict[str, Any]:
    """``term("app=web tier!=front", "zone", namespaces=["a"], namespaceSelector="team=a")``."""
    made: dict[str, Any] = {"topologyKey": key}
    if labels is not None:
        made["labelSelector"] = selector(labels)
    if "namespaceSelector" in rest:
        rest["namespaceSelector"] = selector(rest["namespaceSelector"])
    return {**made, **rest}


def selector(text: str) -> dict[str, Any]:
    """``a=1`` equals, ``a!=1`` differs or is missing, ``a`` exists, ``!a`` does not."""
    return {"matchExpressions": [_expression(word) for word in text.split()]}


def _expression(word: str) -> dict[str, Any]:
    if "=" not in word:
        operator = "DoesNotExist" if word.startswith("!") else "Exists"
        return {"key": word.lstrip("!"), "operator": operator}
    key, _, values = word.partition("=")
    operator = "NotIn" if key.endswith("!") else "In"
    return {"key": key.rstrip("!"), "operator": operator, "values": values.split(",")}


def affinity(
    near: Sequence[Any] = (),
    apart: Sequence[Any] = (),
    likes: Sequence[tuple[int, Any]] = (),
    dislikes: Sequence[tuple[int, Any]] = (),
) -> dict[str, Any]:
    """Required terms, and preferred ones with their weights."""
    return {"podAffinity": _side(near, likes), "podAntiAffinity": _side(apart, dislikes)}


def _side(required: Sequence[Any], preferred: Sequence[tuple[int, Any]]) -> dict[str, Any]:
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": list(required),
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": weight, "podAffinityTerm": wanted} for weight, wanted in preferred
        ],
    }


def namespace(name: str, labels: str = "") -> Namespace:
    return Namespace(metadata=ObjectMeta(name=name, labels=pairs(labels)))


class Subject:
    """The plugin on a cluster of its own."""

    def __init__(self, *objects: Any, release: Release = LATEST, **args: Any) -> None:
        self.handle = FakeHandle(*objects)
        self.cluster = self.handle.state
        built = plugin_of("InterPodAffinity", release, self.handle, **args)
        self.plugin = cast(InterPodAffinity, built)

    def filter(self, pod: Pod) -> dict[str, str] | None:
        """Why each node is refused, "" where it is not; ``None`` when PreFilter skips."""
        state, nodes = fwk.CycleState(), self.cluster.rows()
        if self.plugin.pre_filter(state, pod, nodes) is fwk.skip():
            return None
        statuses = self.plugin.filter_all(state, pod, nodes)
        assert list(statuses) == [self.plugin.filter(state, pod, node) for node in nodes]
        return {n: s.message for n, s in zip(nodes.names, statuses, strict=True)}

    def scores(self, pod: Pod) -> dict[str, int] | None:
        """Scores before they are normalized; ``None`` when PreScore skips."""
        state, nodes = fwk.CycleState(), self.cluster.rows()
        if self.plugin.pre_score(state, pod, nodes) is fwk.skip():
            return None
        scores = self.plugin.score_all(state, pod, nodes)
        assert scores.tolist() == [self.plugin.score(state, pod, node) for node in nodes]
        return dict(zip(nodes.names, scores.tolist(), strict=True))


Counts = Counter[tuple[str, str]]


@dataclass
class Model:
    """The rules, one pod and one node at a time."""

    nodes: Sequence[Node]
    pods: Sequence[Pod]
    namespaces: Sequence[Namespace] = ()
    hard_weight: int = 1
    ignores_others: bool = False
    release: Release = LATEST
    by_name: Mapping[str, Node] = field(init=False)

    def __post_init__(self) -> None:
        self.by_name = {node.name: node for node in self.nodes}

    def filter(self, pod: Pod) -> dict[str, str] | None:
        near, apart = required(pod, "pod_affinity"), required(pod, "pod_anti_affinity")
        affinity, anti, existing = self.maps(pod)
        if not near and not apart and not existing:
            return None
        may_be_first = not affinity and all(self.speaks_of(wanted, pod, pod) for wanted in near)
        reasons = {}
        for node in self.nodes:
            keyed = all(wanted.topology_key in node.labels for wanted in near)
            found = all(affinity[at(wanted, node)] for wanted in near)
            reasons[node.name] = ""
            if not keyed or not (found or may_be_first):
                reasons[node.name] = FAR
            elif any(anti[at(unwanted, node)] for unwanted in apart):
                reasons[node.name] = CROWDED
            elif any(existing[pair] for pair in node.labels.items()):
                reasons[node.name] = OPPOSED
        return reasons

    def maps(self, pod: Pod) -> tuple[Counts, Counts, Counts]:
        """By topology key and value: companions, forbidden pods, pods that forbid this one."""
        near, apart = required(pod, "pod_affinity"), required(pod, "pod_anti_affinity")
        affinity, anti, existing = Counts(), Counts(), Counts()
        for other, node in self.placed():
            if near and all(self.speaks_of(wanted, pod, other) for wanted in near):
                for wanted in near:
                    count(affinity, wanted, node)
            for unwanted in apart:
                if self.speaks_of(unwanted, pod, other):
                    count(anti, unwanted, node)
            for theirs in required(other, "pod_anti_affinity"):
                if self.speaks_of_incoming(theirs, other, pod):
                    count(existing, theirs, node)
        return affinity, anti, existing

    def scores(self, pod: Pod) -> dict[str, int] | None:
        likes, dislikes = preferred(pod, "pod_affinity"), preferred(pod, "pod_anti_affinity")
        if self.ignores_others and not likes and not dislikes:
            return None
        buckets = Counts()
        for other, node in self.placed():
            for sign, own in ((1, likes), (-1, dislikes)):
                for each in own:
                    if self.speaks_of(each.pod_affinity_term, pod, other):
                        count(buckets, each.pod_affinity_term, node, sign * each.weight)
            for theirs, weight in self.opinions(other):
                if self.speaks_of_incoming(theirs, other, pod):
                    count(buckets, theirs, node, weight)
        if not buckets:
            return None
        return {
            node.name: sum(buckets[pair] for pair in node.labels.items()) for node in self.nodes
        }

    def opinions(self, other: Pod) -> Iterable[tuple[PodAffinityTerm, int]]:
        if self.hard_weight:
            for theirs in required(other, "pod_affinity"):
                yield theirs, self.hard_weight
        for sign, side in ((1, "pod_affinity"), (-1, "pod_anti_affinity")):
            for each in preferred(other, side):
                yield each.pod_affinity_term, sign * each.weight

    def placed(self) -> Iterable[tuple[Pod, Node]]:
        for pod in self.pods:
            if pod.node_name in self.by_name:
                yield pod, self.by_name[pod.node_name]

    def speaks_of(self, wanted: PodAffinityTerm, owner: Pod, other: Pod) -> bool:
        """A term of the incoming pod; in 1.36 a selector that only excludes selects all."""
        inside = other.namespace in explicit(wanted, owner)
        if wanted.namespace_selector is not None:
            names = {
                space.name
                for space in self.namespaces
                if selects(wanted.namespace_selector, space.labels)
            }
            overlooks = self.release < V1_37 or label_selector(wanted.namespace_selector).is_empty
            selects_all = overlooks and selects(wanted.namespace_selector, {})
            inside |= other.namespace in names or selects_all
        return inside and selects(wanted.label_selector, other.labels)

    def speaks_of_incoming(self, theirs: PodAffinityTerm, owner: Pod, pod: Pod) -> bool:
        """A term of a placed pod."""
        inside = pod.namespace in explicit(theirs, owner)
        if theirs.namespace_selector is not None:
            known = {space.name: space.labels for space in self.namespaces}
            inside |= selects(theirs.namespace_selector, known.get(pod.namespace, {}))
        return inside and selects(theirs.label_selector, pod.labels)


def count(counts: Counts, wanted: PodAffinityTerm, node: Node, amount: int = 1) -> None:
    if wanted.topology_key in node.labels:
        counts[at(wanted, node)] += amount


def at(wanted: PodAffinityTerm, node: Node) -> tuple[str, str]:
    return wanted.topology_key, node.labels.get(wanted.topology_key, "")


def explicit(wanted: PodAffinityTerm, owner: Pod) -> tuple[str, ...]:
    if not wanted.namespaces and wanted.namespace_selector is None:
        return (owner.namespace,)
    return wanted.namespaces


def selects(wanted: LabelSelector | None, labels: dict[str, str]) -> bool:
    return label_selector(wanted).matches(labels)


def required(pod: Pod, side: str) -> tuple[PodAffinityTerm, ...]:
    held = getattr(pod.spec.affinity, side, None)
    return held.required if held else ()


def preferred(pod: Pod, side: str) -> tuple[WeightedPodAffinityTerm, ...]:
    held = getattr(pod.spec.affinity, side, None)
    return held.preferred if held else ()

"""Random clusters for PodTopologySpread, and a slow model of its rules.

The model goes node by node and pod by pod, so that it is easily seen to be right.
"""

import math
from dataclasses import dataclass

from hypothesis import strategies as st

from podium.api.objects import Node, Pod, TopologySpreadConstraint
from podium.api.selectors import EVERYTHING, RequiredNodeAffinity, Selector, label_selector
from podium.api.taints import find_untolerated
from podium.testing import builders

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
HARD = "DoNotSchedule"
SOFT = "ScheduleAnyway"

some_selectors = st.sampled_from(
    [
        None,
        {},
        *[{"matchLabels": {"app": "web"}}] * 4,
        {"matchLabels": {"app": "web", "version": "v1"}},
        {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]},
        {"matchExpressions": [{"key": "version", "operator": "Exists"}]},
    ]
)
some_policies = st.sampled_from(["", "", "Honor", "Ignore"])


@st.composite
def some_labels(draw):
    wanted = {"app": ("web", "web", "web", "db"), "version": ("v1", "v2")}
    return given({key: draw(st.sampled_from([*values, None])) for key, values in wanted.items()})


@st.composite
def some_nodes(draw):
    """One node to seven; some lack a label, and a blank value is a value."""
    nodes = []
    for index in range(draw(st.integers(1, 7))):
        name = f"n{index}"
        labels = {
            ZONE: draw(st.sampled_from(["a", "a", "b", "b", "c", "", None])),
            "rack": draw(st.sampled_from(["r1", "r1", "r2", "r2", "r3", None])),
            "disk": draw(st.sampled_from(["ssd", "ssd", None])),
            HOSTNAME: draw(st.sampled_from([name, name, name, None])),
        }
        taints = draw(st.sampled_from(["", "", "", "gpu:NoSchedule", "soft:PreferNoSchedule"]))
        nodes.append(builders.node(name, labels=given(labels), taints=taints))
    return nodes


@st.composite
def some_pods(draw, nodes, prefix="p"):
    """Placed pods; some on a node that does not exist, some on their way out."""
    names = [each.name for each in nodes] * 2 + ["gone"]
    return [
        builders.pod(
            f"{prefix}{index}",
            labels=draw(some_labels()),
            namespace=draw(st.sampled_from(["default", "default", "default", "other"])),
            node=draw(st.sampled_from(names)),
            deletion_timestamp=draw(st.sampled_from(["", "", "", "2026-01-01T00:00:00Z"])),
        )
        for index in range(draw(st.integers(0, 14)))
    ]


@st.composite
def some_constraint(draw, action, selectors=some_selectors):
    return {
        "topologyKey": draw(st.sampled_from([ZONE, "rack", HOSTNAME])),
        # No API server lets 0 through for a hard one, but it shows whose minimum is used.
        "maxSkew": draw(st.integers(0 if action == HARD else 1, 3)),
        "whenUnsatisfiable": action,
        "labelSelector": draw(selectors),
        "minDomains": draw(st.sampled_from([None, None, 1, 2, 3])) if action == HARD else None,
        "nodeAffinityPolicy": draw(some_policies),
        "nodeTaintsPolicy": draw(some_policies),
        "matchLabelKeys": draw(st.sampled_from([(), (), (), ("version",), ("absent",)])),
    }


@st.composite
def some_incoming(draw, *actions, selectors=some_selectors):
    """A pod with constraints of these kinds, one to three of each."""
    constraints = []
    for action in actions:
        constraints += draw(st.lists(some_constraint(action, selectors), min_size=1, max_size=3))
    return builders.pod(
        "incoming",
        labels=draw(some_labels()),
        tolerates=draw(st.sampled_from(["", "gpu:"])),
        node_selector=draw(st.sampled_from(["", "", "disk=ssd"])),
        topology_spread_constraints=constraints,
    )


def given(values):
    return {key: value for key, value in values.items() if value is not None}


@dataclass
class Model:
    """A cluster of nodes and placed pods, and one pod to be judged by its own constraints.

    Or by ``defaults``, which count what ``default_selector`` selects and may be the system's.
    """

    nodes: list[Node]
    placed: list[Pod]
    pod: Pod
    defaults: tuple[TopologySpreadConstraint, ...] = ()
    default_selector: Selector = EVERYTHING
    is_system: bool = False

    # --- Filter ----------------------------------------------------------------------------------

    def verdicts(self, changes=()):
        """Node name to "fits", "skewed" or "keyless"; a change is (node, pod, +1 or -1)."""
        hard = self.constraints("DoNotSchedule")
        counts = [self.hard_counts(constraint) for constraint in hard]
        for node, other, amount in changes:
            for constraint, count in zip(hard, counts, strict=True):
                # No look at the pod's end, none at an empty selector: as upstream.
                alike = other.namespace == self.pod.namespace
                if alike and self.has_keys(node, hard) and self.includes(constraint, node):
                    value = node.labels[constraint.topology_key]
                    count[value] += amount * self.selector(constraint).matches(other.labels)
        return {node.name: self.verdict(node, hard, counts) for node in self.nodes}

    def verdict(self, node, hard, counts):
        for constraint, count in zip(hard, counts, strict=True):
            value = node.labels.get(constraint.topology_key)
            if value is None:
                return "keyless"
            least = 1 if constraint.min_domains is None else constraint.min_domains
            minimum = 0 if len(count) < least else min(count.values())
            itself = self.selector(constraint).matches(self.pod.labels)
            if count.get(value, 0) + itself - minimum > constraint.max_skew:
                return "skewed"
        return "fits"

    def hard_counts(self, constraint):
        hard = self.constraints("DoNotSchedule")
        counts = {}
        for node in self.nodes:
            if self.has_keys(node, hard) and self.includes(constraint, node):
                value = node.labels[constraint.topology_key]
                counts[value] = counts.get(value, 0) + self.pods_on(node, constraint)
        return counts

    # --- Score -----------------------------------------------------------------------------------

    def raw_scores(self, feasible):
        soft = self.constraints("ScheduleAnyway")
        ranked = [node for node in feasible if not self.is_ignored(node)]
        weights = [math.log(self.size(constraint, ranked) + 2) for constraint in soft]
        return {node.name: self.raw_score(node, soft, weights) for node in feasible}

    def raw_score(self, node, soft, weights):
        if self.is_ignored(node):
            return 0
        total = 0.0
        for constraint, weight in zip(soft, weights, strict=True):
            if constraint.topology_key in node.labels:
                count = self.soft_count(constraint, node)
                total += count * weight + (constraint.max_skew - 1)
        return math.floor(total + 0.5)

    def size(self, constraint, ranked):
        if constraint.topology_key == HOSTNAME:
            return len(ranked)
        return len({node.labels.get(constraint.topology_key, "") for node in ranked})

    def soft_count(self, constraint, node):
        if constraint.topology_key == HOSTNAME:
            return self.pods_on(node, constraint)
        value = node.labels[constraint.topology_key]
        return sum(
            self.pods_on(other, constraint)
            for other in self.nodes
            if other.labels.get(constraint.topology_key, "") == value
            and not self.is_ignored(other)
            and self.includes(constraint, other)
        )

    def is_ignored(self, node):
        return not self.is_system and not self.has_keys(node, self.constraints("ScheduleAnyway"))

    def normalized(self, raw, feasible):
        ranked = [raw[node.name] for node in feasible if not self.is_ignored(node)]
        highest = max(ranked, default=0)
        scores = {}
        for node in feasible:
            if self.is_ignored(node):
                scores[node.name] = 0
            elif highest == 0:
                scores[node.name] = 100
            else:
                scores[node.name] = 100 * (highest + min(ranked) - raw[node.name]) // highest
        return scores

    # --- both ------------------------------------------------------------------------------------

    def constraints(self, action):
        written = self.pod.spec.topology_spread_constraints or self.defaults
        return [constraint for constraint in written if constraint.when_unsatisfiable == action]

    def selector(self, constraint):
        if not self.pod.spec.topology_spread_constraints:
            return self.default_selector
        selector = label_selector(constraint.label_selector)
        keys = [key for key in constraint.match_label_keys if key in self.pod.labels]
        return selector.and_equals({key: self.pod.labels[key] for key in keys})

    def pods_on(self, node, constraint):
        selector = self.selector(constraint)
        if selector == EVERYTHING:
            return 0
        return sum(
            other.node_name == node.name
            and other.namespace == self.pod.namespace
            and not other.is_terminating
            and selector.matches(other.labels)
            for other in self.placed
        )

    def has_keys(self, node, constraints):
        return all(constraint.topology_key in node.labels for constraint in constraints)

    def includes(self, constraint, node):
        if constraint.node_affinity_policy != "Ignore":
            affinity = RequiredNodeAffinity.of(self.pod)
            if not affinity.matches(node.labels, node.name):
                return False
        if constraint.node_taints_policy == "Honor":
            return find_untolerated(node.spec.taints, self.pod.spec.tolerations) is None
        return True

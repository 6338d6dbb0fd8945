"""Spreading told plainly, node by node and pod by pod: slow, and meant to be seen to be right."""

import math
from dataclasses import dataclass

from podium.api.objects import Node, Pod, TopologySpreadConstraint
from podium.api.selectors import EVERYTHING, RequiredNodeAffinity, Selector, label_selector
from podium.api.taints import find_untolerated

HOSTNAME = "kubernetes.io/hostname"


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

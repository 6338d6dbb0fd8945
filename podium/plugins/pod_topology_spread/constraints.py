"""The constraints that apply to a pod, compiled: its own, else the profile's defaults."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from podium.api.meta import HashedValue
from podium.api.objects import Pod, TopologySpreadConstraint
from podium.api.selectors import Selector, label_selector
from podium.plugins.pod_topology_spread.args import HARD, HOSTNAME, SOFT, SpreadArgs
from podium.state.cluster import ClusterState
from podium.state.pod_groups import Clause, PodQuery
from podium.state.workload_selectors import default_selector


class Constraint(HashedValue, frozen=True, gc=False):
    """One constraint as it applies to one pod, and to every pod equal to it."""

    topology_key: str
    max_skew: int
    min_domains: int
    namespace: str
    selector: Selector
    honors_affinity: bool
    honors_taints: bool
    counts_itself: bool  # whether the pod to be placed would be one of those it counts

    @property
    def is_per_node(self) -> bool:
        """Whether a domain is taken to be one node; only the label's name decides."""
        return self.topology_key == HOSTNAME

    @property
    def query(self) -> PodQuery | None:
        """The pods it counts; ``None`` when there can be none."""
        # A selector that asks for nothing matches every pod, but none is counted, as upstream.
        if self.selector.is_empty or self.selector.matches_nothing:
            return None
        return _query(self.namespace, self.selector)


Constraints = tuple[Constraint, ...]
Written = tuple[TopologySpreadConstraint, ...]


@lru_cache(maxsize=16384)
def _query(namespace: str, selector: Selector) -> PodQuery:
    return PodQuery((Clause(frozenset((namespace,)), selector),), terminating=False)


class Spreading:
    """Finds the constraints of a pod. The last pod's are kept: each cycle asks several times."""

    def __init__(self, args: SpreadArgs, cluster: ClusterState) -> None:
        self._cluster = cluster
        self._is_system = args.is_system
        self._defaults = {action: _acting(args.defaults, action) for action in (HARD, SOFT)}
        self._pod: Pod | None = None
        self._journal_end = -1
        self._found: dict[str, Constraints] = {}

    def hard(self, pod: Pod) -> Constraints:
        return self._constraints(pod, HARD)

    def soft(self, pod: Pod) -> Constraints:
        return self._constraints(pod, SOFT)

    def needs_every_key(self, pod: Pod) -> bool:
        """Whether scoring leaves out nodes without all keys; system defaults take any node."""
        return bool(pod.spec.topology_spread_constraints) or not self._is_system

    def _constraints(self, pod: Pod, action: str) -> Constraints:
        end = self._cluster.journal.end
        if pod is not self._pod or end != self._journal_end:
            self._pod, self._journal_end, self._found = pod, end, {}
        found = self._found.get(action)
        if found is None:
            found = self._found[action] = self._compiled(pod, action)
        return found

    def _compiled(self, pod: Pod, action: str) -> Constraints:
        own = pod.spec.topology_spread_constraints
        if own:
            acting = _acting(own, action)
            return tuple(
                [compiled(written, _own_selector(written, pod), pod) for written in acting]
            )
        defaults = self._defaults[action]
        if not defaults:
            return ()
        selector = default_selector(self._cluster, pod)
        if selector.is_empty:
            return ()
        return tuple([compiled(given, selector, pod) for given in defaults])


def _acting(constraints: Iterable[TopologySpreadConstraint], action: str) -> Written:
    return tuple([written for written in constraints if written.when_unsatisfiable == action])


def compiled(written: TopologySpreadConstraint, selector: Selector, pod: Pod) -> Constraint:
    """The constraint with its defaults filled in, counting the pods of this selector."""
    # Only the hard rule asks; left out elsewhere, it does not tell otherwise equal pods apart.
    asks = written.when_unsatisfiable == HARD
    return Constraint(
        topology_key=written.topology_key,
        max_skew=written.max_skew,
        min_domains=1 if written.min_domains is None else written.min_domains,
        namespace=pod.namespace,
        selector=selector,
        honors_affinity=written.node_affinity_policy in ("", "Honor"),
        honors_taints=written.node_taints_policy == "Honor",
        counts_itself=asks and selector.matches(pod.labels),
    )


def _own_selector(written: TopologySpreadConstraint, pod: Pod) -> Selector:
    """As written, and equal to the pod in those of its ``matchLabelKeys`` that it has now."""
    selector = label_selector(written.label_selector)
    labels = pod.labels
    pairs = [(key, labels[key]) for key in written.match_label_keys if key in labels]
    return _narrowed(selector, tuple(pairs)) if pairs else selector


@lru_cache(maxsize=4096)
def _narrowed(selector: Selector, pairs: tuple[tuple[str, str], ...]) -> Selector:
    return selector.and_equals(dict(pairs))

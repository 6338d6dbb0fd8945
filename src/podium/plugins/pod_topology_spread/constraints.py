"""The constraints that apply to a pod, compiled: its own, else the profile's defaults."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from podium import framework as fwk
from podium.api.meta import HashedValue
from podium.api.nodes import HOSTNAME
from podium.api.objects import Pod, TopologySpreadConstraint
from podium.api.selectors import Selector, label_selector
from podium.framework.workload_selectors import default_selector
from podium.plugins.pod_topology_spread.args import HARD, SOFT, SpreadArgs


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
    def query(self) -> fwk.PodQuery | None:
        """The pods it counts; ``None`` when there can be none."""
        # A selector that asks for nothing matches every pod, but none is counted, as upstream.
        if self.selector.is_empty or self.selector.matches_nothing:
            return None
        return _query(self.namespace, self.selector)


Constraints = tuple[Constraint, ...]
Written = tuple[TopologySpreadConstraint, ...]


@lru_cache(maxsize=16384)
def _query(namespace: str, selector: Selector) -> fwk.PodQuery:
    return fwk.PodQuery((fwk.Clause(frozenset((namespace,)), selector),), terminating=False)


class Spreading:
    """Finds the constraints of a pod. The last pod's are kept: each cycle asks several times."""

    def __init__(self, args: SpreadArgs, cluster: fwk.ClusterView) -> None:
        self._cluster = cluster
        self._is_system = args.is_system
        self._defaults = {action: _acting(args.defaults, action) for action in (HARD, SOFT)}
        self._pod: Pod | None = None
        self._journal_end = -1
        self._hard: Constraints | None = None
        self._soft: Constraints | None = None

    def hard(self, pod: Pod) -> Constraints:
        self._look_at(pod)
        if self._hard is None:
            self._hard = _own(pod, HARD)
        return self._hard

    def soft(self, pod: Pod) -> Constraints:
        self._look_at(pod)
        if self._soft is None:
            self._soft = _own(pod, SOFT)
        return self._soft

    def both(self, pod: Pod) -> tuple[Constraints, Constraints]:
        """The hard ones and the soft ones."""
        hard = self.hard(pod)
        return hard, self.soft(pod) if self._soft is None else self._soft

    def needs_every_key(self, pod: Pod) -> bool:
        """Whether scoring leaves out nodes without all keys; system defaults take any node."""
        return bool(pod.spec.topology_spread_constraints) or not self._is_system

    def _look_at(self, pod: Pod) -> None:
        end = self._cluster.version
        if pod is self._pod and end == self._journal_end:
            return
        self._pod, self._journal_end = pod, end
        self._hard = self._soft = None  # own ones one by one: only those that count may be invalid
        if not pod.spec.topology_spread_constraints:
            self._hard, self._soft = self._default(pod)

    def _default(self, pod: Pod) -> tuple[Constraints, Constraints]:
        hard, soft = self._defaults[HARD], self._defaults[SOFT]
        if not hard and not soft:
            return (), ()
        selector = default_selector(self._cluster, pod)
        if selector.is_empty:
            return (), ()
        return (
            tuple([compiled(given, selector, pod) for given in hard]),
            tuple([compiled(given, selector, pod) for given in soft]),
        )


def _own(pod: Pod, action: str) -> Constraints:
    acting = _acting(pod.spec.topology_spread_constraints, action)
    return tuple([compiled(written, _own_selector(written, pod), pod) for written in acting])


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

"""The compiled constraints of a pod: its own, or else the profile's defaults."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from podium import framework as fwk
from podium.api.meta import HashedValue
from podium.api.nodes import HOSTNAME
from podium.api.objects import Pod, TopologySpreadConstraint
from podium.api.selectors import Selector, label_selector
from podium.framework.workload_selectors import default_selector
from podium.plugins.pod_topology_spread.args import HARD, SOFT, SpreadArgs


class Constraint(HashedValue, frozen=True, gc=False):
    """A compiled constraint. Pods with equal constraints share results."""

    topology_key: str
    max_skew: int
    min_domains: int
    namespace: str
    selector: Selector
    honors_affinity: bool
    honors_taints: bool
    counts_itself: bool  # whether the incoming pod is one of those it counts
    compares_tolerations: bool = False

    @property
    def is_per_node(self) -> bool:
        """Whether each domain is one node, which is assumed for the hostname label."""
        return self.topology_key == HOSTNAME

    @property
    def query(self) -> fwk.PodQuery | None:
        """The query for the pods that it counts; ``None`` if it never counts any."""
        # An empty selector matches every pod, but as in kube-scheduler no pod is counted.
        if self.selector.is_empty or self.selector.matches_nothing:
            return None
        return _query(self.namespace, self.selector)


Constraints = tuple[Constraint, ...]
Written = tuple[TopologySpreadConstraint, ...]


class SpreadRules(NamedTuple):
    """What feature gates decide about constraints.

    ``compares_tolerations``: whether tolerations with the operators Gt and Lt count where taints
    are honoured.
    """

    uses_match_label_keys: bool
    compares_tolerations: bool


@lru_cache(maxsize=16384)
def _query(namespace: str, selector: Selector) -> fwk.PodQuery:
    return fwk.PodQuery((fwk.Clause(frozenset((namespace,)), selector),), terminating=False)


class Spreading:
    """Finds the constraints of a pod.

    The last pod's constraints are kept, as each cycle asks several times. ``_hard`` and ``_soft``
    (``None``: not compiled yet) are those of ``_pod`` in version ``_version`` of the cluster.
    """

    def __init__(self, args: SpreadArgs, cluster: fwk.ClusterView, rules: SpreadRules) -> None:
        self._cluster = cluster
        self._rules = rules
        self._own_selector = (
            _narrowed_selector if rules.uses_match_label_keys else _written_selector
        )
        self._is_system = args.is_system
        self._defaults = {action: _with_action(args.defaults, action) for action in (HARD, SOFT)}
        self._pod: Pod | None = None
        self._version = -1
        self._hard: Constraints | None = None
        self._soft: Constraints | None = None

    def hard(self, pod: Pod) -> Constraints:
        self._select(pod)
        if self._hard is None:
            self._hard = self._own(pod, HARD)
        return self._hard

    def soft(self, pod: Pod) -> Constraints:
        self._select(pod)
        if self._soft is None:
            self._soft = self._own(pod, SOFT)
        return self._soft

    def both(self, pod: Pod) -> tuple[Constraints, Constraints]:
        """Return the hard and the soft constraints."""
        hard = self.hard(pod)
        return hard, self.soft(pod) if self._soft is None else self._soft

    def needs_every_key(self, pod: Pod) -> bool:
        """Return whether scoring ignores nodes without all keys. System defaults do not."""
        return bool(pod.spec.topology_spread_constraints) or not self._is_system

    def _select(self, pod: Pod) -> None:
        version = self._cluster.version
        if pod is self._pod and version == self._version:
            return
        self._pod, self._version = pod, version
        self._hard = self._soft = None  # compiled when needed, as only those in use must be valid
        if not pod.spec.topology_spread_constraints:
            self._hard, self._soft = self._default(pod)

    def _own(self, pod: Pod, action: str) -> Constraints:
        chosen = _with_action(pod.spec.topology_spread_constraints, action)
        selector_of, rules = self._own_selector, self._rules
        return tuple([compiled(each, selector_of(each, pod), pod, rules) for each in chosen])

    def _default(self, pod: Pod) -> tuple[Constraints, Constraints]:
        hard, soft = self._defaults[HARD], self._defaults[SOFT]
        if not hard and not soft:
            return (), ()
        selector = default_selector(self._cluster, pod)
        if selector.is_empty:
            return (), ()
        return (
            tuple([compiled(given, selector, pod, self._rules) for given in hard]),
            tuple([compiled(given, selector, pod, self._rules) for given in soft]),
        )


def _with_action(constraints: Iterable[TopologySpreadConstraint], action: str) -> Written:
    return tuple([written for written in constraints if written.when_unsatisfiable == action])


def compiled(
    written: TopologySpreadConstraint, selector: Selector, pod: Pod, rules: SpreadRules
) -> Constraint:
    """Return the constraint with defaults filled in, for the pods of this selector."""
    # Only hard constraints use it. False for soft ones keeps their signatures equal.
    is_hard = written.when_unsatisfiable == HARD
    return Constraint(
        topology_key=written.topology_key,
        max_skew=written.max_skew,
        min_domains=1 if written.min_domains is None else written.min_domains,
        namespace=pod.namespace,
        selector=selector,
        honors_affinity=written.node_affinity_policy in ("", "Honor"),
        honors_taints=written.node_taints_policy == "Honor",
        counts_itself=is_hard and selector.matches(pod.labels),
        compares_tolerations=rules.compares_tolerations,
    )


def _written_selector(written: TopologySpreadConstraint, pod: Pod) -> Selector:
    return label_selector(written.label_selector)


def _narrowed_selector(written: TopologySpreadConstraint, pod: Pod) -> Selector:
    """Return the selector, narrowed to the pod's values of its ``matchLabelKeys``."""
    selector = label_selector(written.label_selector)
    labels = pod.labels
    pairs = [(key, labels[key]) for key in written.match_label_keys if key in labels]
    return _narrowed(selector, tuple(pairs)) if pairs else selector


@lru_cache(maxsize=4096)
def _narrowed(selector: Selector, pairs: tuple[tuple[str, str], ...]) -> Selector:
    return selector.and_equals(dict(pairs))

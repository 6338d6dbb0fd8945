"""Affinity, topology spreading and tolerations as they are written in a pod.

Node selectors and tolerations contain no maps, so they can be used as cache keys.
"""

from msgspec import field

from podium.api.meta import HashedValue, Int64, LabelSelector, Value

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class NodeSelectorRequirement(HashedValue, frozen=True, gc=False):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class NodeSelectorTerm(HashedValue, frozen=True, gc=False):
    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(HashedValue, frozen=True, gc=False):
    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(HashedValue, frozen=True, gc=False):
    weight: Int64 = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(HashedValue, frozen=True, gc=False):
    """``required`` of None requires nothing; a selector without terms matches no node."""

    required: NodeSelector | None = field(default=None, name=REQUIRED)
    preferred: tuple[PreferredSchedulingTerm, ...] = field(default=(), name=PREFERRED)


class PodAffinityTerm(Value, frozen=True, gc=False):
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    topology_key: str = ""
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Value, frozen=True, gc=False):
    weight: Int64 = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Value, frozen=True, gc=False):
    required: tuple[PodAffinityTerm, ...] = field(default=(), name=REQUIRED)
    preferred: tuple[WeightedPodAffinityTerm, ...] = field(default=(), name=PREFERRED)


class PodAntiAffinity(Value, frozen=True, gc=False):
    required: tuple[PodAffinityTerm, ...] = field(default=(), name=REQUIRED)
    preferred: tuple[WeightedPodAffinityTerm, ...] = field(default=(), name=PREFERRED)


class Affinity(Value, frozen=True, gc=False):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class TopologySpreadConstraint(Value, frozen=True, gc=False):
    """Empty policies mean the defaults: Honor for affinity, Ignore for taints."""

    max_skew: Int64 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: Int64 | None = None
    node_affinity_policy: str = ""
    node_taints_policy: str = ""
    match_label_keys: tuple[str, ...] = ()


class Toleration(HashedValue, frozen=True, gc=False):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class Taint(HashedValue, frozen=True, gc=False):
    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str = ""


Taints = tuple[Taint, ...]
Tolerations = tuple[Toleration, ...]

"""The configuration as the rest of podium uses it: complete, validated and frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from podium.errors import Problem
from podium.framework.args import Args
from podium.framework.points import Point

Plan = Mapping[Point, tuple[str, ...]]

DEFAULT_ORIGIN = "default"


@dataclass(frozen=True, slots=True)
class LeaderElection:
    """Durations are seconds."""

    leader_elect: bool = True
    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0
    resource_lock: str = "leases"
    resource_name: str = "kube-scheduler"
    resource_namespace: str = "kube-system"


@dataclass(frozen=True, slots=True)
class ClientConnection:
    """How to reach the API server; a negative ``qps`` switches rate limiting off."""

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = "application/vnd.kubernetes.protobuf"
    qps: float = 50.0
    burst: int = 100


@dataclass(frozen=True, slots=True)
class TLSConfig:
    """TLS settings of an extender; data take precedence over files."""

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: bytes = b""
    key_data: bytes = b""
    ca_data: bytes = b""


@dataclass(frozen=True, slots=True)
class ManagedResource:
    name: str
    ignored_by_scheduler: bool = False


@dataclass(frozen=True, slots=True)
class Extender:
    """One HTTP extender. An empty verb means that the extender does not implement that call."""

    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: int = 0
    bind_verb: str = ""
    enable_https: bool = False
    tls: TLSConfig | None = None
    http_timeout: float = 5.0
    node_cache_capable: bool = False
    managed_resources: tuple[ManagedResource, ...] = ()
    ignorable: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """One scheduler name and the plugins that run for its pods.

    ``plugins`` holds the names at each extension point in running order. ``absent`` are enabled
    plugins of kube-scheduler that this podium does not have, with the points they would run at;
    ``order_with_absent`` is ``plugins`` including them, for display.
    ``weights`` covers every plugin at the score point, absent ones too, and ``placement_weights``
    those at placementScore. ``origins`` says, name by
    name as ``order_with_absent``, which key of the file lists the plugin, or ``"default"``.
    """

    scheduler_name: str
    percentage_of_nodes_to_score: int | None
    plugins: Plan
    weights: Mapping[str, int]
    args: Mapping[str, Args]
    absent: Mapping[str, frozenset[Point]]
    order_with_absent: Plan
    placement_weights: Mapping[str, int] = field(default_factory=dict)
    origins: Plan = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Configuration:
    """A whole KubeSchedulerConfiguration.

    ``percentage_of_nodes_to_score`` is ``None`` when not given, and then all nodes are considered;
    0 asks for upstream's adaptive rule. ``run_all_filters`` is set when a legacy policy
    asks for the reasons of every filter. ``warnings`` are names that upstream ignores
    silently and that are most likely misspelt, and settings of an older version without effect.
    """

    profiles: tuple[Profile, ...]
    extenders: tuple[Extender, ...] = ()
    leader_election: LeaderElection = LeaderElection()
    client_connection: ClientConnection = ClientConnection()
    parallelism: int = 16
    percentage_of_nodes_to_score: int | None = None
    pod_initial_backoff_seconds: int = 1
    pod_max_backoff_seconds: int = 10
    enable_profiling: bool = True
    enable_contention_profiling: bool = True
    delay_cache_until_active: bool = False
    run_all_filters: bool = False
    warnings: tuple[Problem, ...] = ()

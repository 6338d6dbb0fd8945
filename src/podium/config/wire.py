"""The types of a KubeSchedulerConfiguration v1 file. ``None`` means that a field is not given."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta, field

from podium.durations import Duration

Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


_SECURE = "health and metrics are served over HTTPS on --secure-port; remove it"
_ONLY_V1ALPHA1 = "only v1alpha1 has it at the top"

# What to answer when a file uses a field that only another version has, or has elsewhere.
ADVICE: Mapping[str, str] = MappingProxyType(
    {
        "algorithmSource": f"{_ONLY_V1ALPHA1}; choose plugins in profiles[].plugins",
        "alwaysCheckAllPredicates": "only a Policy has this field",
        "bindTimeoutSeconds": "it is an argument of VolumeBinding now, in pluginConfig",
        "delayCacheUntilActive": "available since v1",
        "disablePreemption": "disable DefaultPreemption instead",
        "extenders": "available since v1alpha2",
        "featureGates": "it is a flag: --feature-gates",
        "hardPodAffinitySymmetricWeight": "it is an argument of InterPodAffinity now: "
        "hardPodAffinityWeight, in pluginConfig",
        "healthzBindAddress": f"removed in v1beta3: {_SECURE}",
        "lockObjectName": "use resourceName",
        "lockObjectNamespace": "use resourceNamespace",
        "metricsBindAddress": f"removed in v1beta3: {_SECURE}",
        "multiPoint": "available since v1beta3; list the plugin at each of its extension points",
        "parallelism": "available since v1beta1",
        "percentageOfNodesToScore": "profiles have it since v1; set it at the top",
        "placementGenerate": "available since v1",
        "placementScore": "available since v1",
        "pluginConfig": f"{_ONLY_V1ALPHA1}; move it into profiles[]",
        "plugins": f"{_ONLY_V1ALPHA1}; move it into profiles[]",
        "podGroupPostFilter": "available since v1",
        "postFilter": "available with its present meaning since v1beta1; "
        "what v1alpha1 calls postFilter is preScore",
        "preEnqueue": "available since v1beta2",
        "preScore": "v1alpha1 calls it postFilter",
        "predicates": "only a Policy (apiVersion: v1, kind: Policy) has this field",
        "priorities": "only a Policy (apiVersion: v1, kind: Policy) has this field",
        "profiles": "available since v1alpha2; v1alpha1 has one profile, written at the top",
        "schedulerName": f"{_ONLY_V1ALPHA1}; move it into profiles[]",
        "unreserve": "it is part of reserve now",
    }
)


class Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """An object in a file.

    ``advice`` says what to do about fields that this type does not have. With ``ignores_case``
    the names of fields are matched without regard to upper and lower case.
    """

    advice: ClassVar[Mapping[str, str]] = ADVICE
    ignores_case: ClassVar[bool] = False


class LeaderElection(Wire, frozen=True):
    leader_elect: bool | None = None
    lease_duration: Duration = 0.0
    renew_deadline: Duration = 0.0
    retry_period: Duration = 0.0
    resource_lock: str = ""
    resource_name: str = ""
    resource_namespace: str = ""


class ClientConnection(Wire, frozen=True):
    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = ""
    qps: float = 0.0
    burst: Int32 = 0


class Plugin(Wire, frozen=True):
    name: str = ""
    weight: Int32 = 0


class PluginSet(Wire, frozen=True):
    enabled: tuple[Plugin, ...] = ()
    disabled: tuple[Plugin, ...] = ()


class Plugins(Wire, frozen=True):
    pre_enqueue: PluginSet = PluginSet()
    queue_sort: PluginSet = PluginSet()
    pre_filter: PluginSet = PluginSet()
    filter: PluginSet = PluginSet()
    post_filter: PluginSet = PluginSet()
    pre_score: PluginSet = PluginSet()
    score: PluginSet = PluginSet()
    reserve: PluginSet = PluginSet()
    permit: PluginSet = PluginSet()
    pre_bind: PluginSet = PluginSet()
    bind: PluginSet = PluginSet()
    post_bind: PluginSet = PluginSet()
    multi_point: PluginSet = PluginSet()
    pod_group_post_filter: PluginSet = PluginSet()
    placement_generate: PluginSet = PluginSet()
    placement_score: PluginSet = PluginSet()


class PluginConfig(Wire, frozen=True):
    name: str = ""
    args: Any = None


class Profile(Wire, frozen=True):
    scheduler_name: str | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: Plugins = Plugins()
    plugin_config: tuple[PluginConfig, ...] = ()


class TLSConfig(Wire, frozen=True):
    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""
    cert_data: bytes = b""
    key_data: bytes = b""
    ca_data: bytes = b""


class ManagedResource(Wire, frozen=True):
    name: str = ""
    ignored_by_scheduler: bool = False


class Extender(Wire, frozen=True):
    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = field(default=False, name="enableHTTPS")
    tls: TLSConfig | None = field(default=None, name="tlsConfig")
    http_timeout: Duration = 0.0
    node_cache_capable: bool = False
    managed_resources: tuple[ManagedResource, ...] = ()
    ignorable: bool = False


class Configuration(Wire, frozen=True):
    api_version: str = ""
    kind: str = ""
    parallelism: Int32 | None = None
    leader_election: LeaderElection = LeaderElection()
    client_connection: ClientConnection = ClientConnection()
    enable_profiling: bool | None = None
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    pod_initial_backoff_seconds: Int64 | None = None
    pod_max_backoff_seconds: Int64 | None = None
    profiles: tuple[Profile, ...] = ()
    extenders: tuple[Extender, ...] = ()
    delay_cache_until_active: bool = False

"""The types of the operations of a workload, with parameters filled in.

Field names, defaults and meanings are those of scheduler_perf.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from podium.durations import Duration

Count = Annotated[int, Meta(ge=0, le=10_000_000)]
Interval = Annotated[int, Meta(ge=1, le=86_400_000)]


class Op(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of all operations; an empty path means the built-in template."""

    opcode: str


class DriverLimit(msgspec.Struct, frozen=True, rename="camel"):
    """The limit of volumes of a CSI driver on a node; without a count there is no limit."""

    count: Count | None = None


class NodeAllocatable(msgspec.Struct, frozen=True, rename="camel"):
    """Set amounts of a node's allocatable resources, and give it a CSINode with these drivers."""

    node_allocatable: dict[str, str] = {}
    csi_node_allocatable: dict[str, DriverLimit] = {}
    migrated_plugins: list[str] = []


class NodeLabel(msgspec.Struct, frozen=True, rename="camel"):
    """Label the nodes with these values in turn."""

    label_key: str
    label_value: str = ""
    label_values: list[str] = []

    @property
    def values(self) -> list[str]:
        return self.label_values or [self.label_value]


class UniqueLabel(msgspec.Struct, frozen=True, rename="camel"):
    """Label each node with a different value."""

    label_key: str


class CreateNodes(Op, frozen=True, kw_only=True):
    count: Count
    node_template_path: str = ""
    node_allocatable_strategy: NodeAllocatable | None = None
    label_node_prepare_strategy: NodeLabel | None = None
    unique_node_label_strategy: UniqueLabel | None = None
    template_params: dict[str, Any] = {}


class CreateNamespaces(Op, frozen=True, kw_only=True):
    """Namespaces ``prefix-0``, ``prefix-1`` and so on."""

    prefix: str
    count: Count
    namespace_template_path: str = ""


class CreatePods(Op, frozen=True, kw_only=True):
    """Pods to be scheduled, by default in ``namespace-N``, N being the operation's index.

    With templates of a volume and a claim, each pod gets one of each, bound to each other. With
    ``steady_state`` each pod is deleted once it has a node and replaced by a new one, for
    ``duration``. With a ``signature_batch_size`` so many pods in a row have the same label
    ``signature``.

    Two fields are additions of podium. With ``bind_in_turn`` the pods are placed on the nodes one
    after the other without scheduling, which fills a large cluster in seconds. With
    ``pin_in_turn`` each pod may run on one node only, like the pods of a DaemonSet.
    """

    count: Count
    count_multiplier: Count = 1
    namespace: str = ""
    pod_template_path: str = ""
    template_params: dict[str, Any] = {}
    persistent_volume_template_path: str = ""
    persistent_volume_claim_template_path: str = ""
    collect_metrics: bool = False
    skip_wait_to_completion: bool = False
    steady_state: bool = False
    duration: Duration = 0.0
    signature_batch_size: Count = 0
    bind_in_turn: bool = False
    pin_in_turn: bool = False


class CreatePodSets(Op, frozen=True, kw_only=True):
    """Creates the same pods in each of the namespaces ``prefix-0`` to ``prefix-(count - 1)``."""

    count: Count
    namespace_prefix: str
    create_pods_op: CreatePods


class CreateMixedPods(Op, frozen=True, kw_only=True):
    """Creates the pods of several operations, one of each in turn; an addition of podium."""

    create_pods_ops: list[CreatePods]
    collect_metrics: bool = False


class CreateAny(Op, frozen=True, kw_only=True):
    template_path: str
    namespace: str = ""
    count: Count = 1
    template_params: dict[str, Any] = {}


class CreatePodGroups(Op, frozen=True, kw_only=True):
    count: Count
    namespace: str
    template_path: str
    template_params: dict[str, Any] = {}


class CreateResourceClaims(Op, frozen=True, kw_only=True):
    count: Count
    namespace: str
    template_path: str


class CreateResourceDriver(Op, frozen=True, kw_only=True):
    """Publishes a slice with so many devices for each node whose name matches a pattern."""

    driver_name: str
    max_claims_per_node: Count
    nodes: str


class AllocResourceClaims(Op, frozen=True, kw_only=True):
    """Allocates the claims of a namespace, or all, without pods; on nodes in random order."""

    namespace: str = ""


class UpdateAny(Op, frozen=True, kw_only=True):
    """Replaces objects by new versions; a template's name says which object it is about."""

    template_path: str
    namespace: str = ""
    count: Count = 1
    update_per_second: Count = 0  # 0 for all at once
    subresources: list[str] = []


class DeletePods(Op, frozen=True, kw_only=True):
    """Deletes the pods of a namespace; ``skip_wait_to_completion`` does it in the background."""

    namespace: str
    label_selector: dict[str, str] = {}
    delete_pods_per_second: Count = 0  # 0 for all at once
    skip_wait_to_completion: bool = False


class Churn(Op, frozen=True, kw_only=True):
    """Creates an object of each template per interval from now on; may also delete them."""

    mode: Literal["create", "recreate"]
    template_paths: list[str]
    number: Count = 0
    interval_milliseconds: Interval = 500
    namespace: str = ""


class Barrier(Op, frozen=True, kw_only=True):
    """Waits until the pods of these namespaces, or all pods, are placed or at least tried."""

    namespaces: list[str] = []
    label_selector: dict[str, str] = {}
    stage_requirement: Literal["Scheduled", "Attempted"] = "Scheduled"


class Sleep(Op, frozen=True, kw_only=True):
    duration: Duration


class StartCollectingMetrics(Op, frozen=True, kw_only=True):
    """Measures, until it is stopped, the pods of these namespaces that get a node."""

    namespaces: list[str]
    label_selector: dict[str, str] = {}
    name: str = ""  # no effect: a workload has one result


class StopCollectingMetrics(Op, frozen=True, kw_only=True):
    """Ends what ``startCollectingMetrics`` began."""


class StartCollectingProfile(Op, frozen=True, kw_only=True):
    """A profile of upstream's own process, which does nothing here."""

    type: str = ""
    file_path: str = ""


class StopCollectingProfile(Op, frozen=True, kw_only=True):
    """Does nothing here either."""

    type: str = ""


OPCODES: Mapping[str, type[Op]] = {
    "createNodes": CreateNodes,
    "createNamespaces": CreateNamespaces,
    "createPods": CreatePods,
    "createPodSets": CreatePodSets,
    "createMixedPods": CreateMixedPods,
    "createAny": CreateAny,
    "createPodGroups": CreatePodGroups,
    "createResourceClaims": CreateResourceClaims,
    "createResourceDriver": CreateResourceDriver,
    "allocResourceClaims": AllocResourceClaims,
    "updateAny": UpdateAny,
    "deletePods": DeletePods,
    "churn": Churn,
    "barrier": Barrier,
    "sleep": Sleep,
    "startCollectingMetrics": StartCollectingMetrics,
    "stopCollectingMetrics": StopCollectingMetrics,
    "startCollectingProfile": StartCollectingProfile,
    "stopCollectingProfile": StopCollectingProfile,
}

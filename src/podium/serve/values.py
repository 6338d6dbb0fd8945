"""Requests and answers of `podium serve`; the OpenAPI description is made of them.

Unknown fields of a request are refused: a mistyped one would otherwise change the question.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from podium.explain import Explanation
from podium.serve.sources import Source

VERSION: Final = "podium.dev/serve/v1"
MOST_REPLICAS: Final = 10_000
MOST_OBJECTS: Final = 1_000
MOST_NAMES: Final = 1_000
# Of one request, in all: manifests times replicas, and the pods of workloads.
MOST_ADDED: Final = 10_000
MOST_NODES: Final = 1_000

Manifest = Annotated[
    dict[str, Any], Meta(description="A Kubernetes object, as in a manifest for kubectl apply.")
]
Name = Annotated[str, Meta(min_length=1, max_length=253)]
Names = Annotated[list[Name], Meta(max_length=MOST_NAMES)]
Replicas = Annotated[int, Meta(ge=1, le=MOST_REPLICAS)]


class _Request(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True
):
    """What a client may ask."""


class ExplainRequest(_Request, frozen=True, kw_only=True):
    """Why would this pod, which need not exist, get its node or none, and what would help?"""

    pod: Manifest
    nodes: Names = []


class FitRequest(_Request, frozen=True, kw_only=True):
    """How many more pods like this one fit, and where? `explain` asks for what would help."""

    pod: Manifest
    replicas: Replicas = 1
    explain: bool = True


class NewNodes(_Request, frozen=True, kw_only=True):
    """Nodes to add: `count` nodes like an existing one."""

    like: Name
    count: Annotated[int, Meta(ge=1, le=MOST_NODES)] = 1


class SimulateRequest(_Request, frozen=True, kw_only=True):
    """What happens if nodes are added, removed or drained, pods are removed, and objects added?

    Changes are made in this order: new nodes, removed nodes and pods, drained nodes, new objects.
    With `replicas`, each pod is added so many times, and each workload has so many pods. A pod
    whose name is taken gets another one. At most 10,000 objects and 1,000 nodes can be added.
    """

    add: Annotated[list[Manifest], Meta(max_length=MOST_OBJECTS)] = []
    replicas: Replicas | None = None
    add_nodes: Annotated[list[NewNodes], Meta(max_length=100)] = []
    remove_nodes: Names = []
    remove_pods: Names = []
    drain: Names = []


class _Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A part of an answer."""


class Summary(_Answer, frozen=True, kw_only=True, tag_field="kind", tag="ClusterSummary"):
    """How large the cluster is, and where it is read from."""

    api_version: Literal["podium.dev/serve/v1"] = VERSION
    source: Source
    release: str
    nodes: int
    pods: int
    pending: int


class Placement(_Answer, frozen=True, kw_only=True):
    """A pod that gets a node."""

    pod: str
    node: str


class Unplaced(_Answer, frozen=True, kw_only=True):
    """A pod that gets none, in the words of the scheduler."""

    pod: str
    message: str
    plugins: tuple[str, ...] = ()


class Victim(_Answer, frozen=True, kw_only=True):
    """A pod that preemption evicts for another one."""

    pod: str
    node: str
    preemptor: str


class NodeCount(_Answer, frozen=True, kw_only=True):
    """How many of the pods fit on a node."""

    node: str
    pods: int


class Limit(_Answer, frozen=True, kw_only=True):
    """A reason why no more pods fit, in the words of the scheduler, and on how many nodes."""

    reason: str
    nodes: int


class FitAnswer(_Answer, frozen=True, kw_only=True, tag_field="kind", tag="FitAnswer"):
    """How many more pods like this one fit without evicting others; `fits`: as many as asked for.

    `limits` are the reasons of all nodes once no more fit, `excluded` those of nodes on which not
    even one fits. If `complete` is false, the search has ended and more may fit. `explanation` is
    there if no pod fits, or if one was asked about.
    """

    api_version: Literal["podium.dev/serve/v1"] = VERSION
    fits: bool
    replicas: int
    count: int
    complete: bool
    nodes: tuple[NodeCount, ...]
    runs_out: str = ""
    limits: tuple[Limit, ...] = ()
    excluded: tuple[Limit, ...] = ()
    explanation: Explanation | None = None


class Move(_Answer, frozen=True, kw_only=True):
    """A pod that leaves its node; `target` is the node of its replacement, "" without one."""

    pod: str
    source: str
    target: str


class Blocked(_Answer, frozen=True, kw_only=True):
    """A pod that stays on a drained node because disruption budgets do not allow to evict it."""

    pod: str
    node: str
    budgets: tuple[str, ...]


class SimulateAnswer(_Answer, frozen=True, kw_only=True, tag_field="kind", tag="SimulateAnswer"):
    """What becomes of pods that are added, pods of drained nodes, and pods that were pending.

    `fits`: every added or drained pod has a node, nothing is evicted for good, blocked or lost.
    `lost` are pods of drained nodes that no controller replaces.
    """

    api_version: Literal["podium.dev/serve/v1"] = VERSION
    fits: bool
    placed: tuple[Placement, ...]
    unplaced: tuple[Unplaced, ...]
    victims: tuple[Victim, ...] = ()
    moves: tuple[Move, ...] = ()
    blocked: tuple[Blocked, ...] = ()
    lost: tuple[str, ...] = ()

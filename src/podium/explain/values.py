"""Explanations as plain frozen values. ``to_dict`` returns them as JSON has them.

The JSON is versioned: within ``podium.dev/explain/v1`` fields are added and never removed or given
another meaning. ``docs/explain-schema.json`` describes it.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

VERSION: Final = "podium.dev/explain/v1"

State = Literal[
    "pending", "gated", "waiting", "nominated", "placeable", "placed", "failed", "ended"
]
"""What becomes of a pod.

``pending``     no node takes it now
``gated``       it is not tried: a PreEnqueue plugin holds it back
``waiting``     it has a node, and a Permit plugin holds it back
``nominated``   preemption makes room for it on a node, and its victims are leaving
``placeable``   it has no node yet, and the next attempt places it
``placed``      it has a node
``failed``      a plugin raised, or an object is invalid: the attempt ends in an error
``ended``       it has succeeded or failed, or it is being deleted without a node
"""


class Part(msgspec.Struct, frozen=True, rename="camel"):
    """A part of an explanation."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: dicts, lists, texts and numbers."""
        return _plain(self)


class Reason(Part, frozen=True):
    """Why a plugin refuses: a stable code, the scheduler's own message, and plain words.

    ``nodes`` is how many nodes it is said of; 0 for a reason that is not about single nodes.
    """

    code: str
    plugin: str
    point: str  # the extension point, such as Filter
    message: str
    text: str
    nodes: int = 0


class Step(Part, frozen=True):
    """One step of the funnel: of ``before`` nodes, ``after`` are left."""

    plugin: str
    code: str  # that of the most frequent reason; empty if no node was refused
    text: str  # what the nodes that are left do: "tolerate its taints"
    before: int
    after: int
    reasons: tuple[Reason, ...] = ()


class Holder(Part, frozen=True):
    """A pod that has what the pending pod would need."""

    pod: str
    amount: str = ""
    priority: int = 0
    owner: str = ""  # its controller, such as DaemonSet/agent


class Shortfall(Part, frozen=True):
    """What exactly is missing on a node, and which pods hold it.

    ``details`` has the figures by name. Which names there are depends on ``code``.
    """

    code: str
    plugin: str
    message: str
    text: str
    details: dict[str, Any] = {}
    holders: tuple[Holder, ...] = ()


class NearMiss(Part, frozen=True):
    """A node that comes close, with everything that keeps the pod off it."""

    node: str
    text: str
    shortfalls: tuple[Shortfall, ...]


class Change(Part, frozen=True):
    """One change that a fix consists of.

    ``patch`` is a JSON patch (RFC 6902) of the named object. Most fields of a pod cannot be patched
    once it is created: delete the pod, and create it again with the patch applied. ``create`` has
    the ``object`` to create. ``status`` says that the status is patched.
    """

    action: Literal["patch", "create", "delete"]
    kind: str
    name: str  # namespace/name, or the name of an object without a namespace
    text: str
    patch: tuple[dict[str, Any], ...] = ()
    object: dict[str, Any] = {}
    status: bool = False


class Fix(Part, frozen=True):
    """Changes after which the pod gets a node; they were tried on the cluster's state.

    ``kind`` is stable. No smaller fix of the same kind helps. ``tied`` is how many nodes are then
    equally good: if there are several, a pod that is created again may go to another of them.
    """

    kind: str
    text: str
    node: str  # where the pod then goes
    changes: tuple[Change, ...]
    details: dict[str, Any] = {}
    victims: tuple[str, ...] = ()  # the pods that are evicted or deleted
    tied: int = 1


class PluginScore(Part, frozen=True):
    """What one plugin contributes to a node's total."""

    plugin: str
    raw: int
    normalized: int
    weight: int
    weighted: int


class NodeScore(Part, frozen=True):
    """A node's total, and where it comes from. ``rank`` counts from 1; equal totals share it."""

    node: str
    total: int
    rank: int
    scores: tuple[PluginScore, ...]


class ScoreTable(Part, frozen=True):
    """The best nodes, the winner first.

    ``tied`` is how many nodes have the highest total; a hash decides among them. ``feasible`` is
    how many nodes were compared. ``decided`` has the plugins that favour the winner over the best
    node with a lower total, with the difference of their weighted scores.
    """

    nodes: tuple[NodeScore, ...]
    feasible: int
    tied: int
    text: str
    decided: dict[str, int] = {}


class PluginVerdict(Part, frozen=True):
    """What one filter says about a node. A skipped filter has nothing to check for this pod."""

    plugin: str
    fits: bool
    skipped: bool = False
    shortfall: Shortfall | None = None


class NodeVerdict(Part, frozen=True):
    """What every filter says about one node, and how the node scores if it fits."""

    node: str
    fits: bool
    text: str
    verdicts: tuple[PluginVerdict, ...] = ()
    score: NodeScore | None = None
    chosen: str = ""  # the node that was chosen instead, where there is one
    behind: int = 0  # by how much its total is lower than that of the chosen node


class Preemption(Part, frozen=True):
    """Whether evicting pods of lower priority would make room, and which ones."""

    helps: bool
    text: str
    message: str = ""  # the scheduler's own
    node: str = ""
    victims: tuple[Holder, ...] = ()
    violations: int = 0  # how many disruption budgets are violated
    code: str = ""


class Wake(Part, frozen=True):
    """An event after which the pod is tried again."""

    event: str  # its name in metrics, such as NodeAdd
    plugins: tuple[str, ...]
    text: str


class WaitsFor(Part, frozen=True):
    """Something that the pod waits for: a gate, a permit, a victim, a claim."""

    what: str
    name: str
    text: str


class Explanation(Part, frozen=True, kw_only=True, tag_field="kind", tag="PodExplanation"):
    """Why a pod is pending, or why it has its node."""

    api_version: Literal["podium.dev/explain/v1"] = VERSION
    pod: str
    state: State
    sentence: str
    node: str = ""  # where it is, or would go
    profile: str = ""
    nodes: int = 0
    feasible: int = 0
    message: str = ""  # the scheduler's own, as in events
    causes: tuple[Reason, ...] = ()
    funnel: tuple[Step, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    fixes: tuple[Fix, ...] = ()
    scores: ScoreTable | None = None
    verdicts: tuple[NodeVerdict, ...] = ()  # of the nodes that were asked about
    preemption: Preemption | None = None
    waits_for: tuple[WaitsFor, ...] = ()
    wakes: tuple[Wake, ...] = ()
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the explanation as plain text."""
        from podium.explain.text import pod_lines  # it imports these values

        return pod_lines(self)


class Room(Part, frozen=True):
    """How much of a resource a node has left."""

    resource: str
    allocatable: str
    requested: str
    free: str
    percent: float  # the requested share of allocatable


class PodOnNode(Part, frozen=True):
    """A pod that runs on a node."""

    pod: str
    priority: int = 0
    owner: str = ""
    requests: dict[str, str] = {}


class PodVerdict(Part, frozen=True):
    """Whether a node would take a pending pod, and what is missing if not."""

    pod: str
    fits: bool
    text: str
    shortfalls: tuple[Shortfall, ...] = ()


class NodeExplanation(Part, frozen=True, kw_only=True, tag_field="kind", tag="NodeExplanation"):
    """What runs on a node, what is free there, and which pending pods it would take."""

    api_version: Literal["podium.dev/explain/v1"] = VERSION
    node: str
    sentence: str
    schedulable: bool = True
    taints: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    room: tuple[Room, ...] = ()
    pods: tuple[PodOnNode, ...] = ()
    nominated: tuple[str, ...] = ()  # pods for which preemption makes room here
    pending: tuple[PodVerdict, ...] = ()
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the explanation as plain text."""
        from podium.explain.text import node_lines  # it imports these values

        return node_lines(self)


def schema() -> dict[str, Any]:
    """Return the JSON schema of explanations."""
    (either,), components = msgspec.json.schema_components(
        [Explanation | NodeExplanation], ref_template="#/$defs/{name}"
    )
    described = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://podium.dev/docs/explain-schema.json",
        "title": f"Explanations of podium, {VERSION}",
        **either,
        "$defs": components,
    }
    return _plain(described)


def _plain(value: object) -> dict[str, Any]:
    """Return lists instead of tuples too: a schema distinguishes them from arrays."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    return plain

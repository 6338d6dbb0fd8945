"""What a running scheduler tells about its decisions, as plain values. ``podium explain`` reads it.

In JSON, names are in camelCase and times are texts. Within ``podium.dev/records/v1`` fields are
added, and never removed or given another meaning.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

VERSION: Final = "podium.dev/records/v1"


class _Value(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A part of an answer."""


class Refusal(_Value, frozen=True, kw_only=True):
    """The number of nodes that a plugin refused for one reason."""

    plugin: str
    reason: str
    nodes: int


class PluginScore(_Value, frozen=True, kw_only=True):
    """A plugin's part of a node's total: ``normalized`` times ``weight``."""

    plugin: str
    raw: int
    normalized: int
    weight: int


class NodeScore(_Value, frozen=True, kw_only=True):
    """A node's total, and where it comes from."""

    node: str
    total: int
    scores: tuple[PluginScore, ...]


class OnNode(_Value, frozen=True, kw_only=True):
    """The verdict of an attempt about one node.

    ``verdict`` is ``chosen``, ``feasible``, ``refused``, ``not considered`` (it fits, but the
    attempt took a nominated node), ``not examined`` (it was not in the sample, or was left out
    before the filters), ``no such node``, or ``not recorded``.
    """

    node: str
    verdict: str
    plugin: str = ""
    reasons: tuple[str, ...] = ()
    score: NodeScore | None = None
    rank: int = 0
    behind: int = 0  # how much lower its total is than that of the chosen node


class Attempt(_Value, frozen=True, kw_only=True):
    """One attempt. ``detailed`` says whether verdicts and scores of single nodes are recorded."""

    attempt: int
    at: str
    profile: str
    nodes: int
    feasible: int
    node: str = ""
    message: str = ""
    tied: int = 0
    refusals: tuple[Refusal, ...] = ()
    best: tuple[NodeScore, ...] = ()
    nominated_node: str = ""
    victims: tuple[str, ...] = ()
    seconds: float = 0.0
    detailed: bool = False
    on_node: OnNode | None = None


class Waking(_Value, frozen=True, kw_only=True):
    """Events after which a plugin is asked whether the pod may fit now."""

    plugin: str
    events: tuple[str, ...]


class QueuedPodState(_Value, frozen=True, kw_only=True):
    """A pod that waits: ``active``, ``backoff``, ``unschedulable``, ``gated`` or ``incomplete``.

    An ``incomplete`` pod names a PodGroup that does not exist. ``group`` is that of any member.
    """

    pod: str
    queue: str
    since: str
    attempts: int
    profile: str
    priority: int = 0
    first_queued: str = ""
    backoff_until: str = ""
    retried_at: str = ""  # when it is tried even without an event
    gated_by: str = ""
    rejected_by: tuple[str, ...] = ()
    pending_plugins: tuple[str, ...] = ()
    woken_by: tuple[Waking, ...] = ()
    group: str = ""


class WaitingPodState(_Value, frozen=True, kw_only=True):
    """A pod that has a node and waits until Permit plugins allow it."""

    pod: str
    node: str
    plugins: tuple[str, ...]


class PodRecords(_Value, frozen=True, kw_only=True, tag_field="kind", tag="PodRecords"):
    """The scheduler's records of one pod.

    ``state`` is that of the queue, or ``waiting`` (for Permit), ``binding``, ``placed``,
    ``in flight`` (being tried), ``ended``, ``not ours`` (it names another scheduler) or ``gone``.
    """

    api_version: Literal["podium.dev/records/v1"] = VERSION
    pod: str
    uid: str = ""
    state: str
    node: str = ""
    nominated_node: str = ""
    queued: QueuedPodState | None = None
    waiting: WaitingPodState | None = None
    attempts: tuple[Attempt, ...] = ()
    notes: tuple[str, ...] = ()


class GroupMember(_Value, frozen=True, kw_only=True):
    """A pod of a group; ``state`` is one of those in ``PodRecords``."""

    pod: str
    state: str
    node: str = ""


class GroupState(_Value, frozen=True, kw_only=True):
    """A group of pods, some of which wait; ``members`` has the first of ``size``.

    ``kind`` is ``PodGroup.scheduling.k8s.io``, whose members are queued as one and share
    ``queued``, or ``PodGroup.scheduling.x-k8s.io`` of Coscheduling, whose members wait one by one.
    ``wanted`` is how many must be placed at once, 0 if there is no such PodGroup.
    """

    group: str
    kind: str
    wanted: int
    size: int
    placed: int  # how many have a node; those that wait for Permit do not count
    members: tuple[GroupMember, ...]
    message: str = ""
    queued: QueuedPodState | None = None


class QueueRecords(_Value, frozen=True, kw_only=True, tag_field="kind", tag="QueueRecords"):
    """The queue: how many pods wait where, and the first ones of each sub-queue."""

    api_version: Literal["podium.dev/records/v1"] = VERSION
    active: int
    backoff: int
    unschedulable: int
    gated: int
    incomplete: int = 0  # name a PodGroup that does not exist
    in_flight: int
    waiting: tuple[WaitingPodState, ...] = ()
    pods: tuple[QueuedPodState, ...] = ()
    groups: tuple[GroupState, ...] = ()
    limit: int = 0  # at most this many pods of each sub-queue, and groups, are listed


class NodeRefusal(_Value, frozen=True, kw_only=True):
    """The number of remembered attempts in which a node was refused for one reason."""

    plugin: str
    reason: str
    attempts: int


class NodeRecords(_Value, frozen=True, kw_only=True, tag_field="kind", tag="NodeRecords"):
    """The remembered attempts that were about one node; ``detailed`` of them know every node."""

    api_version: Literal["podium.dev/records/v1"] = VERSION
    node: str
    placed: tuple[str, ...] = ()  # the pods that were placed here, the latest first
    nominated: tuple[str, ...] = ()
    refusals: tuple[NodeRefusal, ...] = ()
    attempts: int = 0
    detailed: int = 0


class Identity(_Value, frozen=True, kw_only=True, tag_field="kind", tag="Scheduler"):
    """The scheduler that answers, its cluster, and how far back it remembers."""

    api_version: Literal["podium.dev/records/v1"] = VERSION
    server: str  # the address of the API server that it schedules for
    profiles: tuple[str, ...]
    release: str
    records: int
    oldest: str = ""


class RunningConfiguration(
    _Value, frozen=True, kw_only=True, tag_field="kind", tag="RunningConfiguration"
):
    """The profiles that decide now, as a KubeSchedulerConfiguration that names every plugin.

    ``extenders`` are the addresses of extenders, which are asked as well.
    """

    api_version: Literal["podium.dev/records/v1"] = VERSION
    content: dict[str, Any]
    extenders: tuple[str, ...] = ()


class Failure(_Value, frozen=True, kw_only=True):
    """Why there is no answer, and what to do."""

    error: str
    hint: str = ""

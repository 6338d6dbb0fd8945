"""What the dashboard shows, as plain values. In JSON, names are in camelCase, times are texts."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

VERSION: Final = "podium.dev/dashboard/v1"


class _Value(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A part of what is shown."""


class Lanes(_Value, frozen=True, kw_only=True):
    """How many pods are where: in the sub-queues, being tried, or held back by Permit.

    ``incomplete`` ones name a PodGroup that does not exist.
    """

    active: int = 0
    backoff: int = 0
    unschedulable: int = 0
    gated: int = 0
    incomplete: int = 0
    in_flight: int = 0
    waiting: int = 0

    @property
    def pending(self) -> int:
        """Return how many pods wait in the queue."""
        return self.active + self.backoff + self.unschedulable + self.gated + self.incomplete


class TimeToBind(_Value, frozen=True, kw_only=True):
    """How long pods waited from the queue to their node, in seconds, over the last ``window``.

    ``pods`` is how many were bound meanwhile; without any, the times are 0.
    """

    pods: int = 0
    window: float = 0.0
    p50: float = 0.0
    p90: float = 0.0
    p99: float = 0.0


class ReasonCount(_Value, frozen=True, kw_only=True):
    """How many pods wait for one reason: a code of ``podium explain``, and what it means."""

    code: str
    plugin: str
    text: str
    pods: int


class Decision(_Value, frozen=True, kw_only=True):
    """One attempt in short; ``node`` is empty if the pod got none."""

    pod: str
    at: str
    attempt: int
    node: str = ""
    message: str = ""
    nominated_node: str = ""
    seconds: float = 0.0


class Health(_Value, frozen=True, kw_only=True):
    """Whether what is shown can be trusted.

    ``trouble`` says why the watched objects may be out of date. ``lag`` is how many seconds the
    scheduler's thread took to answer.
    """

    leading: bool = True
    synced: bool = True
    trouble: str = ""
    lag: float = 0.0


class Overview(_Value, frozen=True, kw_only=True, tag_field="kind", tag="Overview"):
    """The scheduler at a glance. Rates are per second, over the last few seconds."""

    api_version: Literal["podium.dev/dashboard/v1"] = VERSION
    at: str
    server: str
    release: str
    profiles: tuple[str, ...]
    nodes: int
    pods: int  # how many pods have a node
    lanes: Lanes
    pending: int
    bound_per_second: float = 0.0
    attempts_per_second: float = 0.0
    bound: int = 0  # since the scheduler started
    time_to_bind: TimeToBind = TimeToBind()
    reasons: tuple[ReasonCount, ...] = ()
    decisions: tuple[Decision, ...] = ()  # the latest first
    health: Health = Health()
    map_version: int = 0


class NodeMap(_Value, frozen=True, kw_only=True, tag_field="kind", tag="NodeMap"):
    """Every node, as columns: the i-th value of each column belongs to the i-th name.

    ``columns`` has the requested share of each measure in thousandths, -1 where a node does not
    offer it. ``flags`` adds 1 for a cordoned node and 2 for one with taints that keep pods off.
    """

    api_version: Literal["podium.dev/dashboard/v1"] = VERSION
    version: int
    names: tuple[str, ...]
    zones: tuple[str, ...]
    columns: dict[str, list[int]]
    pods: list[int]
    flags: list[int]


class MapChange(_Value, frozen=True, kw_only=True):
    """New values of the nodes that changed, by their place in a ``NodeMap`` of this version."""

    version: int
    nodes: list[int]
    columns: dict[str, list[int]]
    pods: list[int]
    flags: list[int]


class LabelColumn(_Value, frozen=True, kw_only=True, tag_field="kind", tag="LabelColumn"):
    """The value of one label for every node of the map; empty where a node lacks it."""

    version: int
    key: str
    values: tuple[str, ...]
    keys: tuple[str, ...]  # all labels by which nodes could be grouped


class PendingPod(_Value, frozen=True, kw_only=True):
    """A pod that waits."""

    pod: str
    queue: str
    since: str
    attempts: int
    priority: int = 0


class PendingGroup(_Value, frozen=True, kw_only=True):
    """Pods that wait for the same reason; ``pods`` has the first of ``count``.

    ``about`` says whether ``text`` completes "the node ..." or "the pod ...". ``also`` are the
    codes of further reasons, which they meet on other nodes.
    """

    code: str
    plugin: str
    text: str
    about: Literal["node", "pod"] = "node"
    count: int
    oldest: str
    message: str = ""
    also: tuple[str, ...] = ()
    pods: tuple[PendingPod, ...] = ()


class PendingBoard(_Value, frozen=True, kw_only=True, tag_field="kind", tag="PendingBoard"):
    """All pending pods by reason, the most frequent one first."""

    api_version: Literal["podium.dev/dashboard/v1"] = VERSION
    total: int
    groups: tuple[PendingGroup, ...]


class Found(_Value, frozen=True, kw_only=True):
    """Names that contain a text: at most a few of each kind."""

    pods: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()


class Failure(_Value, frozen=True, kw_only=True):
    """Why there is no answer, and what to do about it."""

    error: str
    hint: str = ""

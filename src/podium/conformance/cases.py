"""Recorded cases as typed values: one class per kind of case, distinguished by its keys.

API objects stay JSON until their case is replayed, so that reading thousands of cases is fast.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import Raw, field

Cluster = dict[str, tuple[Raw, ...]]
"""The objects of a cluster by plural kind, such as ``nodes`` or ``pvcs``."""

ABSENT = Raw()  # an optional object that is missing; it is false


class Recorded(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Base of everything in a file of cases. Unknown keys, which nothing compares, are errors."""


class Verdict(Recorded, frozen=True):
    """The answer of an extension point, for the pod or for one node."""

    code: str
    plugin: str = ""
    reasons: tuple[str, ...] = ()


class PreFilterVerdict(Verdict, frozen=True):
    node_names: tuple[str, ...] | None = None


class Candidate(Recorded, frozen=True):
    """A node where evicting pods helps; victims from most to least important."""

    victims: tuple[str, ...]
    pdb_violations: int


class Preemption(Recorded, frozen=True):
    """What PostFilter did; ``tied_nodes`` are the possible nodes if several are equally good."""

    code: str
    message: str = ""
    candidates: dict[str, Candidate] = {}
    nominated_node: str = ""
    victims: tuple[str, ...] = ()
    tied_nodes: tuple[str, ...] = ()


class AttemptResult(Recorded, frozen=True):
    """The result of one attempt; a field is ``None`` if the attempt did not get that far.

    The last four are about resource claims: what they get on each node, which claims are given
    back, and what devices serve of extended resources.
    """

    feasible: tuple[str, ...]
    pre_enqueue: Verdict | None = None
    pre_filter: PreFilterVerdict | None = None
    filter: dict[str, Verdict] | None = None
    scores: dict[str, dict[str, int]] | None = None
    total: dict[str, int] | None = None
    best: tuple[str, ...] | None = None
    error: str | None = None
    fit_error: str | None = None
    fit_error_base: str | None = None
    preemption: Preemption | None = None
    allocations: Raw = ABSENT
    deallocated: Raw = ABSENT
    deleted_claims: Raw = ABSENT
    extended_resources: Raw = ABSENT


class StepResult(Recorded, frozen=True):
    """The result of one attempt in a sequence, which continues with ``chosen``."""

    feasible: tuple[str, ...]
    total: dict[str, int] | None = None
    best: tuple[str, ...] | None = None
    chosen: str | None = None
    error: str | None = None
    fit_error: str | None = None


class Step(Recorded, frozen=True):
    """One step of a sequence; only a ``schedule`` step has an expected result."""

    op: str
    pod: Raw = ABSENT
    node: Raw = ABSENT
    service: Raw = ABSENT
    namespace: Raw = ABSENT
    expect: StepResult | None = None

    def __post_init__(self) -> None:
        if (self.op == "schedule") != (self.expect is not None):
            raise ValueError("`schedule` steps have `expect`, and no others")


class Event(Recorded, frozen=True):
    resource: str
    action: str


class RegisteredEvent(Recorded, frozen=True):
    """``hint``: whether there is a hint function; ``implicit``: the scheduler added the event."""

    resource: str
    actions: tuple[str, ...]
    hint: bool
    implicit: bool = False


class Case(Recorded, frozen=True):
    """Base of all kinds of cases. ``source`` is the file and line, set by the reader."""

    name: str = ""
    tags: tuple[str, ...] = ()
    source: str = field(default="", name="(source)")

    @property
    def family(self) -> str:
        return self.name.partition("/")[0]


class AttemptCase(Case, frozen=True, kw_only=True):
    """One pod against one fixed cluster."""

    cluster: Cluster
    pod: Raw
    expect: AttemptResult
    config: dict[str, Any] | None = None


class AmbiguousCase(Case, frozen=True, kw_only=True):
    """One pod against one fixed cluster, with several outcomes that are all right."""

    cluster: Cluster
    pod: Raw
    expect_any_of: tuple[AttemptResult, ...]
    config: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if not self.expect_any_of:
            raise ValueError("`expectAnyOf` lists no outcome")

    def alternatives(self) -> list[AttemptCase]:
        """Return a case for each outcome that is right."""
        return [
            AttemptCase(
                name=self.name,
                source=self.source,
                cluster=self.cluster,
                pod=self.pod,
                expect=expect,
                config=self.config,
            )
            for expect in self.expect_any_of
        ]


class SequenceCase(Case, frozen=True, kw_only=True):
    """Many attempts in a row on a changing cluster."""

    cluster: Cluster
    steps: tuple[Step, ...]
    config: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if all(step.expect is None for step in self.steps):
            raise ValueError("a sequence without a `schedule` step compares nothing")


class HintCase(Case, frozen=True, kw_only=True):
    """One plugin's hint about one event, for one pending pod."""

    plugin: str
    event: Event
    pod: Raw
    expect: str
    old: Raw = ABSENT
    new: Raw = ABSENT
    cluster: Cluster = {}
    config: dict[str, Any] | None = None


class UpdateCase(Case, frozen=True, kw_only=True):
    """The events that an update of a node or a pod results in."""

    kind: str
    old: Raw
    new: Raw
    expect: tuple[str, ...]
    resource: str = ""


class RegistrationCase(Case, frozen=True, kw_only=True):
    """The events that one plugin of the default profile registers."""

    plugin: str
    events: tuple[RegisteredEvent, ...]


AnyCase = AttemptCase | AmbiguousCase | SequenceCase | HintCase | UpdateCase | RegistrationCase

_KINDS: tuple[tuple[frozenset[str], type[AnyCase]], ...] = (
    (frozenset({"name", "cluster", "steps"}), SequenceCase),
    (frozenset({"name", "plugin", "event", "pod", "expect"}), HintCase),
    (frozenset({"name", "kind", "old", "new", "expect"}), UpdateCase),
    (frozenset({"name", "cluster", "pod", "expect"}), AttemptCase),
    (frozenset({"name", "cluster", "pod", "expectAnyOf"}), AmbiguousCase),
)


def kind_of(keys: Collection[str]) -> type[AnyCase] | None:
    """Return the kind of case that a line with these keys is, if any."""
    return next((kind for needed, kind in _KINDS if needed.issubset(keys)), None)

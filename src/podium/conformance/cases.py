"""Recorded cases as typed values: one class per kind of case, told apart by their keys.

API objects stay JSON until a case is replayed: thousands of cases are read, few are wrong.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
from msgspec import Raw, field

Cluster = dict[str, tuple[Raw, ...]]
"""The objects that exist, by kind in the plural, such as ``nodes`` or ``pvcs``."""

ABSENT = Raw()  # where an object may be missing; it is false


class Recorded(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Base of everything in a file of cases: a key that we do not compare is an error."""


class Verdict(Recorded, frozen=True):
    """What an extension point answered, for the pod or for one node."""

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
    """What PostFilter did; ``tied_nodes`` stands for the node when several were equally good."""

    code: str
    message: str = ""
    candidates: dict[str, Candidate] = {}
    nominated_node: str = ""
    victims: tuple[str, ...] = ()
    tied_nodes: tuple[str, ...] = ()


class AttemptResult(Recorded, frozen=True):
    """What one attempt came to; a field is ``None`` where the attempt did not get that far."""

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


class StepResult(Recorded, frozen=True):
    """What one attempt of a sequence came to; the sequence goes on with ``chosen``."""

    feasible: tuple[str, ...]
    total: dict[str, int] | None = None
    best: tuple[str, ...] | None = None
    chosen: str | None = None
    error: str | None = None
    fit_error: str | None = None


class Step(Recorded, frozen=True):
    """One thing that happens in a sequence; only a ``schedule`` step expects something."""

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
    """``hint`` tells whether there is a function; ``implicit`` that the scheduler added it."""

    resource: str
    actions: tuple[str, ...]
    hint: bool
    implicit: bool = False


class Case(Recorded, frozen=True):
    """What all kinds share. ``source`` is the file and line, filled in by the reader."""

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
    """The events that an update of a node or a pod stands for."""

    kind: str
    old: Raw
    new: Raw
    expect: tuple[str, ...]
    resource: str = ""


class RegistrationCase(Case, frozen=True, kw_only=True):
    """The events that one plugin of the default profile registers."""

    plugin: str
    events: tuple[RegisteredEvent, ...]


AnyCase = AttemptCase | SequenceCase | HintCase | UpdateCase | RegistrationCase

_KINDS: tuple[tuple[frozenset[str], type[AnyCase]], ...] = (
    (frozenset({"name", "cluster", "steps"}), SequenceCase),
    (frozenset({"name", "plugin", "event", "pod", "expect"}), HintCase),
    (frozenset({"name", "kind", "old", "new", "expect"}), UpdateCase),
    (frozenset({"name", "cluster", "pod", "expect"}), AttemptCase),
)


def kind_of(keys: Collection[str]) -> type[AnyCase] | None:
    """The kind of case that a line with these keys holds."""
    return next((kind for needed, kind in _KINDS if needed.issubset(keys)), None)

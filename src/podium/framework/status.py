"""What a plugin returns: a code, reasons for people, and the name of the plugin."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Final


class Code(Enum):
    """The seven codes, valued with the names users see."""

    SUCCESS = "Success"
    ERROR = "Error"
    UNSCHEDULABLE = "Unschedulable"
    UNSCHEDULABLE_AND_UNRESOLVABLE = "UnschedulableAndUnresolvable"
    WAIT = "Wait"
    SKIP = "Skip"
    PENDING = "Pending"


# Looking up a member of an enumeration takes as long as a dozen additions.
_SUCCESS = Code.SUCCESS
_SKIP = Code.SKIP
_WAIT = Code.WAIT
_REJECTIONS = frozenset((Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, Code.PENDING))


@dataclass(frozen=True, slots=True)
class Status:
    """One answer. ``cause`` is the fault behind ``Code.ERROR``; its text is the first reason."""

    code: Code
    details: tuple[str, ...] = ()
    plugin: str = ""
    cause: BaseException | None = None

    @classmethod
    def unschedulable(cls, *reasons: str) -> Status:
        """Reject; evicting pods may help."""
        return cls(Code.UNSCHEDULABLE, reasons)

    @classmethod
    def unresolvable(cls, *reasons: str) -> Status:
        """Reject; evicting pods from this node cannot help."""
        return cls(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, reasons)

    @classmethod
    def pending(cls, *reasons: str) -> Status:
        """Reject; when this plugin's event comes, the pod is retried without backoff."""
        return cls(Code.PENDING, reasons)

    @classmethod
    def error(cls, cause: BaseException | str) -> Status:
        """Report a fault; the pod is retried after the error backoff."""
        if isinstance(cause, str):
            return cls(Code.ERROR, (cause,))
        return cls(Code.ERROR, (), cause=cause)

    @property
    def ok(self) -> bool:
        return self.code is _SUCCESS

    @property
    def is_skip(self) -> bool:
        return self.code is _SKIP

    @property
    def is_wait(self) -> bool:
        return self.code is _WAIT

    @property
    def is_rejection(self) -> bool:
        """Whether the pod was judged and refused, as opposed to a fault."""
        return self.code in _REJECTIONS

    @property
    def reasons(self) -> tuple[str, ...]:
        if self.cause is None:
            return self.details
        return (text_of(self.cause), *self.details)

    @property
    def parts(self) -> tuple[Status, ...]:
        """Return the status of each plugin, where several refused a node."""
        return (self,)

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)

    def by(self, plugin: str) -> Status:
        """Return the same status in the name of ``plugin``."""
        return Status(self.code, self.details, plugin, self.cause)

    def __hash__(self) -> int:
        return hash((self.details, self.plugin))

    def __str__(self) -> str:
        return f"{self.code.value}: {self.message}" if self.reasons else self.code.value


@dataclass(frozen=True, slots=True)
class Joined(Status):
    """The statuses of several plugins for one node, in the name of the strongest."""

    said: tuple[Status, ...] = ()

    @property
    def parts(self) -> tuple[Status, ...]:
        return self.said


SUCCESS = Status(Code.SUCCESS)
_SKIPPED = Status(Code.SKIP)


def text_of(fault: BaseException) -> str:
    """Return the text of an exception, or its type: even ``str`` of a custom one may fail."""
    try:
        return str(fault) or type(fault).__name__
    except Exception:
        return type(fault).__name__


def as_status(answer: object) -> Status:
    """Check what a plugin returned: ``None`` is success, anything else must be a Status."""
    if answer is None:
        return SUCCESS
    if not isinstance(answer, Status):
        raise TypeError(f"expected a Status or None, got {answer!r}")
    if type(answer.code) is not Code:
        raise TypeError(f"expected a Status whose code is a fwk.Code, got the code {answer.code!r}")
    return answer


def skip() -> Status:
    """Leave this plugin out for the rest of the cycle."""
    return _SKIPPED


@dataclass(frozen=True, slots=True)
class Wait:
    """Permit's answer to hold a pod back, for at most ``seconds`` unless it is allowed before."""

    seconds: float
    reason: str = ""


def wait(seconds: float, reason: str = "") -> Wait:
    return Wait(seconds, reason)


@dataclass(frozen=True, slots=True)
class Nominate:
    """PostFilter's wish: the pod's nomination becomes ``node``; an empty name clears it.

    ``victims`` are the keys of the pods that are evicted there, for the record.
    """

    node: str
    victims: tuple[str, ...] = field(default=(), compare=False)


CLEAR = Nominate("")


_ONLY_TEXT: Final = frozenset({str})


@dataclass(frozen=True, slots=True)
class PreFilterResult:
    """The names of the only nodes worth looking at. Names that no node has are dropped."""

    node_names: frozenset[str]

    def __post_init__(self) -> None:
        given: object = self.node_names
        if type(given) is frozenset and _ONLY_TEXT.issuperset(map(type, given)):
            return
        if isinstance(given, str) or not isinstance(given, Iterable):
            text = "PreFilterResult takes a set of node names, such as {'node-1'}"
            raise TypeError(f"{text}, not {given!r}")
        names = tuple(given)
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"PreFilterResult takes names of nodes, not {name!r}")
        object.__setattr__(self, "node_names", frozenset(names))


@dataclass(frozen=True, slots=True)
class PreFlight:
    """PreBind's answer when it has work: whether it may run in parallel with others."""

    allow_parallel: bool = False

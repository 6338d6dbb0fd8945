"""Every exception that podium raises on purpose.

PodiumError
├── InvalidObject       an API object that cannot be used: which, where in it, why
├── InvalidQuantity     a text such as "1Kb" that is not a resource quantity
├── InvalidSelector     a label or node selector that cannot be evaluated
├── InvalidTime         a text that is not an RFC 3339 time
├── InvalidExpression   a CEL expression that does not compile, with cel-go's report
├── EvaluationError     a CEL expression that failed while it was evaluated
├── AllocationError     claims that cannot be allocated, because they or the devices are wrong
│   └── AllocationTimeout   a search for devices that took too long
├── CredentialsError    a kubeconfig, token or certificate that cannot be used: which, what to fix
├── ApiError            a request that failed; without an answer it may have been carried out
│   ├── Unauthorized    401: the API does not accept the credentials
│   ├── Forbidden       403: the credentials lack a right
│   ├── NotFound        404: the API has no such object
│   ├── Conflict        409: the API has a newer version of the object; nothing was written
│   ├── Gone            410: the API no longer has the requested version
│   ├── TooManyRequests 429: the API asks to retry later; nothing was written
│   ├── NotLeading      a write that was not sent: another process may lead
│   └── Unreachable     no answer at all, or one that broke off
├── ReadOnly            a write over a connection that may only read; nothing was sent
├── ExtenderError       an extender that failed, refused or gave an unusable answer
├── CacheError          a write that contradicts what the state knows; nothing was changed
├── StaleRow            a reference to a node that was removed
├── StaleView           a view of nodes that is used after its cycle
├── StateNotFound       a plugin read a value that was not put into this cycle's state
├── PluginError         a plugin that cannot be registered or built
│   └── UndeclaredKind  a plugin that reads a kind of object without declaring it
├── ConfigError         a configuration that cannot be used, with all its problems
│   └── InvalidTrace    a trace, or a table to make one from, with the lines of its problems
├── InvalidRecording    a file of recorded cases that cannot be replayed: which, where, why
├── InvalidSnapshot     a file that cannot be read as a snapshot: which, why, what to do
├── ReplayError         a replay that cannot run, or a process of it that died
├── WorkloadFailed      a benchmark that did not finish
├── SimulationError     a simulation that cannot be built, or a step that cannot be carried out
├── NoScheduler         no podium scheduler answers at an address
├── NotRecorded         a pod, node or attempt that a running scheduler does not know
├── ServingError        an address where health and metrics cannot be served: which, what to do
├── NotOnLoopback       an address where the embedded API server must not listen without TLS
└── AlreadyRunning      an embedded cluster that cannot start: another holds the state file

The embedded API server also raises ``Refusal`` (apiserver/statuses.py), which its clients see as an
ApiError. Two exceptions never leave the core: a plugin raises ``NotSignable`` for a pod without a
signature, and ``AttemptFailed`` ends the stages of a cycle, whose outcome then carries the Status.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

REQUEST_TIMEOUT: Final = 408


class PodiumError(Exception):
    """The base class of everything that podium raises itself."""


class Problem(NamedTuple):
    """One problem in a file or object: the path of the field, a message, and the line if known."""

    path: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else ""
        where = " ".join(filter(None, (self.path, f"({line})" if self.path and line else line)))
        return f"{where}: {self.message}" if where else self.message


class InvalidObject(PodiumError):
    """An API object that cannot be used; ``problems`` lists everything that is wrong."""

    def __init__(self, kind: str, key: str, problems: Sequence[Problem]) -> None:
        self.kind = kind
        self.key = key
        self.problems = tuple(problems)
        super().__init__(self._message())

    def _message(self) -> str:
        what = f"{self.kind} {self.key}" if self.key else self.kind
        if len(self.problems) == 1:
            return f"{what}: {self.problems[0]}"
        lines = "".join(f"\n  {problem}" for problem in self.problems)
        return f"{what} has {len(self.problems)} problems{lines}"


class InvalidQuantity(PodiumError):
    """A text that is not a resource quantity; the message is the API server's."""


class InvalidSelector(PodiumError):
    """A selector that cannot be evaluated; the message names the field inside it."""


class InvalidExpression(PodiumError):
    """A CEL expression that does not compile; the message is the API server's."""


class EvaluationError(PodiumError):
    """A CEL expression that failed while it was evaluated; the message is cel-go's."""


class AllocationError(PodiumError):
    """Resource claims that cannot be allocated because they or the devices are wrong."""


class AllocationTimeout(AllocationError):
    """A search for devices that took longer than it may."""

    def __init__(self) -> None:
        super().__init__("timed out trying to allocate devices")


class InvalidTime(PodiumError):
    """A text that is not an RFC 3339 time."""


class CredentialsError(PodiumError):
    """Credentials that cannot be used; the message names the file, the context and the remedy."""


class ApiError(PodiumError):
    """The API refused a request, or did not answer: then it may have been carried out.

    ``code`` is the HTTP status, 0 without an answer; ``reason`` is the API's own word for it. A
    request may be tried several times: ``follows_doubt`` says that an earlier try may have been
    carried out, whatever this answer says.
    """

    def __init__(self, message: str, code: int = 0, reason: str = "") -> None:
        self.message = message
        self.code = code
        self.reason = reason
        self.follows_doubt = False
        super().__init__(message)

    @property
    def is_refusal(self) -> bool:
        """Whether the API has answered that it did nothing; else a write is in doubt."""
        is_clear = 400 <= self.code < 500 and self.code != REQUEST_TIMEOUT
        return is_clear and not self.follows_doubt

    @property
    def may_be_done(self) -> bool:
        """Whether the API may have carried out the request, now or at an earlier try."""
        return self.follows_doubt or self.code >= 500 or self.code == REQUEST_TIMEOUT


class Unauthorized(ApiError):
    """The API does not accept the credentials, or there are none to send."""


class Forbidden(ApiError):
    """The credentials lack a right; the message names verb and resource."""


class NotFound(ApiError):
    """The API has no such object."""


class Conflict(ApiError):
    """The object has a newer version than the one that was sent; nothing was written."""


class Gone(ApiError):
    """The API no longer has the requested version; list again."""


class TooManyRequests(ApiError):
    """The API asks to retry later; nothing was written."""


class Unreachable(ApiError):
    """No complete answer came; if ``sent`` is false, the request never reached the server."""

    def __init__(self, message: str, sent: bool = True) -> None:
        self.sent = sent
        super().__init__(message)

    @property
    def may_be_done(self) -> bool:
        return self.follows_doubt or self.sent


class NotLeading(ApiError):
    """A write was not sent, because another process may lead."""


class ReadOnly(PodiumError):
    """A write over a connection that may only read; nothing was sent."""


class ExtenderError(PodiumError):
    """An extender failed, refused or gave an answer that cannot be used."""


class CacheError(PodiumError):
    """A write that contradicts what the state knows; the message is upstream's."""


class StaleRow(PodiumError):
    """A reference to a node that was removed."""

    def __init__(self, name: str) -> None:
        super().__init__(f"node {name} is gone")


class StaleView(PodiumError):
    """A view of nodes that is used after its cycle."""

    def __init__(self) -> None:
        super().__init__(
            "`nodes` and `node` are valid in the cycle that they were given for, and this one is "
            "over: keep what you need of them (names, arrays), or ask handle.cluster again"
        )


class StateNotFound(PodiumError):
    """A value that was not put into this cycle's state."""

    def __init__(self, kind: type) -> None:
        self.kind = kind
        super().__init__("not found")


class PluginError(PodiumError):
    """A plugin that cannot be registered or built; the message names it."""


class UndeclaredKind(PluginError):
    """A plugin that reads objects of a kind that it has not declared."""

    def __init__(self, plugin: str, kind: str) -> None:
        super().__init__(
            f"plugin {plugin} reads {kind} objects without declaring it, so perhaps nothing "
            f"watches them: write watches = ({kind},) into its class, or give watches=({kind},) "
            "to the decorator of its function"
        )


class ConfigError(PodiumError):
    """A configuration that cannot be used; ``problems`` lists everything that is wrong."""

    def __init__(self, source: str, problems: Sequence[Problem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        lines = "".join(f"\n  {problem}" for problem in self.problems)
        super().__init__(f"{source} has {count}{lines}")


class InvalidTrace(ConfigError):
    """A trace, or a table to convert to one, that cannot be used. It lists the problems by line."""


class InvalidRecording(PodiumError):
    """A file of recorded cases that cannot be replayed; ``source`` is the file and the line."""

    def __init__(self, source: str, reason: str) -> None:
        self.source = source
        self.reason = reason
        super().__init__(f"{source}: {reason}")


class InvalidSnapshot(PodiumError):
    """A file that cannot be read as a snapshot; ``source`` is the file."""

    def __init__(self, source: str, reason: str) -> None:
        self.source = source
        self.reason = reason
        super().__init__(f"{source}: {reason}")


class ReplayError(PodiumError):
    """A replay that cannot run as requested, or whose worker process died."""


class WorkloadFailed(PodiumError):
    """A benchmark that did not finish, most likely because a pod found no node."""


class SimulationError(PodiumError):
    """A simulation that cannot be built, or a step that cannot be carried out; nothing changed."""


class NoScheduler(PodiumError):
    """No podium scheduler answers at this address."""


class NotRecorded(PodiumError):
    """A running scheduler does not know this pod, node or attempt."""


class ServingError(PodiumError):
    """An address where health and metrics cannot be served; the message says what to do."""


class NotOnLoopback(PodiumError):
    """The address can be reached from other machines, which requires TLS and tokens."""


class AlreadyRunning(PodiumError):
    """Another embedded cluster holds the state file."""


_SHORTEST_BEGINNING = 3  # shorter beginnings of a name do not suggest the name


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint to append to a message, or nothing when no known name is similar."""
    names = sorted(known)
    folded = {candidate.lower(): candidate for candidate in names}
    wanted = name.lower()[:120]
    near = get_close_matches(wanted, folded, n=1, cutoff=0.7)
    if not near and len(wanted) >= _SHORTEST_BEGINNING:
        near = [each for each in folded if each.startswith(wanted)]
    return f'; did you mean "{folded[near[0]]}"?' if near else ""

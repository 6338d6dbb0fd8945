"""What a profile's plugins were asked: how often, how long it took, and what came of it.

``profile.py`` and ``binding.py`` note each call; `podium plugin stats` and the metrics read it.
"""

from __future__ import annotations

import sys
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Iterator
from math import inf
from time import perf_counter
from typing import Final, NamedTuple, Protocol

from podium.api.objects import Pod
from podium.api.read_only import refusal
from podium.clock import Alarms, Clock
from podium.framework.plugin import Plugin
from podium.framework.status import Code, Status, as_status, text_of
from podium.logs import get_logger

log = get_logger(__name__)

FAILED: Final = "plugin failed"  # the event of what a plugin raised

LONG_SECONDS: Final = 1.0
STUCK_SECONDS: Final = 30.0
# Here a plugin may wait; elsewhere every pod waits for it.
WAITING: Final = frozenset(("Unreserve", "PreBind", "Bind", "PostBind"))
# A point in metrics, for what counts there as part of another.
_WHOLE: Final = {
    "ScoreExtensionNormalize": "Score",
    "PlacementScoreExtensionNormalize": "PlacementScore",
}
# Looking up a member of an enumeration takes as long as a dozen additions.
_SUCCESS: Final = Code.SUCCESS
_SKIP: Final = Code.SKIP
_ERROR: Final = Code.ERROR
_FAULT: Final = Status(Code.ERROR)
# What counts as a fault of the plugin that raised it. At synchronous points CancelledError is one
# too: the plugin has read the result of something that was cancelled. SystemExit and GeneratorExit
# would end the scheduling loop, and with it the scheduling of all other pods.
FAULTS: Final = (Exception, CancelledError, SystemExit, GeneratorExit)
_NO_EXIT: Final = "a plugin cannot end the scheduler: raise an exception or return a fwk.Status"
EVALUATED: Final = frozenset(("PreFilter", "Filter", "PreScore", "Score"))


class CallObserver(Protocol):
    """Is told about calls as they happen: the metrics of a running scheduler."""

    def point(self, profile: str, point: str, status: str, seconds: float) -> None: ...
    def plugin(self, plugin: str, point: str, status: str, seconds: float) -> None: ...
    def samples_plugins(self) -> bool: ...


class Call(NamedTuple):
    plugin: str
    point: str
    code: Code
    seconds: float


class CallCount:
    """One plugin at one point. ``rejections`` counts pods, at Filter the nodes of each attempt."""

    __slots__ = (
        "_calls", "_limit", "calls", "errors", "evaluations", "longest", "plugin", "point",
        "rejections", "seconds",
    )  # fmt: skip

    def __init__(self, plugin: str, point: str, calls: Calls) -> None:
        self.plugin = plugin
        self.point = point
        self.calls = 0
        self.seconds = 0.0
        self.longest = 0.0
        self.evaluations = 0  # single nodes where a call judges many; Skip does not count
        self.rejections = 0
        self.errors = 0
        self._calls = calls
        self._limit = inf if point in WAITING else LONG_SECONDS

    def note(self, begin: float, evaluations: int = 1) -> None:
        """A call that began at this time of ``Calls.timer`` has ended well."""
        calls = self._calls
        seconds = calls.timer() - begin
        self.calls += 1
        self.seconds += seconds
        self.evaluations += evaluations
        if seconds > self.longest:
            self.longest = seconds
        if seconds > self._limit:
            self._warn(seconds)
        if calls.unreported is not None:
            calls.unreported.append(Call(self.plugin, self.point, _SUCCESS, seconds))

    def answered(self, begin: float, status: Status) -> None:
        """A call has ended with this status."""
        code = status.code
        self.note(begin, 0 if code is _SKIP else 1)
        if code is _SUCCESS or code is _SKIP:
            return
        if code is _ERROR:
            self.errors += 1
        elif status.is_rejection:
            self.rejections += 1
        unreported = self._calls.unreported
        if unreported is not None:
            unreported[-1] = unreported[-1]._replace(code=code)

    def failed(self, begin: float) -> None:
        """A call has ended with a fault."""
        self.answered(begin, _FAULT)

    def _warn(self, seconds: float) -> None:
        log.warning(
            "a plugin's call took long, and all pods waited for it",
            plugin=self.plugin, point=self.point, seconds=round(seconds, 3),
            source=self._calls.sources.get(self.plugin, ""),
        )  # fmt: skip


class PointCalls(dict[str, CallCount]):
    """The counts of one point by plugin."""

    def __init__(self, point: str, calls: Calls) -> None:
        super().__init__()
        self.point = point
        self._calls = calls

    def __missing__(self, plugin: str) -> CallCount:
        count = self[plugin] = CallCount(plugin, self.point, self._calls)
        return count

    def ask(self, plugin: Plugin, pod: Pod, call: Callable[[], Status | None]) -> Status:
        """Return the plugin's status; an exception becomes one too.

        The points that every cycle visits have this inline, to save a call for each plugin.
        """
        begin = self._calls.timer()
        try:
            status = as_status(call())
        except FAULTS as fault:
            status = fault_of(plugin, self.point, pod, fault)
        self[plugin.name].answered(begin, status)
        return status


class Calls:
    """The counts of one profile. They outlive a profile that is built anew.

    With an observer, calls are kept until ``report``, which a driver of cycles calls after each.
    Those of PreEnqueue are told at once: a standby queues pods and runs no cycles.
    """

    def __init__(
        self,
        profile: str = "",
        observer: CallObserver | None = None,
        clock: Clock | None = None,
        timer: Callable[[], float] = perf_counter,
    ) -> None:
        self.profile = profile
        self.timer = timer
        self.sources: dict[str, str] = {}  # by plugin, for messages
        self.unreported: list[Call] | None = None if observer is None else []
        self._observer = observer
        self._stuck = None if clock is None else Alarms(clock, STUCK_SECONDS)
        self._points: dict[str, PointCalls] = {}

    def at(self, point: str) -> PointCalls:
        found = self._points.get(point)
        if found is None:
            found = self._points[point] = PointCalls(point, self)
        return found

    def __iter__(self) -> Iterator[CallCount]:
        """All counts; from any thread, since the copy of a dict is atomic."""
        for point in list(self._points.values()):
            yield from list(point.values())

    def report(self) -> None:
        """Tell the observer what was called since the last time: each point as a whole, and
        single plugins in a sample."""
        if not self.unreported or self._observer is None:
            return
        observer, calls = self._observer, self.unreported
        self.unreported = []
        points: dict[str, tuple[Code, float]] = {}
        for _, point, code, seconds in calls:
            name = _WHOLE.get(point, point)
            before, so_far = points.get(name, (_SUCCESS, 0.0))
            # At PostFilter the first that helps decides, whatever others said before.
            is_news = code not in (_SUCCESS, _SKIP) or name == "PostFilter"
            points[name] = code if is_news else before, so_far + seconds
        for name, (code, seconds) in points.items():
            observer.point(self.profile, name, code.value, seconds)
        if observer.samples_plugins():
            for plugin, point, code, seconds in calls:
                observer.plugin(plugin, point, code.value, seconds)

    def report_queueing(self) -> None:
        """Report the latest PreEnqueue calls by plugin; the queue reports the extension point."""
        calls, observer = self.unreported, self._observer
        if not calls or observer is None:
            return
        is_sampled = observer.samples_plugins()
        while calls and calls[-1].point == "PreEnqueue":
            plugin, point, code, seconds = calls.pop()
            if is_sampled:
                observer.plugin(plugin, point, code.value, seconds)

    async def awaited(self, count: CallCount, work: Awaitable[object], pod: Pod) -> object:
        """Wait for what a plugin does at an async point; say so when it takes long."""
        stuck = self._stuck
        if stuck is None:
            return await work

        def warn() -> None:
            log.warning(
                "a plugin has not returned yet; only its own pod waits for it",
                plugin=count.plugin, point=count.point, pod=pod.key, seconds=STUCK_SECONDS,
                source=self.sources.get(count.plugin, ""),
            )  # fmt: skip

        alarm = stuck.set(warn)
        try:
            return await work
        finally:
            stuck.cancel(alarm)


def source_of(plugin: Plugin | type[Plugin]) -> str:
    """Return where its author finds it: ``rack.py, class EmptiestRack``."""
    kind = plugin if isinstance(plugin, type) else type(plugin)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None) or kind.__module__
    what = "function" if hasattr(kind, "function") else "class"
    return f"{file}, {what} {kind.__qualname__}"


def fault_of(plugin: Plugin, point: str, pod: Pod, fault: BaseException) -> Status:
    """Return what a plugin raised, as its status; the log gets the traceback and where to look."""
    log.error(FAILED, plugin=plugin.name, point=point, pod=pod.key, source=source_of(plugin))
    return Status(Code.ERROR, plugin=plugin.name, cause=_explained(fault))


def _explained(fault: BaseException) -> BaseException:
    """Replace messages that a plugin's author would not understand."""
    said = text_of(fault)
    if isinstance(fault, SystemExit):
        return RuntimeError(f"it called sys.exit({said if fault.args else ''}); {_NO_EXIT}")
    if isinstance(fault, AttributeError) and said.startswith("immutable type"):
        _, _, kind = said.partition(": ")
        return AttributeError(refusal(kind.strip("'")))
    return fault

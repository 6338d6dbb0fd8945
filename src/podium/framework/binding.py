"""The extension points from Reserve to PostBind: run once per pod, after its node is chosen."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from numbers import Real
from typing import NamedTuple

from podium.api.objects import Pod
from podium.framework.calls import FAULTS, Calls, fault_of
from podium.framework.cycle_state import CycleState
from podium.framework.plugin import (
    PermitPlugin,
    Plugin,
    PreBindPlugin,
    ReservePlugin,
)
from podium.framework.profile import Profile
from podium.framework.status import SUCCESS, Code, PreFlight, Status, Wait, as_status, skip
from podium.framework.waiting_pods import WaitingPods

_WAITING = "one or more plugins asked to wait and no plugin rejected pod"


class Target(NamedTuple):
    """A pod and the node chosen for it: what every point from Reserve on is given."""

    profile: Profile
    state: CycleState
    pod: Pod
    node_name: str

    @property
    def calls(self) -> Calls:
        return self.profile.calls


def run_reserve(target: Target) -> Status:
    """Reserve in order; the first failure ends it, and the caller unreserves."""
    calls = target.calls
    counts = calls.at("Reserve")
    for plugin in target.profile.reserves:
        begin = calls.timer()
        try:
            status = as_status(plugin.reserve(target.state, target.pod, target.node_name))
        except FAULTS as fault:
            status = _fault(plugin, "Reserve", target, fault)
        counts[plugin.name].answered(begin, status)
        if status.ok:
            continue
        if status.is_rejection:
            return status.by(plugin.name)
        text = f'running Reserve plugin "{plugin.name}": {status.message}'
        return Status.error(text).by(plugin.name)
    return SUCCESS


def run_unreserve(target: Target) -> list[Awaitable[None]]:
    """Undo in reverse order, for every plugin; returns what async plugins left to be awaited."""
    left: list[Awaitable[None]] = []
    for plugin in reversed(target.profile.reserves):
        count, begin = target.calls.at("Unreserve")[plugin.name], target.calls.timer()
        try:
            result = plugin.unreserve(target.state, target.pod, target.node_name)
        except FAULTS as fault:
            count.answered(begin, _fault(plugin, "Unreserve", target, fault))
            continue
        if inspect.isawaitable(result):
            left.append(_unreserved(target, plugin, result))
        else:
            count.answered(begin, SUCCESS)
    return left


async def _unreserved(target: Target, plugin: ReservePlugin, work: Awaitable[object]) -> None:
    async def undo() -> None:
        await work  # whatever it answers

    await _asked("Unreserve", target, plugin, undo)


def run_permit(target: Target) -> tuple[dict[str, float], Status]:
    """Ask every Permit; the answer is a rejection, an error, success, or how long each waits."""
    waits: dict[str, float] = {}
    last = SUCCESS
    for plugin in target.profile.permits:
        call = partial(_permit, target, plugin, waits)
        status = target.calls.at("Permit").ask(plugin, target.pod, call)
        if plugin.name in waits:
            last = status
        if status.is_wait:
            continue
        if status.is_rejection:
            return {}, status.by(plugin.name)
        if not status.ok:
            text = f'running Permit plugin "{plugin.name}": {status.message}'
            return {}, Status.error(text).by(plugin.name)
    if waits:
        return waits, Status(Code.WAIT, (*last.details, _WAITING), last.plugin)
    return {}, SUCCESS


def _permit(target: Target, plugin: PermitPlugin, waits: dict[str, float]) -> Status | None:
    answer = plugin.permit(target.state, target.pod, target.node_name)
    if not isinstance(answer, Wait):
        return answer
    seconds = answer.seconds
    if not isinstance(seconds, Real) or not seconds >= 0:  # NaN is not either
        raise ValueError(
            f"it returned fwk.wait({seconds!r}); give the longest time that the pod may wait as a "
            "number of seconds that is not negative, such as fwk.wait(60)"
        )
    waits[plugin.name] = float(seconds)
    return Status(Code.WAIT, (answer.reason,) if answer.reason else (), plugin.name)


async def wait_on_permit(waiting_pods: WaitingPods, pod: Pod) -> Status:
    """Wait until the pod is allowed, rejected or out of time; at once if it does not wait."""
    waiting = waiting_pods.get(pod.uid)
    if waiting is None:
        return SUCCESS
    done: asyncio.Queue[Status] = asyncio.Queue()  # unlike a future, it bears a late answer
    waiting.when_done(done.put_nowait)
    try:
        status = await done.get()
    finally:
        waiting_pods.remove(pod.uid)
    if status.ok or status.is_rejection:
        return status
    return Status.error(f"waiting on permit for pod: {status.message}").by(status.plugin)


def run_pre_flight(target: Target) -> tuple[Status, frozenset[str]]:
    """Ask which PreBinds have work. Return success if one has, and which may run in parallel."""
    skipped: set[str] = set()
    parallel: set[str] = set()
    will_work = False
    for plugin in target.profile.pre_binds:
        try:
            answer = plugin.pre_bind_pre_flight(target.state, target.pod, target.node_name)
            if isinstance(answer, PreFlight):
                parallel |= {plugin.name} if answer.allow_parallel else set()
                answer = SUCCESS
            status = as_status(answer)
        except FAULTS as fault:
            status = _fault(plugin, "PreBindPreFlight", target, fault)
        if status.is_skip:
            skipped.add(plugin.name)
        elif status.ok:
            will_work = True
        else:
            return _bad_pre_flight(plugin, status), frozenset()
    target.state.skip_pre_bind = frozenset(skipped)
    return (SUCCESS if will_work else skip()), frozenset(parallel)


def _bad_pre_flight(plugin: Plugin, status: Status) -> Status:
    if status.code is Code.ERROR:
        text = f'running PreBindPreFlight "{plugin.name}": {status.message}'
    else:
        text = (
            f'PreBindPreFlight {plugin.name} returned "{status.code.value}", which is unsupported.'
            " It is supposed to return Success, Skip, or Error status"
        )
    return Status.error(text).by(plugin.name)


async def run_pre_bind(target: Target, parallel: frozenset[str] = frozenset()) -> Status:
    """Run the PreBinds group by group; the first failure cancels the rest of its group."""
    for group in pre_bind_groups(target, parallel):
        status = await _run_group(target, group)
        if not status.ok:
            return status
    return SUCCESS


def pre_bind_groups(target: Target, parallel: frozenset[str]) -> list[list[PreBindPlugin]]:
    """Group neighbours that allow it; a plugin that does not ends the group before it."""
    groups: list[list[PreBindPlugin]] = []
    is_open = False
    for plugin in target.profile.pre_binds:
        skipped = plugin.name in target.state.skip_pre_bind
        if plugin.name in parallel and not skipped:
            if not is_open:
                groups.append([])
            groups[-1].append(plugin)
            is_open = True
        elif plugin.name not in parallel:
            # A plugin that skips has not said that it allows neighbours: it ends a group too.
            is_open = False
            if not skipped:
                groups.append([plugin])
    return groups


async def _run_group(target: Target, group: list[PreBindPlugin]) -> Status:
    tasks = [asyncio.ensure_future(_pre_bind(target, plugin)) for plugin in group]
    try:
        for finished in asyncio.as_completed(tasks):
            status = await finished
            if not status.ok:
                return status
    finally:
        for task in tasks:
            task.cancel("some other PreBind operation failed")
        await asyncio.gather(*tasks, return_exceptions=True)
    return SUCCESS


async def _pre_bind(target: Target, plugin: PreBindPlugin) -> Status:
    call = partial(plugin.pre_bind, target.state, target.pod, target.node_name)
    status = await _asked("PreBind", target, plugin, call)
    if status.ok or status.is_rejection:
        return status.by(plugin.name)
    text = f'running PreBind plugin "{plugin.name}": {status.message}'
    return Status.error(text).by(plugin.name)


async def run_bind(target: Target) -> Status:
    """Ask Bind plugins until one does not skip. Return skip when all of them do."""
    for plugin in target.profile.binds:
        call = partial(plugin.bind, target.state, target.pod, target.node_name)
        status = await _asked("Bind", target, plugin, call)
        if status.is_skip:
            continue
        if status.ok or status.is_rejection:
            return status.by(plugin.name)
        text = f'running Bind plugin "{plugin.name}": {status.message}'
        return Status.error(text).by(plugin.name)
    return skip()


async def run_post_bind(target: Target) -> None:
    for plugin in target.profile.post_binds:
        call = partial(plugin.post_bind, target.state, target.pod, target.node_name)
        await _asked("PostBind", target, plugin, call)


async def _asked(point: str, target: Target, plugin: Plugin, call: Callable[[], object]) -> Status:
    """Call a plugin method that may be async, and await its result."""
    count, begin = target.calls.at(point)[plugin.name], target.calls.timer()
    try:
        answer = call()
        if inspect.isawaitable(answer):
            answer = await target.calls.awaited(count, answer, target.pod)
        status = as_status(answer)
    except (Exception, SystemExit) as fault:  # a cancellation ends the binding, not the plugin
        status = _fault(plugin, point, target, fault)
    count.answered(begin, status)
    return status


def _fault(plugin: Plugin, point: str, target: Target, fault: BaseException) -> Status:
    return fault_of(plugin, point, target.pod, fault)

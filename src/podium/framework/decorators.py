"""Plugins of one function: ``@podium.filter``, ``@podium.score(weight=2)`` and their kin.

A decorated function stays what it is, for its tests; the plugin made of it is kept beside it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar, TypeVar, overload

from podium.api.objects import Pod
from podium.errors import PluginError
from podium.framework.cycle_state import CycleState
from podium.framework.handle import Handle
from podium.framework.plugin import (
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    ScorePlugin,
    as_score,
)
from podium.framework.status import SUCCESS, Status, Wait
from podium.state.rows import NodeInfo

F = TypeVar("F", bound=Callable[..., Any])

PLUGIN = "__podium_plugin__"  # where a function keeps the plugin that was made of it


class _OneFunction(Plugin):
    """Gives a function, of what its point offers, the values that its parameters name."""

    function: ClassVar[Callable[..., Any]]
    offers: ClassVar[tuple[str, ...]]

    def __init__(self, args: Any, handle: Handle) -> None:
        wants = inspect.signature(self.function).parameters
        function = type(self).function
        self._call = partial(function, handle=handle) if "handle" in wants else function
        self._wants = tuple(name for name in wants if name != "handle")

    def _ask(self, given: Mapping[str, Any]) -> Any:
        return self._call(**{name: given[name] for name in self._wants})


class _PreEnqueue(_OneFunction, PreEnqueuePlugin):
    offers = ("pod",)

    def pre_enqueue(self, pod: Pod) -> Status:
        return verdict(self._ask({"pod": pod}), f"{self.name} holds the pod back")


class _Filter(_OneFunction, FilterPlugin):
    offers = ("pod", "node", "state")

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        answer = self._ask({"pod": pod, "node": node, "state": state})
        return verdict(answer, f"node(s) refused by {self.name}")


class _Score(_OneFunction, ScorePlugin):
    offers = ("pod", "node", "state")

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        return as_score(self._ask({"pod": pod, "node": node, "state": state}))


class _Permit(_OneFunction, PermitPlugin):
    offers = ("pod", "node_name", "state")

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> Status | Wait:
        answer = self._ask({"pod": pod, "node_name": node_name, "state": state})
        return answer if isinstance(answer, Wait) else verdict(answer, f"{self.name} says no")


class _PreBind(_OneFunction, PreBindPlugin):
    offers = ("pod", "node_name", "state")

    async def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        answer = self._ask({"pod": pod, "node_name": node_name, "state": state})
        answer = await answer if inspect.isawaitable(answer) else answer
        return verdict(answer, f"{self.name} says no")


class _PostBind(_OneFunction, PostBindPlugin):
    offers = ("pod", "node_name", "state")

    async def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        answer = self._ask({"pod": pod, "node_name": node_name, "state": state})
        if inspect.isawaitable(answer):
            await answer


def verdict(answer: object, reason: str) -> Status:
    """``None`` and ``True`` are success, a text is a reason to refuse, ``False`` has none."""
    if answer is None or answer is True:
        return SUCCESS
    if answer is False:
        return Status.unschedulable(reason)
    if isinstance(answer, str):
        return Status.unschedulable(answer or reason)
    if isinstance(answer, Status):
        return answer
    raise TypeError(f"it answered {answer!r}; it may answer None, True, False, a text or a Status")


def _made_of(function: F, base: type[_OneFunction], name: str, weight: int) -> F:
    _check_parameters(function, base.offers)
    made = {
        "name": name or function.__name__,
        "weight": weight,
        "function": staticmethod(function),
        "__module__": function.__module__,
        "__qualname__": function.__qualname__,
        "__doc__": function.__doc__,
    }
    setattr(function, PLUGIN, type(function.__name__, (base,), made))
    return function


def _check_parameters(function: Callable[..., Any], offers: tuple[str, ...]) -> None:
    known = (*offers, "handle")
    unknown = [name for name in inspect.signature(function).parameters if name not in known]
    if unknown:
        text = f"{function.__name__} has the parameters {', '.join(unknown)}"
        raise PluginError(f"{text}; it may have: {', '.join(known)}")


class _Decorator:
    """``@filter`` or ``@filter(name="NoFridays")``; the name is the function's own by default."""

    def __init__(self, base: type[_OneFunction]) -> None:
        self._base = base

    @overload
    def __call__(self, function: F, /) -> F: ...
    @overload
    def __call__(self, *, name: str = "") -> Callable[[F], F]: ...
    def __call__(self, function: Any = None, *, name: str = "") -> Any:
        if function is not None:
            return _made_of(function, self._base, name, 1)
        return partial(_made_of, base=self._base, name=name, weight=1)


@overload
def score(function: F, /) -> F: ...
@overload
def score(*, name: str = "", weight: int = 1) -> Callable[[F], F]: ...
def score(function: Any = None, /, *, name: str = "", weight: int = 1) -> Any:
    """``@score`` or ``@score(weight=2)``: a whole number from 0 to 100 for each node."""
    if function is not None:
        return _made_of(function, _Score, name, weight)
    return partial(_made_of, base=_Score, name=name, weight=weight)


pre_enqueue = _Decorator(_PreEnqueue)
filter = _Decorator(_Filter)
permit = _Decorator(_Permit)
pre_bind = _Decorator(_PreBind)
post_bind = _Decorator(_PostBind)

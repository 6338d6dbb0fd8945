"""The classes behind ``@podium.filter`` and the other decorators: a plugin that calls a function.

Which class a function gets depends on its parameters. A function of ``nodes`` is called for all
candidates at once, one of ``node`` for each of them, one of neither once in each attempt.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from podium.api.objects import Pod
from podium.errors import PluginError, did_you_mean
from podium.framework.cycle_state import CycleState
from podium.framework.dependencies import EVERYTHING, NOTHING, Dependencies
from podium.framework.plugin import (
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PostBindPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    ScorePlugin,
    Statuses,
)
from podium.framework.scores import Scores, as_score, as_score_array
from podium.framework.status import SUCCESS, Status, Wait
from podium.state.aspects import Aspect
from podium.state.column import Column
from podium.state.rows import NodeInfo, Rows

if TYPE_CHECKING:
    from podium.framework.handle import Handle

_ON_ONE_NODE: Final = Dependencies(node=Aspect.ALL)
_NAMES: Final = ("pod", "node", "nodes", "node_name", "state")  # in the order of messages
_WHATEVER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class Function:
    """A decorated function: its parameters, and what can be inferred from them."""

    def __init__(self, function: Callable[..., Any], plugin: str, forms: Forms) -> None:
        self.call = function
        self.plugin = plugin
        parameters = inspect.signature(function).parameters
        self.wants = tuple(parameters)
        self._text = f"plugin {plugin}: {function.__name__}{inspect.signature(function)}"
        offered = {name for form in forms for name in form.offers}
        allowed = tuple(name for name in _NAMES if name in offered)
        self._check([p.name for p in parameters.values() if p.kind not in _WHATEVER], allowed)
        if any(p.kind in _WHATEVER for p in parameters.values()):
            raise PluginError(f"{self} must name its parameters: {', '.join(allowed)}")
        if any(p.kind is inspect.Parameter.POSITIONAL_ONLY for p in parameters.values()):
            raise PluginError(f"{self} is called with named parameters: remove the '/'")
        self.base = self._form(forms)
        if not self.base.may_wait and _is_suspended(function):
            point = "everything up to Permit is synchronous, because all pods would wait for it"
            raise PluginError(f"{self} must be a plain function, not async or with yield: {point}")

    def __str__(self) -> str:
        return self._text

    def _check(self, names: list[str], allowed: tuple[str, ...]) -> None:
        unknown = [name for name in names if name not in (*allowed, "handle")]
        if not unknown:
            return
        known = (*allowed, "handle")
        text = f"{self} has the unknown parameter{'s' * (len(unknown) > 1)} {', '.join(unknown)}"
        raise PluginError(
            f"{text}; it may have: {', '.join(known)}{did_you_mean(unknown[0], known)}"
        )

    def _form(self, forms: Forms) -> type[FunctionPlugin]:
        if {"node", "nodes"} <= set(self.wants):
            raise PluginError(f"{self} takes node and nodes; choose one of them")
        return next(form for form in forms if {*self.wants, "handle"} <= {*form.offers, "handle"})

    @property
    def ignores_the_pod(self) -> bool:
        """Whether its results are the same for all pods: it sees nodes and nothing else."""
        return bool(self.wants) and set(self.wants) <= {"node", "nodes"}

    @property
    def dependencies(self) -> Dependencies:
        """Return what its results can depend on, if it looks at nothing but its parameters."""
        if {"nodes", "state", "handle"} & set(self.wants):
            return EVERYTHING
        return _ON_ONE_NODE if "node" in self.wants else NOTHING

    def given(self, handle: Handle) -> Callable[..., Any]:
        """Return the function with the handle filled in, if it takes one."""
        return partial(self.call, handle=handle) if "handle" in self.wants else self.call


def _is_suspended(function: Callable[..., Any]) -> bool:
    """Whether a call returns a coroutine or a generator instead of an answer."""
    tests = (inspect.iscoroutinefunction, inspect.isasyncgenfunction, inspect.isgeneratorfunction)
    return any(test(function) for test in tests)


class FunctionPlugin(Plugin):
    """Calls a function with those of the ``offers`` of its point that its parameters name."""

    function: ClassVar[Function]
    offers: ClassVar[tuple[str, ...]]
    may_wait: ClassVar[bool] = False  # whether the function may be async
    reason: ClassVar[str] = "{} says no"  # why, where the function says only False

    def __init__(self, args: Any, handle: Handle) -> None:
        self._call = self.function.given(handle)
        self._wants = tuple(name for name in self.offers if name in self.function.wants)

    def _partial(self, **given: Any) -> Callable[..., Any]:
        """Return the function with these values filled in, as far as it takes them."""
        return partial(self._call, **{n: given[n] for n in self._wants if n in given})

    def _answers(self, state: CycleState, pod: Pod, nodes: Rows) -> list[Any]:
        """Call the function for each node."""
        call = self._call
        if self._wants == ("pod", "node"):  # the usual case: partial takes a while for each call
            return [call(pod=pod, node=node) for node in nodes]
        ask = self._partial(pod=pod, state=state)
        return [ask(node=node) for node in nodes]

    def _ask(self, **given: Any) -> Any:
        return self._partial(**given)()


Forms = tuple[type[FunctionPlugin], ...]
"""The classes for the functions of one point; the first that offers all parameters is taken."""


class PreEnqueueFunction(FunctionPlugin, PreEnqueuePlugin):
    offers = ("pod",)
    reason = "{} holds the pod back"

    def pre_enqueue(self, pod: Pod) -> Status:
        return verdict(self._ask(pod=pod), self.reason)


class _PodFilter(FunctionPlugin, FilterPlugin):
    """A filter that does not look at nodes: one call decides for all of them."""

    offers = ("pod", "state")
    reason = "node(s) refused by {}"

    def __init__(self, args: Any, handle: Handle) -> None:
        super().__init__(args, handle)
        # Single nodes are judged again in dry runs and after changes: the attempt's answer stands.
        self._last: tuple[CycleState | None, Status] = None, SUCCESS

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        if self._last[0] is not state:
            self._last = state, verdict(self._ask(pod=pod, state=state), self.reason)
        return self._last[1]

    def filter_all(self, state: CycleState, pod: Pod, nodes: Rows) -> Statuses:
        self._last = state, verdict(self._ask(pod=pod, state=state), self.reason)
        return Column.uniform(self._last[1], len(nodes))


class _NodeFilter(FunctionPlugin, FilterPlugin):
    """A filter that is called for each node."""

    offers = ("pod", "node", "state")
    reason = _PodFilter.reason

    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status:
        return verdict(self._ask(pod=pod, node=node, state=state), self.reason)

    def filter_all(self, state: CycleState, pod: Pod, nodes: Rows) -> Statuses:
        answers, reason = self._answers(state, pod, nodes), self.reason
        if not [None for each in answers if each is not True and each is not None]:
            return Column.uniform(SUCCESS, len(answers))  # quickly found, and the usual case
        return Column.of([verdict(each, reason) for each in answers])


class _NodesFilter(FunctionPlugin, FilterPlugin):
    """A filter that is called with all candidates at once."""

    offers = ("pod", "nodes", "state")
    reason = _PodFilter.reason

    def filter_all(self, state: CycleState, pod: Pod, nodes: Rows) -> Statuses:
        answer = self._ask(pod=pod, nodes=nodes, state=state)
        if isinstance(answer, Column):
            _check_count(self, len(answer), nodes)
            return answer.map(lambda each: verdict(each, self.reason))
        fits = _as_array(answer)
        if not isinstance(fits, np.ndarray) or fits.dtype != np.bool_:
            raise TypeError(f"{_returned(self, answer)}; {_FOR_A_FILTER}")
        _check_count(self, fits.size if fits.ndim == 1 else -1, nodes)
        return Column.where(~fits, Status.unschedulable(self.reason), SUCCESS)


class _PodScore(FunctionPlugin, ScorePlugin):
    """A score that does not look at nodes: one call for all of them."""

    offers = ("pod", "state")

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        return as_score(self._ask(pod=pod, state=state))

    def score_all(self, state: CycleState, pod: Pod, nodes: Rows) -> Scores:
        return np.full(len(nodes), as_score(self._ask(pod=pod, state=state)), np.int64)


class _NodeScore(FunctionPlugin, ScorePlugin):
    """A score that is worked out for each node."""

    offers = ("pod", "node", "state")

    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        return as_score(self._ask(pod=pod, node=node, state=state))

    def score_all(self, state: CycleState, pod: Pod, nodes: Rows) -> Scores:
        return as_score_array(self._answers(state, pod, nodes))


class _NodesScore(FunctionPlugin, ScorePlugin):
    """A score that is worked out for all candidates at once."""

    offers = ("pod", "nodes", "state")

    def score_all(self, state: CycleState, pod: Pod, nodes: Rows) -> Scores:
        answer = self._ask(pod=pod, nodes=nodes, state=state)
        scores = _as_array(answer)
        if not isinstance(scores, np.ndarray) or not _are_scores(scores, answer):
            raise TypeError(f"{_returned(self, answer)}; {_FOR_A_SCORE}")
        _check_count(self, scores.size if scores.ndim == 1 else -1, nodes)
        return scores.astype(np.int64, copy=False)


class PermitFunction(FunctionPlugin, PermitPlugin):
    offers = ("pod", "node_name", "state")

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> Status | Wait:
        answer = self._ask(pod=pod, node_name=node_name, state=state)
        return answer if isinstance(answer, Wait) else verdict(answer, self.reason)


class PreBindFunction(FunctionPlugin, PreBindPlugin):
    offers = ("pod", "node_name", "state")
    may_wait = True

    async def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        answer = self._ask(pod=pod, node_name=node_name, state=state)
        answer = await answer if inspect.isawaitable(answer) else answer
        return verdict(answer, self.reason)


class PostBindFunction(FunctionPlugin, PostBindPlugin):
    offers = ("pod", "node_name", "state")
    may_wait = True

    async def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        answer = self._ask(pod=pod, node_name=node_name, state=state)
        if inspect.isawaitable(answer):
            await answer


FILTERS: Final[Forms] = (_PodFilter, _NodeFilter, _NodesFilter)
SCORES: Final[Forms] = (_PodScore, _NodeScore, _NodesScore)


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


_FOR_A_FILTER: Final = (
    "a filter of `nodes` returns an array with True or False for each node, such as "
    'nodes.free("cpu") > 0, or a fwk.Column of answers'
)
_FOR_A_SCORE: Final = (
    "a score of `nodes` returns an array with a whole number for each node, below 2**63; "
    "(scores).astype(int) cuts fractions off, scores // 1000 divides without any"
)


def _as_array(answer: Any) -> Any:
    """Return a list as an array; ``None`` if its items are of different lengths."""
    if not isinstance(answer, list | tuple):
        return answer
    try:
        return np.asarray(answer)
    except ValueError:
        return None


def _are_scores(scores: NDArray[Any], answer: object) -> bool:
    """Whether these are whole numbers of 64 bits. In a list, numpy takes ``True`` for 1."""
    if isinstance(answer, list | tuple) and bool in map(type, answer):
        return False
    is_signed = scores.dtype.kind == "i" or not scores.size
    return is_signed or (scores.dtype.kind == "u" and bool(scores.max() < 2**63))


def _returned(plugin: FunctionPlugin, answer: object) -> str:
    what = f"{type(answer).__name__} {answer!r:.80}"
    if isinstance(answer, np.ndarray):
        what = f"an array of {answer.dtype}"
    return f"{plugin.function.call.__name__}() returned {what}"


def _check_count(plugin: FunctionPlugin, count: int, nodes: Rows) -> None:
    """Each node must have an answer: one that is missing would count for another node."""
    if count == len(nodes):
        return
    name, given = plugin.function.call.__name__, "a table" if count < 0 else f"{count} answers"
    text = f"{name}() returned {given} for {len(nodes)} nodes"
    raise ValueError(f"{text}; return one answer for each of `nodes`, in their order")

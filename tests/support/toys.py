"""Plugins for tests: each does what it is told and remembers what it was asked.

An ``answer`` may be a value, an exception to raise, or a function of what the plugin is given
without the cycle state.
"""

from collections.abc import Callable, Mapping
from typing import Any

from podium import framework as fwk
from podium.framework.dependencies import NOTHING
from podium.framework.plugin import Plugin
from podium.framework.profile import Profile
from podium.testing.handle import profile_of


def profile(*plugins: Plugin, weights: Mapping[str, int] | None = None) -> Profile:
    """Each plugin at every point it implements, in this order; weights are 1 unless given."""
    return profile_of(plugins, weights)


def reply(answer: Any, *given: Any) -> Any:
    if isinstance(answer, BaseException):
        raise answer
    return answer(*given) if isinstance(answer, Callable) else answer


class Toy(Plugin):
    """A name, an answer, and the list of what was asked, which several toys may share."""

    def __init__(
        self, name: str, answer: Any = None, *, depends_on: Any = NOTHING, log: Any = None
    ) -> None:
        self.name = name
        self.answer = answer
        self.asked: list[Any] = [] if log is None else log
        self._depends_on = depends_on

    def sign(self, pod: Any) -> Any:
        return ()

    def depends_on(self, pod: Any) -> fwk.Dependencies:
        return self._depends_on


class Unsigned(Plugin):
    """Mixed in before a toy: a plugin that cannot say what it looks at."""

    sign = None


class PreEnqueue(Toy, fwk.PreEnqueuePlugin):
    def pre_enqueue(self, pod):
        self.asked.append(self.name)
        return reply(self.answer, pod)


class PreFilter(Toy, fwk.PreFilterPlugin):
    def pre_filter(self, state, pod, nodes):
        self.asked.append(self.name)
        return reply(self.answer, pod, nodes)


class Filter(Toy, fwk.FilterPlugin):
    """``asked`` holds the names of the nodes, in the order they were judged."""

    def filter(self, state, pod, node):
        self.asked.append(node.name)
        return reply(self.answer, pod, node)


class PostFilter(Toy, fwk.PostFilterPlugin):
    def post_filter(self, state, pod, statuses):
        self.asked.append(self.name)
        return reply(self.answer, pod, statuses)


class PreScore(Toy, fwk.PreScorePlugin):
    def pre_score(self, state, pod, nodes):
        self.asked.append(nodes.names)
        return reply(self.answer, pod, nodes)


class Score(Toy, fwk.ScorePlugin):
    """``asked`` holds the names of the nodes, in the order they were scored."""

    def score(self, state, pod, node):
        self.asked.append(node.name)
        return reply(self.answer, pod, node)


class Normalizing(Score):
    """Has the raw scores scaled, or answered by ``normalized``."""

    normalized: Any = None

    def normalize_score(self, state, pod, scores, nodes):
        if self.normalized is not None:
            return reply(self.normalized, scores)
        return fwk.scale(scores)


class Reserve(Toy, fwk.ReservePlugin):
    """``asked`` holds ``("reserve", name)`` and ``("unreserve", name)``."""

    undo: Any = None

    def reserve(self, state, pod, node_name):
        self.asked.append(("reserve", self.name))
        return reply(self.answer, pod, node_name)

    def unreserve(self, state, pod, node_name):
        self.asked.append(("unreserve", self.name))
        return reply(self.undo, pod, node_name)


class Permit(Toy, fwk.PermitPlugin):
    def permit(self, state, pod, node_name):
        self.asked.append(("permit", self.name))
        return reply(self.answer, pod, node_name)


class PreBind(Toy, fwk.PreBindPlugin):
    """``flight`` answers the preflight; an async ``answer`` is awaited."""

    flight: Any = None

    def pre_bind_pre_flight(self, state, pod, node_name):
        return reply(self.flight, pod, node_name)

    async def pre_bind(self, state, pod, node_name):
        self.asked.append(self.name)
        return await _awaited(reply(self.answer, pod, node_name))


class Bind(Toy, fwk.BindPlugin):
    async def bind(self, state, pod, node_name):
        self.asked.append(self.name)
        return await _awaited(reply(self.answer, pod, node_name))


class PostBind(Toy, fwk.PostBindPlugin):
    async def post_bind(self, state, pod, node_name):
        self.asked.append(self.name)
        return reply(self.answer, pod, node_name)


async def _awaited(value: Any) -> Any:
    return await value if hasattr(value, "__await__") else value

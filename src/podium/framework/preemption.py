"""Preemption in two steps, so that extenders can be asked in between: a plugin proposes nodes with
their victims, then chooses among those that are left."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Generator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from podium.api.objects import Pod
from podium.errors import ExtenderError
from podium.framework.cycle_state import CycleState
from podium.framework.diagnosis import NodeStatuses
from podium.framework.plugin import PostFilterPlugin
from podium.framework.status import Nominate, Status
from podium.state.pod_info import PodInfo


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node, the pods to evict there from most to least important, and budgets this breaks."""

    node: str
    victims: tuple[PodInfo, ...]
    violations: int


Candidates: TypeAlias = Sequence[Candidate]
PostFilterAnswer: TypeAlias = tuple[Nominate | None, Status]


class Evicting:
    """Evictions that must have ended before PostFilter answers; ``answer`` is valid from then on.

    The driver of a cycle awaits ``run``. A cycle that cannot wait cannot use such a plugin.
    """

    answer: PostFilterAnswer

    def __init__(self, work: Awaitable[PostFilterAnswer]) -> None:
        self._work = work

    async def run(self) -> None:
        self.answer = await self._work


# Yields candidates and is sent those that extenders leave; what extenders raise is thrown into it.
# Yields evictions that its driver must await; what is sent then is ignored.
PostFiltering: TypeAlias = Generator[Candidates | Evicting, Candidates, PostFilterAnswer]


@dataclass(frozen=True, slots=True)
class Proposal:
    """Nodes that would do once their victims are gone; at least one."""

    candidates: Candidates


class PreemptionPlugin(PostFilterPlugin, ABC):
    """A PostFilter that makes room by evicting pods."""

    @abstractmethod
    def propose(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> Proposal | PostFilterAnswer:
        """Find candidates; without any, PostFilter's answer."""

    @abstractmethod
    def choose(self, pod: Pod, candidates: Candidates) -> PostFilterAnswer | Evicting:
        """Take one of the candidates, if extenders have left any, and evict its victims."""

    def post_filter(self, state: CycleState, pod: Pod, statuses: NodeStatuses) -> PostFilterAnswer:
        """Run both steps, without asking extenders in between."""
        return unasked(preempting(self, state, pod, statuses))


def preempting(
    plugin: PreemptionPlugin, state: CycleState, pod: Pod, statuses: NodeStatuses
) -> PostFiltering:
    """Run both steps as a generator, so that its driver can ask extenders in between."""
    found = plugin.propose(state, pod, statuses)
    if not isinstance(found, Proposal):
        return found
    try:
        left = yield found.candidates
    except ExtenderError as fault:
        return None, Status.error(f"preemption: {fault}")
    answer = plugin.choose(pod, left)
    if isinstance(answer, Evicting):
        yield answer
        return answer.answer
    return answer


def unasked(steps: PostFiltering) -> PostFilterAnswer:
    """Run to the end without asking extenders, and without waiting."""
    try:
        proposed = next(steps)
        while True:
            if isinstance(proposed, Evicting):
                raise RuntimeError("this preemption waits for its evictions: await run_extended")
            proposed = steps.send(proposed)
    except StopIteration as end:
        answer: PostFilterAnswer = end.value
        return answer

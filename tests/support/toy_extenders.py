"""Extenders in this process, for tests: they do what they are told and remember what was asked."""

import asyncio
from typing import Any

from podium import framework as fwk
from podium.cycle.extended import run_extended
from podium.cycle.extenders import Extenders
from tests.support.cycle import Scheduler
from tests.support.toys import reply


class ToyExtender(fwk.Extender):
    """``ToyExtender("X", filter=…)`` filters and does nothing else; answers are as those of toys.

    ``asked`` holds the call and what it was about, and may be shared by several.
    """

    def __init__(self, name: str = "X", *, log: Any = None, **answers: Any) -> None:
        self.name = name
        self.asked: list[Any] = [] if log is None else log
        self.weight = answers.pop("weight", 1)
        self.is_ignorable = answers.pop("ignorable", False)
        self.interested = answers.pop("interested", True)
        self.is_filter = "filter" in answers
        self.is_prioritizer = "prioritize" in answers
        self.is_binder = "bind" in answers
        self.supports_preemption = "preempt" in answers
        self.answers = answers

    def is_interested(self, pod):
        return reply(self.interested, pod)

    async def filter(self, pod, nodes):
        self.asked.append((self.name, "filter", nodes.names))
        answer = reply(self.answers["filter"], nodes.names)
        return fwk.Filtered(answer) if isinstance(answer, list) else answer

    async def prioritize(self, pod, nodes):
        if not self.is_prioritizer:
            return await super().prioritize(pod, nodes)
        self.asked.append((self.name, "prioritize", nodes.names))
        answer = reply(self.answers["prioritize"], nodes.names)
        return await answer if hasattr(answer, "__await__") else answer

    async def process_preemption(self, pod, candidates, cluster):
        self.asked.append((self.name, "preempt", [candidate.node for candidate in candidates]))
        return reply(self.answers["preempt"], candidates)

    async def bind(self, pod, node_name):
        self.asked.append((self.name, "bind", node_name))
        return reply(self.answers["bind"], node_name)


class Extended(Scheduler):
    """``Extended(ToyExtender("X", filter=["a"]), Filter("F"))``: extenders and plugins."""

    def __init__(self, *parts, parallelism=16, **rest):
        extenders = [part for part in parts if isinstance(part, ToyExtender)]
        plugins = (part for part in parts if part not in extenders)
        super().__init__(*plugins, extenders=Extenders(extenders, parallelism), **rest)

    def attempt(self, pod, attempt=1):
        outcome = asyncio.run(run_extended(self.cycle(pod, attempt)))
        self.cluster.check_invariants()
        return outcome

"""Preemption as a dry run: which pods would be evicted for a pod. Nothing is evicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from podium.api.objects import Pod
from podium.explain.amounts import holder, listed, plural
from podium.explain.attempts import Attempt
from podium.explain.reasons import meaning_of
from podium.explain.values import Preemption
from podium.framework.answers import AttemptFailed
from podium.framework.preemption import Candidate, PreemptionPlugin, Proposal
from podium.framework.status import Status
from podium.plugins.preemption import DefaultPreemption

NEVER: Final = "preemptionPolicy=Never"


@dataclass(frozen=True, slots=True)
class Preempted:
    """The chosen node with its victims, or the status that says why there is none."""

    candidate: Candidate | None
    status: Status | None = None
    tied: int = 1  # how many nodes are equally good; a hash of the pod decides


def preempt(attempt: Attempt) -> Preempted | None:
    """Ask the preemption plugin of the profile; ``None`` if it has none.

    ``attempt`` must be the latest one on its core, and must have found no node.
    """
    if attempt.profile is None or attempt.cycle is None or attempt.found is None:
        return None
    for plugin in attempt.profile.post_filters:
        if isinstance(plugin, PreemptionPlugin):
            return _ask(plugin, attempt)
    return None


def _ask(plugin: PreemptionPlugin, attempt: Attempt) -> Preempted:
    assert attempt.cycle is not None
    assert attempt.found is not None
    state = attempt.cycle.state.fork()
    try:
        found = plugin.propose(state, attempt.pod, attempt.found.statuses)
    except AttemptFailed as failure:
        return Preempted(None, failure.status)
    if not isinstance(found, Proposal):
        return Preempted(None, found[1])
    return _chosen(plugin, attempt.pod, found)


def _chosen(plugin: PreemptionPlugin, pod: Pod, found: Proposal) -> Preempted:
    if isinstance(plugin, DefaultPreemption):
        tied = len(plugin.evaluator.best(found.candidates))
        return Preempted(plugin.evaluator.choose(pod, found.candidates), None, tied)
    return Preempted(found.candidates[0])


def describe(pod: Pod, preempted: Preempted | None) -> Preemption | None:
    """Return what preemption can do for a pod, in plain words."""
    if preempted is None:
        return None
    chosen = preempted.candidate
    if chosen is not None:
        names = listed(info.key for info in chosen.victims)
        have = "has" if len(chosen.victims) == 1 else "have"
        text = (
            f"it evicts {names} on {chosen.node}, which {have} a lower priority than {pod.priority}"
        )
        if chosen.violations:
            budgets = plural(chosen.violations, "disruption budget")
            text += f"; this breaks {budgets}"
        victims = tuple(map(holder, chosen.victims))
        return Preemption(True, text, "", chosen.node, victims, chosen.violations, "Preempting")
    message = "" if preempted.status is None else preempted.status.message
    code = meaning_of("DefaultPreemption", message).code
    return Preemption(False, _why_not(pod, message), message, code=code)


def _why_not(pod: Pod, message: str) -> str:
    if NEVER in message:
        return "the pod does not preempt: its preemptionPolicy is Never"
    if "terminating pod" in message:
        return "it waits: pods that it has preempted are still leaving its nominated node"
    if "No preemption victims" in message:
        return f"no node would take it even without all pods of a priority below {pod.priority}"
    return f"evicting pods of a priority below {pod.priority} makes room on no node"

"""What keeps a pod from being tried at all: its gates, and a scheduler that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from podium.api.objects import Pod
from podium.errors import did_you_mean
from podium.explain.amounts import listed
from podium.explain.case import Case
from podium.explain.fixes.candidate import Candidate


def ungated(case: Case) -> Iterator[Candidate]:
    """Yield the pod without its scheduling gates."""
    if case.attempt.gate.plugin != "SchedulingGates":
        return
    gates = [gate.name for gate in case.pod.spec.scheduling_gates]
    text = f"remove the scheduling gate{'s' if len(gates) > 1 else ''} {listed(gates, most=9)}"
    yield Candidate("gate", text, _without_gates, details={"gates": gates})


def _without_gates(pod: Pod) -> Pod:
    return replace(pod, spec=replace(pod.spec, scheduling_gates=()))


def rescheduled(case: Case) -> Iterator[Candidate]:
    """Yield the schedulers that there are, the most similar name first."""
    if case.attempt.profile is not None:
        return
    wanted = case.pod.scheduler_name
    names = sorted(case.core.profiles, key=lambda name: (not did_you_mean(wanted, [name]), name))
    for name in names:
        text = f"use the scheduler {name} (schedulerName)"
        yield Candidate("scheduler-name", text, _Named(name), details={"schedulerName": name})


class _Named:
    """Rewrites a pod to use this scheduler."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, pod: Pod) -> Pod:
        return replace(pod, spec=replace(pod.spec, scheduler_name=self.name))

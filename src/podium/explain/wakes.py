"""What would make the queue try a rejected pod again, from the events that plugins register."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from podium.explain.values import Wake
from podium.framework.declared_kinds import REJECTING, registrations_of
from podium.framework.events import ClusterEvent, action_names
from podium.framework.profile import Profile

_SUBJECTS: Final = {
    "AssignedPod": "a pod on a node",
    "UnscheduledPod": "another pending pod",
    "TargetPod": "this pod",
    "Pod": "a pod",
    "*": "any object",
}
_ACTIONS: Final = {
    "Add": "is added",
    "Delete": "is deleted",
    "Update": "changes",
    "All": "is added, changes or is deleted",
    "UpdateNodeAllocatable": "offers other resources",
    "UpdateNodeLabel": "changes its labels",
    "UpdateNodeTaint": "changes its taints",
    "UpdateNodeCondition": "changes its conditions",
    "UpdateNodeAnnotation": "changes its annotations",
    "UpdateNodeDeclaredFeature": "declares other features",
    "UpdateNodePreemptionPolicy": "changes its preemption policy",
    "UpdatePodLabel": "changes its labels",
    "UpdatePodScaleDown": "requests less",
    "UpdatePodScaleUp": "requests more",
    "UpdatePodToleration": "gets another toleration",
    "UpdatePodSchedulingGatesEliminated": "has no scheduling gates any more",
    "UpdatePodGeneratedResourceClaim": "gets its resource claims",
}


def wakes(profile: Profile | None, plugins: Iterable[str]) -> tuple[Wake, ...]:
    """Return the events that the plugins which rejected a pod have registered."""
    if profile is None:
        return ()
    found: dict[tuple[str, str], set[str]] = {}
    wanted = set(plugins)
    everyone = {p.name: p for at_point in profile.plugins.values() for p in at_point}
    for name, plugin in everyone.items():
        if name in wanted and isinstance(plugin, REJECTING):
            for registration in registrations_of(plugin):
                for action in action_names(registration.event):
                    found.setdefault((registration.event.resource, action), set()).add(name)
    return tuple(_wake(*event, names) for event, names in sorted(found.items()))


def _wake(resource: str, action: str, plugins: set[str]) -> Wake:
    label = ClusterEvent.named(resource, action).label
    text = f"{_subject(resource)} {_ACTIONS.get(action, 'changes')}"
    return Wake(label, tuple(sorted(plugins)), text)


def _subject(resource: str) -> str:
    if resource in _SUBJECTS:
        return _SUBJECTS[resource]
    kind = resource.rpartition("/")[2]
    return f"{'an' if kind[:1] in 'AEIO' else 'a'} {kind}"

"""What the running scheduler knows about groups of pods: what they need, and where members are.

``introspection.py`` calls it. Two kinds are known: PodGroup of scheduling.k8s.io, whose members are
queued as one, and that of scheduling.x-k8s.io, which is read if the plugin Coscheduling is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from podium.api.objects import Pod
from podium.api.pod_groups import COSCHEDULING_LABEL, coscheduling_group_key
from podium.framework.queued_pod import QueuedPod
from podium.live import answer_values as values
from podium.queue.inspection import GroupInQueue, PodInQueue
from podium.queue.scheduling_queue import SchedulingQueue

BUILT_IN: Final = "PodGroup.scheduling.k8s.io"
LABELLED: Final = "PodGroup.scheduling.x-k8s.io"
MOST_MEMBERS: Final = 200  # of a group, by name
RESOURCE: Final = "podgroups.v1alpha1.scheduling.x-k8s.io"


class Lister(Protocol):
    """The objects of a kind that the state does not keep; for any thread."""

    def get(self, key: str) -> Mapping[str, Any] | None: ...


@dataclass(frozen=True, slots=True)
class GroupLook:
    """The groups with pods that wait, at one moment. Its method ``answer`` runs on any thread.

    ``lister`` has the groups of Coscheduling, ``labelled`` the keys of those with pods that wait.
    ``queues`` says where a pod waits that is not queued with its group; ``held`` which node a pod
    has that waits for Permit.
    """

    queued: Sequence[GroupInQueue]
    lister: Lister | None
    labelled: Sequence[str]
    queues: Mapping[str, str]
    held: Mapping[str, str]

    def answer(
        self, pods: Iterable[Pod], describe: Callable[[PodInQueue], values.QueuedPodState]
    ) -> Iterator[values.GroupState]:
        """Yield each group, given all known pods and how to describe where one is queued."""
        if not self.queued and not self.labelled:
            return
        own: dict[tuple[str, str], list[Pod]] = {(BUILT_IN, each.key): [] for each in self.queued}
        own |= {(LABELLED, key): [] for key in self.labelled}
        for pod in pods:
            for group in ((BUILT_IN, pod.group_key), (LABELLED, coscheduling_group_key(pod))):
                if group in own:
                    own[group].append(pod)
        for each in self.queued:
            members = own[BUILT_IN, each.key]
            yield self._group(each, members, describe)
        for key in self.labelled:
            yield self._labelled(key, own[LABELLED, key])

    def _group(
        self,
        group: GroupInQueue,
        pods: Sequence[Pod],
        describe: Callable[[PodInQueue], values.QueuedPodState],
    ) -> values.GroupState:
        where = "" if group.state is None else group.state.queue
        queues = dict.fromkeys(group.members, where)
        return values.GroupState(
            group=group.key,
            kind=BUILT_IN,
            wanted=group.wanted,
            size=len(pods),
            placed=_placed(pods),
            members=tuple(self._member(pod, queues) for pod in pods[:MOST_MEMBERS]),
            message=group.message,
            queued=None if group.state is None else describe(group.state),
        )

    def _labelled(self, key: str, pods: Sequence[Pod]) -> values.GroupState:
        found = None if self.lister is None else self.lister.get(key)
        spec = (found or {}).get("spec") or {}
        return values.GroupState(
            group=key,
            kind=LABELLED,
            wanted=int(spec.get("minMember") or 0),
            size=len(pods),
            placed=_placed(pods),
            members=tuple(self._member(pod, self.queues) for pod in pods[:MOST_MEMBERS]),
        )

    def _member(self, pod: Pod, queues: Mapping[str, str]) -> values.GroupMember:
        node = pod.node_name or self.held.get(pod.key, "")
        if pod.node_name:
            state = "ended" if pod.has_ended else "placed"
        elif pod.key in self.held:
            state = "waiting"
        else:
            state = queues.get(pod.key, "in flight")
        return values.GroupMember(pod=pod.key, state=state, node=node)


def look(
    queue: SchedulingQueue, held: Sequence[tuple[Pod, str]], lister: Lister | None, limit: int
) -> GroupLook:
    """Look at the groups, at most ``limit`` of each kind; call this on the scheduler's thread.

    ``held`` has the node of each pod that waits for Permit. ``lister`` is ``None`` where
    Coscheduling is not used; then the label that names its groups has no meaning.
    """
    queued = queue.inspection.groups(pod.group_key for pod, _ in held)[:limit]
    # Without Coscheduling this is not worth reading: there can be very many pods.
    labelled_alone = [] if lister is None else _labelled(queue.pods())
    waiting = [*(each.pod for each in labelled_alone), *(pod for pod, _ in held)]
    labelled = dict.fromkeys(filter(None, map(coscheduling_group_key, waiting)))
    return GroupLook(
        queued=queued,
        lister=lister,
        labelled=list(labelled)[:limit] if lister is not None else (),
        queues={each.key: queue.inspection.place_of(each).queue for each in labelled_alone},
        held={pod.key: node for pod, node in held},
    )


def _labelled(pods: Iterable[QueuedPod]) -> list[QueuedPod]:
    return [queued for queued in pods if COSCHEDULING_LABEL in queued.pod.labels]


def _placed(pods: Iterable[Pod]) -> int:
    return sum(bool(pod.node_name) for pod in pods)

"""Preemption by resources, written out for one node and one pod at a time.

Slow and plain: lists of pods, sums of dicts, no columns. It knows of no filter but resources.
"""

from dataclasses import dataclass

from podium.api.objects import parse_time
from podium.errors import InvalidTime
from podium.framework import PodInfo

RESOURCES = ("cpu", "memory", "example.com/gpu")


@dataclass
class Victims:
    names: list
    violations: int


class Model:
    """``budgets`` maps a label value of ``app`` to what is allowed. No pod has two budgets."""

    def __init__(self, pod, allocatable, nominated, budgets, now):
        self.pod = pod
        self.allocatable = allocatable
        self.ahead = [
            info for info in nominated if info.priority >= pod.priority and info.uid != pod.uid
        ]
        self.budgets = budgets
        self.now = now

    def victims(self, infos):
        """Return the victims on a node with these pods; ``None`` if it is not a candidate."""
        lower = [info for info in infos if info.priority < self.pod.priority]
        kept = [info for info in infos if info.priority >= self.pod.priority]
        if not lower or not self.fits(kept):
            return None
        lower.sort(key=self.importance)
        breaking = self.breaking(lower)
        order = [i for i in lower if i.uid in breaking] + [
            i for i in lower if i.uid not in breaking
        ]
        victims = []
        for info in order:
            if self.fits([*kept, info]):
                kept.append(info)
            else:
                victims.append(info)
        victims.sort(key=self.importance)
        violations = sum(info.uid in breaking for info in victims)
        return Victims([info.pod.name for info in victims], violations)

    def fits(self, infos):
        return self.has_room(infos) and self.has_room([*infos, *self.ahead])

    def has_room(self, infos):
        if len(infos) + 1 > self.allocatable["pods"]:
            return False
        wanted = request_of(self.pod)
        return all(
            not wanted[name]
            or wanted[name]
            <= self.allocatable.get(name, 0) - sum(i.requests.get(name, 0) for i in infos)
            for name in RESOURCES
        )

    def breaking(self, infos):
        left, found = dict(self.budgets), set()
        for info in infos:
            app = info.pod.labels.get("app")
            if app in left:
                left[app] -= 1
                if left[app] < 0:
                    found.add(info.uid)
        return found

    def importance(self, info):
        text = info.pod.status.start_time
        try:
            return -info.priority, parse_time(text) if text else self.now
        except InvalidTime:
            return -info.priority, 0


def request_of(pod):
    requests = PodInfo(pod).requests
    return {name: requests.get(name, 0) for name in RESOURCES}

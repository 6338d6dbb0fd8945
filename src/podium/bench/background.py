"""What happens in a run between its scheduling cycles: churn, and pods that are deleted by and by.

Both follow the clock of the run, which moves with every placed pod.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from podium.api.objects import ApiObject, Pod
from podium.bench.ops import Churn
from podium.bench.scheduling import Scheduling
from podium.bench.templates import Template


class Churning:
    """Creates an object of each template per interval; ``recreate`` also deletes them in turn."""

    def __init__(
        self,
        scheduling: Scheduling,
        op: Churn,
        templates: Sequence[Template],
        serials: Iterator[int],
    ) -> None:
        self._scheduling = scheduling
        self._op = op
        self._templates = templates
        self._serials = serials
        self._ticks = 0
        self._existing: dict[int, list[ApiObject]] = {}  # by index, for ``recreate``

    def start(self) -> None:
        seconds = self._op.interval_milliseconds / 1_000
        self._scheduling.clock.call_later(seconds, self._tick)

    def _tick(self) -> None:
        if self._op.mode == "recreate":
            self._recreate(self._ticks % self._op.number)
        else:
            self._create()
        self._ticks += 1
        if self._op.mode == "recreate" or self._ticks != self._op.number:
            self.start()

    def _recreate(self, index: int) -> None:
        existing = self._existing.pop(index, None)
        if existing is None:
            self._existing[index] = self._create()
            return
        for obj in existing:
            self._scheduling.delete(obj)

    def _create(self) -> list[ApiObject]:
        serials, namespace = self._serials, self._op.namespace
        made = [template.build(next(serials), namespace) for template in self._templates]
        for obj in made:
            self._scheduling.put(obj)
        return made


class Deletions:
    """Deletes pods at a rate. ``are_over`` tells whether there are any left to delete."""

    def __init__(self, scheduling: Scheduling) -> None:
        self._scheduling = scheduling
        self._running = 0

    @property
    def are_over(self) -> bool:
        return not self._running

    def start(self, pods: Sequence[Pod], per_second: int) -> None:
        if pods:
            self._running += 1
            self._delete_next(iter(pods), 1 / per_second)

    def _delete_next(self, pods: Iterator[Pod], seconds: float) -> None:
        def tick() -> None:
            pod = next(pods, None)
            if pod is None:
                self._running -= 1
            else:
                self._scheduling.delete(pod)
                self._delete_next(pods, seconds)

        self._scheduling.clock.call_later(seconds, tick)

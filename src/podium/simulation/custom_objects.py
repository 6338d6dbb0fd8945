"""What plugins read beside the state: objects of custom kinds, and all pods as they change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from podium.api.objects import Pod
from podium.framework.handle import PodHandler
from podium.scheduler_plugins.capacity_scheduling.quotas import RESOURCE as ELASTIC_QUOTAS
from podium.scheduler_plugins.coscheduling.pod_groups import RESOURCE as LABELLED_GROUPS
from podium.simulation.kinds import OtherObject

# The custom kinds that plugins of podium read, by the full names that these use.
CUSTOM_KINDS: Final = {
    LABELLED_GROUPS: "scheduling.x-k8s.io/PodGroup",
    ELASTIC_QUOTAS: "scheduling.x-k8s.io/ElasticQuota",
}


class CustomObjects:
    """The objects of one custom kind as plain dicts, as they are when they are asked for."""

    def __init__(self, read: Callable[[str], Mapping[str, OtherObject]], kind: str) -> None:
        self._read = read
        self._kind = kind

    def get(self, key: str) -> Mapping[str, Any] | None:
        found = self._read(self._kind).get(key)
        return None if found is None else found.content

    def objects(self) -> Iterator[Mapping[str, Any]]:
        return iter([each.content for each in self._read(self._kind).values()])


class PodFollowers:
    """The handlers of plugins that follow all pods."""

    def __init__(self) -> None:
        self._handlers: list[PodHandler] = []

    def add(self, handler: PodHandler) -> Callable[[], None]:
        """Call this handler from now on; return how to stop that."""
        self._handlers.append(handler)
        return lambda: self._handlers.remove(handler)

    def __bool__(self) -> bool:
        return bool(self._handlers)

    def tell(self, old: Pod | None, new: Pod | None) -> None:
        """Report a change of a pod.

        Only a fork that is left takes a pod off its node. To plugins it is then another pod.
        """
        if old is not None and new is not None and old.node_name and not new.node_name:
            self.tell(old, None)
            old = None
        if old is not None or new is not None:
            for handler in self._handlers:
                handler(old, new)

"""What keeps informers from their work, told once and not with every try."""

from __future__ import annotations

from typing import Any, Final

from podium.client.resources import Resource
from podium.errors import Forbidden, NotFound, PodiumError, Unauthorized
from podium.logs import get_logger

log = get_logger(__name__)

REMEDY: Final = "grant the rights of ClusterRole system:kube-scheduler to this user"


class Troubles:
    """Of all kinds that are followed over one connection: what many suffer from is told once."""

    def __init__(self) -> None:
        self._kinds_by_message: dict[str, set[str]] = {}

    def begin(self, kind: str, error: PodiumError) -> bool:
        """Whether this kind is the first to suffer from it."""
        kinds = self._kinds_by_message.setdefault(str(error), set())
        kinds.add(kind)
        return len(kinds) == 1

    def end(self, kind: str, error: PodiumError) -> bool:
        """Whether this kind was the last to suffer from it."""
        kinds = self._kinds_by_message[str(error)]
        kinds.remove(kind)
        if not kinds:
            del self._kinds_by_message[str(error)]
        return not kinds


class Trouble:
    """Of one kind; ``error`` is None while all is well."""

    def __init__(self, resource: Resource[Any], shared: Troubles) -> None:
        self._resource = resource
        self._shared = shared
        self.error: PodiumError | None = None

    @property
    def is_lasting(self) -> bool:
        """Whether only a person can end it, and podium works without the kind meanwhile."""
        return not self._resource.needed and isinstance(self.error, Forbidden | NotFound)

    def begin(self, error: PodiumError, verb: str) -> None:
        """Another error of the same sort is not told again, nor one that other kinds have told."""
        before, self.error = self.error, error
        if before is not None:
            self._shared.end(self._resource.name, before)
        is_first = self._shared.begin(self._resource.name, error)
        told = {"kind": self._resource.name, "verb": verb, "why": str(error)}
        if type(before) is type(error) or not is_first:
            log.debug("still not followed", **told)
        elif self.is_lasting:
            log.warning("optional kind not followed", **told, without=self._resource.without)
        elif isinstance(error, Forbidden):
            log.misuse("kind not followed", **told, remedy=REMEDY)
        elif isinstance(error, Unauthorized):
            log.misuse("kind not followed", **told)
        else:
            log.warning("kind not followed", **told)

    def end(self) -> None:
        if self.error is not None:
            if self._shared.end(self._resource.name, self.error):
                log.info("kind followed again", kind=self._resource.name)
            self.error = None

"""What keeps an informer from its work, told once and not with every try."""

from __future__ import annotations

from typing import Any

from podium.client.resources import Resource
from podium.errors import Forbidden, NotFound, PodiumError, Unauthorized
from podium.logs import get_logger

log = get_logger(__name__)


class Trouble:
    """Of one kind; ``error`` is None while all is well."""

    def __init__(self, resource: Resource[Any]) -> None:
        self._resource = resource
        self.error: PodiumError | None = None

    @property
    def is_lasting(self) -> bool:
        """Whether only a person can end it, and podium works without the kind meanwhile."""
        return not self._resource.needed and isinstance(self.error, Forbidden | NotFound)

    def begin(self, error: PodiumError, verb: str) -> None:
        """To be called while the error is handled; another one of its sort is not told again."""
        before, self.error = self.error, error
        told = {"kind": self._resource.name, "verb": verb, "why": str(error)}
        if type(before) is type(error):
            log.debug("still not followed", **told)
        elif self.is_lasting:
            log.warning("optional kind not followed", **told, without=self._resource.without)
        elif isinstance(error, Forbidden | Unauthorized):
            log.error("kind not followed", **told)
        else:
            log.warning("kind not followed", **told)

    def end(self) -> None:
        if self.error is not None:
            log.info("kind followed again", kind=self._resource.name)
            self.error = None

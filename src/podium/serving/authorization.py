"""What the sender of a request may do: the rules of kube-scheduler, in its order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from podium.clock import Clock
from podium.serving.expiring_cache import ExpiringCache
from podium.serving.options import AuthorizationOptions
from podium.serving.reviews import AccessStatus, Reviews
from podium.serving.users import MASTERS, User

# As upstream: longer questions are not cached, because they could be used to fill the memory.
MOST_KEPT_CHARACTERS: Final = 10_000


class Decision(NamedTuple):
    """Whether a request is allowed; ``reason`` is the API server's."""

    is_allowed: bool
    reason: str = ""


class Authorizer:
    """Decides about requests; without ``reviews`` only masters and open paths are allowed."""

    def __init__(
        self, clock: Clock, options: AuthorizationOptions, reviews: Reviews | None
    ) -> None:
        self._is_open = OpenPaths(options.open_paths)
        self._reviews = reviews
        self._answers = ExpiringCache[AccessStatus](
            clock,
            lambda status: options.allowed_seconds if status.allowed else options.denied_seconds,
        )

    async def decide(self, user: User, verb: str, path: str) -> Decision:
        """Decide about a request; raise ``ApiError`` if the API server cannot be asked."""
        if MASTERS in user.groups or path in self._is_open:
            return Decision(True)
        if self._reviews is None:
            return Decision(False)
        reviews = self._reviews
        key = (user.name, user.uid, user.groups, tuple(user.extra.items()), verb, path)
        if len(repr(key)) > MOST_KEPT_CHARACTERS:
            status = await reviews.access_of(user, verb, path)
        else:
            status = await self._answers.get(key, lambda: reviews.access_of(user, verb, path))
        return Decision(status.allowed and not status.denied, status.reason)


class OpenPaths:
    """Paths that need no authorization; one that ends in ``*`` stands for all that begin so."""

    def __init__(self, patterns: Sequence[str]) -> None:
        slashed = [f"/{each.removeprefix('/')}" for each in patterns if each]
        self._paths = {each for each in slashed if not each.endswith("*")}
        self._prefixes = tuple(each[:-1] for each in slashed if each.endswith("*"))

    def __contains__(self, path: str) -> bool:
        return path in self._paths or (bool(self._prefixes) and path.startswith(self._prefixes))

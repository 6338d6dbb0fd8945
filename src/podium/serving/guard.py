"""Lets requests through to the endpoints of the secure port, or refuses them."""

from __future__ import annotations

from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from podium.clock import Clock
from podium.errors import ApiError
from podium.logs import get_logger
from podium.serving import statuses
from podium.serving.authentication import Authenticator, Unauthenticated
from podium.serving.authorization import Authorizer

log = get_logger(__name__)

REPORT_SECONDS: Final = 60.0
MOST_REPORTED: Final = 10


class Guard:
    """Authenticates and authorizes each request before an endpoint sees it."""

    def __init__(self, clock: Clock, authenticator: Authenticator, authorizer: Authorizer) -> None:
        self._clock = clock
        self._authenticator = authenticator
        self._authorizer = authorizer
        # When each problem was last logged, oldest first: clients choose how often they fail.
        self._reported: dict[tuple[str, str], float] = {}

    def middleware(self) -> Middleware:
        @web.middleware
        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._refusal(request) or await handler(request)

        return guarded

    async def _refusal(self, request: web.Request) -> web.Response | None:
        """Return the answer to a request that is not allowed; None lets it through."""
        try:
            user = await self._authenticator.identify(request)
        except Unauthenticated as why:
            self._report("Unable to authenticate a request", str(why))
            return statuses.unauthorized(request)
        try:
            decision = await self._authorizer.decide(user, request.method.lower(), request.path)
        except ApiError as error:
            self._report("Unable to authorize a request; it is refused", str(error))
            return statuses.internal_error(request, str(error))
        if decision.is_allowed:
            return None
        log.v(4, "Forbidden", user=user.name, path=request.path, reason=decision.reason)
        return statuses.forbidden(request, user.name, decision.reason)

    def _report(self, event: str, why: str) -> None:
        """Log a problem, but one of a kind at most once a minute, and not too many kinds."""
        now, reported = self._clock.now(), self._reported
        while reported and next(iter(reported.values())) <= now - REPORT_SECONDS:
            del reported[next(iter(reported))]
        if (event, why) in reported or len(reported) == MOST_REPORTED:
            log.v(4, event, why=why)
        else:
            reported[event, why] = now
            log.warning(event, why=why)

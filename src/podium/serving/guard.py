"""Lets requests through to the endpoints of the secure port, or refuses them."""

from __future__ import annotations

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from podium.clock import Clock
from podium.errors import ApiError
from podium.logs import get_logger
from podium.serving import statuses
from podium.serving.authentication import Authenticator, Unauthenticated
from podium.serving.authorization import Authorizer
from podium.serving.problem_log import ProblemLog

log = get_logger(__name__)


class Guard:
    """Authenticates and authorizes each request before an endpoint sees it."""

    def __init__(self, clock: Clock, authenticator: Authenticator, authorizer: Authorizer) -> None:
        self._authenticator = authenticator
        self._authorizer = authorizer
        self._problems = ProblemLog(clock, log)

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
            self._problems.report("Unable to authenticate a request", str(why))
            return statuses.unauthorized(request)
        try:
            decision = await self._authorizer.decide(user, request.method.lower(), request.path)
        except ApiError as error:
            self._problems.report("Unable to authorize a request; it is refused", str(error))
            return statuses.internal_error(request, str(error))
        if decision.is_allowed:
            return None
        log.v(4, "Forbidden", user=user.name, path=request.path, reason=decision.reason)
        return statuses.forbidden(request, user.name, decision.reason)

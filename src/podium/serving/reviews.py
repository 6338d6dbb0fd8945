"""Questions that the API server answers: whose token is this, and may this user do that?

A question that fails is asked again, as upstream does it; an answer that cannot be read counts as
a failure. Nobody is let in because of a failure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec

from podium.client.http import Connection, Request
from podium.client.pacing import Retries
from podium.clock import Deadline
from podium.errors import ApiError, TooManyRequests, Unreachable
from podium.serving.users import User

TOKEN_REVIEWS: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
ACCESS_REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
LIMIT_SECONDS: Final = 10.0
RETRIES: Final = Retries(tries=5, first_seconds=0.5, factor=1.5, jitter=0.2)

Json = dict[str, Any]
S = TypeVar("S")


class _UserInfo(msgspec.Struct):
    username: str = ""
    uid: str = ""
    groups: list[str] = []
    extra: dict[str, list[str]] = {}


class _TokenStatus(msgspec.Struct):
    authenticated: bool = False
    user: _UserInfo = msgspec.field(default_factory=_UserInfo)
    error: str = ""


class _TokenReview(msgspec.Struct):
    kind: str
    status: _TokenStatus


class AccessStatus(msgspec.Struct, frozen=True, rename="camel"):
    """Whether a request is allowed, and why."""

    allowed: bool
    denied: bool = False
    reason: str = ""


class _AccessReview(msgspec.Struct):
    kind: str
    status: AccessStatus


class Reviews:
    """Asks one API server."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def user_of(self, token: str) -> User | None:
        """Return whose token this is, or None if the API server does not know it."""
        answer = await self._ask(TOKEN_REVIEWS, "TokenReview", {"token": token}, _TokenReview)
        found = answer.status.user
        if not answer.status.authenticated or not found.username:
            return None
        extra = {key: tuple(values) for key, values in found.extra.items()}
        return User(found.username, found.uid, tuple(found.groups), extra)

    async def access_of(self, user: User, verb: str, path: str) -> AccessStatus:
        spec: Json = {
            "nonResourceAttributes": {"path": path, "verb": verb},
            "user": user.name,
            "groups": list(user.groups),
            "uid": user.uid,
            "extra": _lists(user.extra),
        }
        kind = "SubjectAccessReview"
        return (await self._ask(ACCESS_REVIEWS, kind, spec, _AccessReview)).status

    async def _ask(self, path: str, kind: str, spec: Json, answer: type[S]) -> S:
        group = path.split("/")[2]
        body = {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {}, "spec": spec}
        # In ASCII: headers may hold bytes that are not text, which UTF-8 cannot express.
        request = Request("POST", path, json.dumps(body).encode())
        try:
            async with Deadline(self._connection.clock, LIMIT_SECONDS):
                return _decoded(kind, await self._send(request), answer)
        except TimeoutError as error:
            raise Unreachable(f"no answer to a {kind} within {LIMIT_SECONDS:g} s") from error

    async def _send(self, request: Request) -> bytes:
        connection = self._connection
        return await RETRIES.run(connection.clock, lambda: connection.send(request), _may_pass)


def _may_pass(error: ApiError) -> bool:
    return isinstance(error, Unreachable | TooManyRequests) or error.code >= 500


def _decoded(kind: str, body: bytes, answer: type[S]) -> S:
    try:
        found = msgspec.json.decode(body, type=answer)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise ApiError(f"the answer to a {kind} cannot be read: {error}") from error
    if getattr(found, "kind", "") != kind:
        raise ApiError(f"the answer to a {kind} is something else")
    return found


def _lists(extra: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    return {key: list(values) for key, values in extra.items()}

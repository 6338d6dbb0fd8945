"""Answers to HTTP requests as JSON, errors too."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from aiohttp import web

from podium.live.answer_values import Failure


class Refused(Exception):
    """Raised in the handler of a request to answer it with an error."""

    def __init__(
        self, status: int, error: str, hint: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(error)
        self.status = status
        self.failure = Failure(error=error, hint=hint)
        self.headers = headers

    def response(self) -> web.Response:
        return json_response(self.failure, self.status, self.headers)


def json_response(
    value: msgspec.Struct, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    body = msgspec.json.encode(value)
    return web.Response(status=status, body=body, content_type="application/json", headers=headers)


def internal_failure() -> web.Response:
    """Return the answer after a fault of ours, which the caller logs."""
    return json_response(Failure(error="podium failed; its log has the traceback"), 500)

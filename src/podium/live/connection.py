"""A connection of a server: what it answers to bytes that are not an HTTP request."""

from __future__ import annotations

from typing import Final

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError, LineTooLong

from podium.logs import get_logger
from podium.serving import statuses

log = get_logger(__name__)

_TOO_LONG: Final = "400 Bad Request: the path or a header is longer than 8 KiB\n"
_UNREADABLE: Final = "400 Bad Request\n"
_NAME: Final = "podium"  # without a name of ours, aiohttp sends its version and Python's


class Connection(web.RequestHandler):
    """Refuses what is not a request in a few words.

    Anyone can send that, as often as they like. aiohttp would log a traceback each time, and answer
    with parts of what was sent.
    """

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if not isinstance(exc, HttpProcessingError):
            return super().handle_error(request, status, exc, message)
        log.v(4, "not an HTTP request", why=exc.message)
        response = statuses.plain(400, _TOO_LONG if isinstance(exc, LineTooLong) else _UNREADABLE)
        response.headers["Server"] = _NAME
        response.force_close()
        return response


def connect(server: web.Server) -> web.RequestHandler:
    """Return the handler of a new connection."""
    made = server()
    made.__class__ = Connection  # aiohttp offers no way to choose the class
    return made

"""Turns a refusal of the API, a `Status` and its HTTP code, into one of podium's errors."""

from __future__ import annotations

from typing import Final

import msgspec

from podium.errors import (
    ApiError,
    Conflict,
    Forbidden,
    Gone,
    NotFound,
    TooManyRequests,
    Unauthorized,
)

_BY_CODE: Final[dict[int, type[ApiError]]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    429: TooManyRequests,
}
_SHOWN_CHARACTERS = 300


class Status(msgspec.Struct):
    """The body of a refusal, and the object of a watch's ERROR event."""

    kind: str = ""
    message: str = ""
    reason: str = ""
    code: int = 0


def error_of(code: int, body: bytes) -> ApiError:
    """Return the error for an answer; its message is the server's own where it sent one."""
    status = read_status(body)
    if status.message:
        return of_status(status, code)
    text = body.decode(errors="replace").strip()[:_SHOWN_CHARACTERS]
    shown = text if text.isprintable() else repr(text)  # some bytes would control a terminal
    return of_status(Status(message=f"the server answered {code}: {shown or 'nothing'}"), code)


def of_status(status: Status, code: int = 0) -> ApiError:
    code = code or status.code
    message = status.message or f"the server reports an error without a message, code {code}"
    return _BY_CODE.get(code, ApiError)(message, code, status.reason)


def read_status(body: bytes | msgspec.Raw) -> Status:
    """Decode a status; return an empty one for anything else, such as the page of a proxy."""
    try:
        found = msgspec.json.decode(body, type=Status)
    except (msgspec.MsgspecError, UnicodeError):
        return Status()
    return found if found.kind == "Status" else Status()

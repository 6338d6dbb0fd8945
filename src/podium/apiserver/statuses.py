"""All refusals of the API server: exceptions that become a Kubernetes ``Status``.

Codes, reasons and messages are those of kube-apiserver, since clients rely on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from podium.errors import PodiumError

Json = dict[str, Any]

NOT_FOUND = "NotFound"
ALREADY_EXISTS = "AlreadyExists"
CONFLICT = "Conflict"
INVALID = "Invalid"
BAD_REQUEST = "BadRequest"
EXPIRED = "Expired"
FORBIDDEN = "Forbidden"
TOO_MANY_REQUESTS = "TooManyRequests"

MEDIA_TYPES = (
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
)

_MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


class Cause(NamedTuple):
    """One thing wrong with one field."""

    reason: str  # FieldValueRequired, FieldValueInvalid, …
    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"

    def to_json(self) -> Json:
        return {"reason": self.reason, "message": self.message, "field": self.field}


class Refusal(PodiumError):
    """A refused request; ``to_json`` is the body of the answer."""

    def __init__(self, code: int, reason: str, message: str, details: Json | None = None) -> None:
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.list_meta: Json = {}
        self.warnings: tuple[str, ...] = ()
        super().__init__(message)

    def to_json(self) -> Json:
        status: Json = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": self.list_meta,
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = self.details
        return {**status, "code": self.code}

    @property
    def retry_after(self) -> int:
        return int((self.details or {}).get("retryAfterSeconds", 0))


class Subject(NamedTuple):
    """The object that a refusal is about, as its details name it."""

    resource: str  # as in messages: "deployments.apps"
    name: str

    def details(self) -> Json:
        plural, _, group = self.resource.partition(".")
        found: Json = {"name": self.name} if self.name else {}
        if group:
            found["group"] = group
        return {**found, "kind": plural}


def success(details: Json) -> Json:
    """Return the answer to a deletion after which there is no object to show."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    }


def not_found(resource: str, name: str) -> Refusal:
    about = Subject(resource, name)
    return Refusal(404, NOT_FOUND, f'{resource} "{name}" not found', about.details())


def no_such_path() -> Refusal:
    message = "the server could not find the requested resource"
    return Refusal(404, NOT_FOUND, message, {})


def already_exists(resource: str, name: str) -> Refusal:
    about = Subject(resource, name)
    return Refusal(409, ALREADY_EXISTS, f'{resource} "{name}" already exists', about.details())


def conflict(resource: str, name: str, why: str = _MODIFIED) -> Refusal:
    about = Subject(resource, name)
    message = f'Operation cannot be fulfilled on {resource} "{name}": {why}'
    return Refusal(409, CONFLICT, message, about.details())


def apply_conflict(message: str, causes: Sequence[Json]) -> Refusal:
    return Refusal(409, CONFLICT, message, {"causes": list(causes)})


def invalid(kind: str, group: str, name: str, causes: Sequence[Cause]) -> Refusal:
    """Return the 422 for an object that is well formed and not allowed."""
    texts = [str(cause) for cause in causes]
    why = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    qualified = f"{kind}.{group}" if group else kind
    details: Json = {"name": name} if name else {}
    if group:
        details["group"] = group
    details |= {"kind": kind, "causes": [cause.to_json() for cause in causes]}
    return Refusal(422, INVALID, f'{qualified} "{name}" is invalid: {why}', details)


def bad_request(message: str) -> Refusal:
    return Refusal(400, BAD_REQUEST, message)


def forbidden(resource: str, name: str, why: str) -> Refusal:
    about = Subject(resource, name)
    message = f'{resource} "{name}" is forbidden: {why}'
    return Refusal(403, FORBIDDEN, message, about.details())


def unauthorized() -> Refusal:
    return Refusal(401, "Unauthorized", "Unauthorized")


def expired(message: str) -> Refusal:
    """Return the 410 for a version that has left the history; the client lists again."""
    return Refusal(410, EXPIRED, message)


def too_old(requested: int, oldest: int) -> Refusal:
    return expired(f"too old resource version: {requested} ({oldest})")


def too_new(requested: int, current: int) -> Refusal:
    """Return the 504 for a version that does not exist yet; clients retry it."""
    message = f"Timeout: Too large resource version: {requested}, current: {current}"
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    return Refusal(504, "Timeout", message, {"causes": [cause], "retryAfterSeconds": 1})


def method_not_allowed() -> Refusal:
    message = "the server does not allow this method on the requested resource"
    return Refusal(405, "MethodNotAllowed", message, {})


def unsupported_media_type() -> Refusal:
    message = (
        "the body of the request was in an unknown format - "
        f"accepted media types include: {', '.join(MEDIA_TYPES)}"
    )
    return Refusal(415, "UnsupportedMediaType", message)


def unsupported_patch_type(accepted: Sequence[str] = ()) -> Refusal:
    if accepted:
        message = (
            "the body of the request was in an unknown format - "
            f"accepted media types include: {', '.join(accepted)}"
        )
        return Refusal(415, "UnsupportedMediaType", message)
    return Refusal(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})


def not_acceptable() -> Refusal:
    message = f"406: Not Acceptable\n\nAvailable representations: {', '.join(MEDIA_TYPES)}"
    return Refusal(406, "NotAcceptable", message, {})


def too_large(limit: int) -> Refusal:
    message = f"Request entity too large: limit is {limit}"
    return Refusal(413, "RequestEntityTooLarge", message)


def too_many_requests(message: str, causes: Sequence[Json] = (), retry: int = 0) -> Refusal:
    details: Json = {"causes": list(causes)} if causes else {}
    if retry:
        details["retryAfterSeconds"] = retry
    return Refusal(429, TOO_MANY_REQUESTS, message, details)


def required(field: str, detail: str = "") -> Cause:
    message = f"Required value: {detail}" if detail else "Required value"
    return Cause("FieldValueRequired", field, message)


class Omitted:
    """A value that a message leaves out."""


OMITTED = Omitted()


def bad_value(field: str, value: Any, detail: str) -> Cause:
    return Cause("FieldValueInvalid", field, f"{_with_value('Invalid value', value)}: {detail}")


def unsupported(field: str, value: Any, supported: Sequence[str]) -> Cause:
    listed = ", ".join(map(quoted, supported))
    message = f"Unsupported value: {_shown(value)}: supported values: {listed}"
    return Cause("FieldValueNotSupported", field, message)


def too_long(field: str, limit: int) -> Cause:
    message = f"Too long: may not be more than {limit} bytes"
    return Cause("FieldValueTooLong", field, message)


def too_many(field: str, count: int, most: int) -> Cause:
    items = "item" if most == 1 else "items"
    message = f"Too many: {count}: must have at most {most} {items}"
    return Cause("FieldValueTooMany", field, message)


def duplicate(field: str, value: Any) -> Cause:
    return Cause("FieldValueDuplicate", field, _with_value("Duplicate value", value))


def not_listed(field: str, value: Any, detail: str) -> Cause:
    return Cause("FieldValueNotFound", field, f"Not found: {_shown(value)}: {detail}")


def not_allowed(field: str, detail: str) -> Cause:
    return Cause("FieldValueForbidden", field, f"Forbidden: {detail}")


def internal(field: str, detail: str) -> Cause:
    return Cause("InternalError", field, f"Internal error: {detail}")


def _with_value(what: str, value: Any) -> str:
    return what if isinstance(value, Omitted) else f"{what}: {_shown(value)}"


def _shown(value: Any) -> str:
    """Return a value as Go prints it in messages: quoted text, lower-case booleans."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case None:
            return "null"
        case list() | dict():
            return msgspec.json.encode(value).decode()
        case _:
            return str(value)


_ESCAPED = str.maketrans(
    {
        '"': '\\"',
        "\\": "\\\\",
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
    }
)


def quoted(text: str) -> str:
    """Quote a text as Go's ``%q`` does."""
    found = text.translate(_ESCAPED)
    if not found.isprintable():
        found = "".join(one if one.isprintable() else _code_point(ord(one)) for one in found)
    return f'"{found}"'


def _code_point(number: int) -> str:
    if number < 0x80:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"

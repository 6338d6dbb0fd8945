"""Refusals as Kubernetes writes them: a Status in JSON, or a line of text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from aiohttp import web

HEADERS: Final = {
    "Cache-Control": "no-cache, private",
    "X-Content-Type-Options": "nosniff",
}
_PEOPLE: Final = ("curl", "Wget", "Mozilla/5.0")  # they get an indented Status


def unauthorized(request: web.Request) -> web.Response:
    return _status(401, "Unauthorized", "Unauthorized", is_indented=_is_for_people(request))


def forbidden(request: web.Request, user: str, reason: str) -> web.Response:
    verb, path = request.method.lower(), request.path
    what = f"User {_quoted(user)} cannot {verb} path {_quoted(path)}"
    message = f"forbidden: {_escaped(what)}{f': {reason}' if reason else ''}"
    return _status(403, "Forbidden", message, is_indented=_is_for_people(request))


def not_acceptable(types: Sequence[str], *, is_indented: bool) -> web.Response:
    message = f"only the following media types are accepted: {', '.join(types)}"
    return _status(406, "NotAcceptable", message, is_indented=is_indented)


def internal_error(request: web.Request, why: str) -> web.Response:
    text = f"Internal Server Error: {_quoted(request.raw_path)}: {why}"
    return plain(500, f"{_escaped(text)}\n")


def not_found() -> web.Response:
    return plain(404, "404 page not found\n")


def plain(code: int, text: str) -> web.Response:
    return web.Response(status=code, text=text, headers=HEADERS)


def _status(code: int, reason: str, message: str, *, is_indented: bool) -> web.Response:
    body: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        **({"details": {}} if code == 403 else {}),
        "code": code,
    }
    encoded = msgspec.json.encode(body)
    text = msgspec.json.format(encoded) if is_indented else encoded + b"\n"
    headers = {**HEADERS, "Content-Type": "application/json"}
    return web.Response(status=code, body=text, headers=headers)


def _is_for_people(request: web.Request) -> bool:
    wish = request.query.get("pretty")
    if wish is not None:
        return wish in ("1", "t", "T", "true", "TRUE", "True", "")
    return request.headers.get("User-Agent", "").startswith(_PEOPLE)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _escaped(text: str) -> str:
    """Keep browsers from taking a refusal for HTML; what is not text becomes a question mark."""
    text = text.encode(errors="replace").decode()
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

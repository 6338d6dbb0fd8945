"""Who may see the dashboard: a browser with a session, or a program with a token.

On plain HTTP, which is served on loopback only, a session comes from a link that works once. On the
secure port it comes from a bearer token, and every request is judged by the guard of that port as
if it had sent this token: rights that are taken away end the session, too.
"""

from __future__ import annotations

import hashlib
import secrets
from base64 import b64encode
from collections import OrderedDict
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from podium.dashboard.links import ROOT, Tokens
from podium.serving.authentication import bearer_token

SIGN_IN: Final = f"{ROOT}sign-in"
MOST_SESSIONS: Final = 100
SESSION_SECONDS: Final = 7 * 24 * 3600
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_OWN_REQUESTS: Final = ("same-origin", "none")
# Where the sign-in page says why signing in has failed, and what it says.
_REFUSED_HERE: Final = b"<!-- refused -->"
_LINK_REFUSED: Final = "This link was already used, is older than a day, or is of another cluster."
_TOKEN_REFUSED: Final = "This token was not accepted, or its user may not get /dashboard/*."
_NO_TOKENS: Final = "On this port only links are accepted, no tokens."
# Nothing from elsewhere, nothing inline, no frames; scripts cannot turn text into markup.
_ALWAYS: Final = (
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    f"{_ALWAYS}"
)
HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class SignIn:
    """Stands before the dashboard; other paths go to the port's own guard.

    ``page`` is the page that asks for a link or a token.
    """

    def __init__(self, tokens: Tokens, page: bytes) -> None:
        self._tokens = tokens
        self._page = page
        self._headers = {**HEADERS, "Content-Security-Policy": _policy_of(page)}
        self._sessions: OrderedDict[str, str] = OrderedDict()  # the bearer token of each, or ""

    def guarded(self, guard: Middleware | None) -> Middleware:
        """Return the middleware for all paths of a port."""

        @web.middleware
        async def guarded(request: web.Request, handler: Handler) -> web.StreamResponse:
            if not request.path.startswith(ROOT):
                return await (handler(request) if guard is None else guard(request, handler))
            if _is_cross_site(request):
                return self._refuse(403, "this page may not be used from another site")
            if guard is None:
                return await self._on_loopback(request, handler)
            return await self._secured(request, handler, guard)

        return guarded

    # --- plain HTTP ------------------------------------------------------------------------------

    async def _on_loopback(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        # Prevents DNS rebinding: a foreign name that resolves to this machine would let its pages
        # read ours.
        if _host_name(request) not in _LOOPBACK:
            return self._refuse(403, "open this page as 127.0.0.1 or localhost")
        token = request.query.get("token", "")
        if token and request.path == ROOT and request.method == "GET":
            if self._tokens.redeem(token):
                return self._begin(request, "")
            if self._session(request) is None:
                return self._ask(_LINK_REFUSED)
            return _to_dashboard()  # the same browser opens its link again
        if self._session(request) is not None or self._tokens.is_key(bearer_token(request)):
            return await handler(request)
        return self._ask(_NO_TOKENS if request.path == SIGN_IN else "")

    # --- the secure port -------------------------------------------------------------------------

    async def _secured(
        self, request: web.Request, handler: Handler, guard: Middleware
    ) -> web.StreamResponse:
        if request.path == SIGN_IN and request.method == "POST":
            return await self._exchange(request, guard)
        token = self._session(request) or ""
        if token and not bearer_token(request):
            request = _with_token(request, token, request.method)
        answer = await guard(request, handler)
        return self._ask() if answer.status in (401, 403) else answer

    async def _exchange(self, request: web.Request, guard: Middleware) -> web.Response:
        """Begin a session with a bearer token, if the guard accepts it."""
        unread = request.clone()  # a request cannot be copied once its body is read
        form = await request.post()
        token = str(form.get("token", "")).strip()
        if not (token and token.isascii() and token.isprintable()):
            return self._ask(_TOKEN_REFUSED)
        answer = await guard(_with_token(unread, token, "GET"), _allowed)
        return self._begin(request, token) if answer.status == 204 else self._ask(_TOKEN_REFUSED)

    # --- sessions --------------------------------------------------------------------------------

    def _session(self, request: web.Request) -> str | None:
        """Return the token of the session; ``None`` without a session."""
        return self._sessions.get(request.cookies.get(_cookie(request), ""))

    def _begin(self, request: web.Request, token: str) -> web.Response:
        name = secrets.token_urlsafe(32)
        self._sessions[name] = token
        while len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)
        answer = _to_dashboard()
        answer.set_cookie(
            _cookie(request),
            name,
            path=ROOT,
            max_age=SESSION_SECONDS,
            httponly=True,
            samesite="Strict",
            secure=request.secure,
        )
        return answer

    def _ask(self, refused: str = "") -> web.Response:
        """Answer with the page that asks to sign in, and with why that has just failed."""
        page = self._page
        if refused:
            alert = f'<p class="refused" role="alert">{refused}</p>'
            page = page.replace(_REFUSED_HERE, alert.encode())
        return web.Response(status=401, body=page, content_type="text/html", charset="utf-8",
                            headers=self._headers)  # fmt: skip

    def _refuse(self, status: int, why: str) -> web.Response:
        return web.Response(status=status, text=f"{why}\n", headers=HEADERS)


def _to_dashboard() -> web.Response:
    return web.Response(status=303, headers={**HEADERS, "Location": ROOT})


def _policy_of(page: bytes) -> str:
    """Return a policy that allows this page its style, which no other file can carry, by hash."""
    style = page.partition(b"<style>")[2].partition(b"</style>")[0]
    digest = b64encode(hashlib.sha256(style).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; {_ALWAYS}"


def _is_cross_site(request: web.Request) -> bool:
    """Whether a page of another site sends this: browsers say so, for all but opened links."""
    site = request.headers.get("Sec-Fetch-Site", "none")
    is_opened = request.headers.get("Sec-Fetch-Mode") == "navigate" and request.method == "GET"
    origin = request.headers.get("Origin")
    if origin is not None and urlsplit(origin).netloc != request.host:
        return True
    return site not in _OWN_REQUESTS and not is_opened


def _host_name(request: web.Request) -> str:
    try:
        return urlsplit(f"//{request.host}").hostname or ""
    except ValueError:
        return ""


def _cookie(request: web.Request) -> str:
    """Return the name of the cookie: browsers share cookies among the ports of a machine."""
    transport = request.transport
    address = transport.get_extra_info("sockname") if transport is not None else None
    return f"podium-dashboard-{address[1] if address else 0}"


def _with_token(request: web.Request, token: str, method: str) -> web.Request:
    headers = request.headers.copy()
    headers["Authorization"] = f"Bearer {token}"
    return request.clone(method=method, headers=headers)


async def _allowed(request: web.Request) -> web.StreamResponse:
    return web.Response(status=204)

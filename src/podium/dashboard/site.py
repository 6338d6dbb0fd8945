"""The dashboard as a site: its pages, data and sign-in, for the server of a scheduler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Middleware

from podium.dashboard.api import Api
from podium.dashboard.desk import Desk
from podium.dashboard.feed import Feed
from podium.dashboard.links import ROOT, Tokens
from podium.dashboard.sign_in import HEADERS, SignIn
from podium.dashboard.workbench import Workbench
from podium.live.asking import Asking
from podium.live.endpoints import Shown
from podium.live.running import RunningScheduler
from podium.live.serving import MakeSite, Site

_TYPES: Final = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_SIGN_IN_PAGE: Final = "sign-in.html"


class Dashboard:
    """The dashboard of one running scheduler; a ``Site``."""

    def __init__(self, sign_in: SignIn, api: Api, feed: Feed, workbench: Workbench) -> None:
        self._sign_in = sign_in
        self._api = api
        self._feed = feed
        self._workbench = workbench
        self._pages = pages()

    def add_to(self, app: web.Application) -> None:
        app.router.add_get(ROOT.rstrip("/"), _redirect)
        app.router.add_routes(self._api.routes())
        app.router.add_get(f"{ROOT}{{name:[^/]*}}", self._page)

    def guarded(self, guard: Middleware | None) -> Middleware:
        return self._sign_in.guarded(guard)

    async def close(self) -> None:
        await self._feed.close()
        self._workbench.close()

    async def _page(self, request: web.Request) -> web.Response:
        name = request.match_info["name"] or "index.html"
        if name not in self._pages:
            raise web.HTTPNotFound
        kind = _TYPES[name[name.rindex(".") :]]
        return web.Response(
            body=self._pages[name], content_type=kind, charset="utf-8", headers=HEADERS
        )


def site(
    key: str, sources: Sequence[str] = (), on_link_used: Callable[[], None] = lambda: None
) -> MakeSite:
    """Return how to make the dashboard of a scheduler, for links that are made from this key."""

    def make(shown: Shown, running: RunningScheduler, asking: Asking) -> Site:
        desk = Desk(shown, running, asking)
        feed = Feed(desk, shown.clock)
        workbench = Workbench(running, asking, tuple(sources))
        tokens = Tokens(key, shown.clock.now, on_link_used)
        sign_in = SignIn(tokens, pages()[_SIGN_IN_PAGE])
        api = Api(desk, feed, workbench, running.introspection.server)
        return Dashboard(sign_in, api, feed, workbench)

    return make


def pages() -> dict[str, bytes]:
    """Return the files of the page by name."""
    directory = files("podium.dashboard") / "pages"
    return {
        each.name: each.read_bytes()
        for each in directory.iterdir()
        if each.name.endswith(tuple(_TYPES))
    }


async def _redirect(request: web.Request) -> web.Response:
    return web.Response(status=308, headers={"Location": ROOT})

"""Signing in on the secure port: the guard of the port decides about every request."""

import asyncio
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

from podium.dashboard.links import Tokens, new_token
from podium.dashboard.sign_in import MOST_SESSIONS, SIGN_IN, SignIn
from podium.serving.authentication import bearer_token

PAGE = b"please sign in <!-- refused -->"
WHY = b"This token was not accepted, or its user may not get /dashboard/*."
REFUSED = b'please sign in <p class="refused" role="alert">%b</p>' % WHY
KEY = "key"


class Port:
    """A port with a guard that knows some tokens; ``allowed`` may change while it runs."""

    def __init__(self):
        self.allowed = {"good"}
        self.sign_in = SignIn(Tokens(KEY, lambda: 0.0), PAGE)

    async def _guard(self, request, handler):
        token = bearer_token(request)
        if token not in self.allowed:
            return web.Response(status=403 if token else 401, text="refused")
        return await handler(request)

    @asynccontextmanager
    async def open(self):
        async def show(request):
            return web.Response(text=f"{request.method} {bearer_token(request)}")

        app = web.Application(middlewares=[self.sign_in.guarded(self._guard)])
        app.router.add_route("*", "/{path:.*}", show)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0]
        jar = aiohttp.CookieJar(unsafe=True)
        try:
            async with aiohttp.ClientSession(f"http://{host}:{port}", cookie_jar=jar) as browser:
                yield browser
        finally:
            await runner.cleanup()


def play(scene):
    async def run():
        port = Port()
        async with port.open() as browser:
            await scene(port, browser)

    asyncio.run(run())


async def ask(browser, path, method="GET", **options):
    async with browser.request(method, path, allow_redirects=False, **options) as answer:
        return answer.status, await answer.read()


def sign_in(browser, token):
    return ask(browser, SIGN_IN, "POST", data={"token": token})


def test_a_token_begins_a_session_that_is_judged_at_each_request():
    async def scene(port, browser):
        assert await ask(browser, "/dashboard/") == (401, PAGE)
        assert (await sign_in(browser, "good"))[0] == 303
        assert await ask(browser, "/dashboard/") == (200, b"GET good")
        assert await ask(browser, "/dashboard/api/what-if", "POST") == (200, b"POST good")
        port.allowed.clear()  # the right is taken away
        assert await ask(browser, "/dashboard/") == (401, PAGE)

    play(scene)


def test_a_token_that_is_not_accepted_begins_nothing():
    async def scene(port, browser):
        for token in ("bad", "", "line\nbreak", "é", "x" * 5000):
            assert await sign_in(browser, token) == (401, REFUSED), token
        assert await ask(browser, "/dashboard/") == (401, PAGE)
        assert not browser.cookie_jar

    play(scene)


def test_links_and_their_key_do_not_work_here():
    async def scene(port, browser):
        assert await ask(browser, f"/dashboard/?token={new_token(KEY, 0.0)}") == (401, PAGE)
        headers = {"Authorization": f"Bearer {KEY}"}
        assert await ask(browser, "/dashboard/", headers=headers) == (401, PAGE)

    play(scene)


def test_programs_send_their_token_themselves():
    async def scene(port, browser):
        headers = {"Authorization": "Bearer good"}
        assert await ask(browser, "/dashboard/api/overview", headers=headers) == (200, b"GET good")

    play(scene)


def test_a_session_opens_no_other_path():
    """Metrics are for those who send a token: the cookie is for the dashboard."""

    async def scene(port, browser):
        await sign_in(browser, "good")
        assert await ask(browser, "/metrics") == (401, b"refused")

    play(scene)


def test_another_site_cannot_sign_in_for_somebody():
    async def scene(port, browser):
        for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            found = await ask(browser, SIGN_IN, "POST", data={"token": "good"}, headers=headers)
            assert found[0] == 403
        assert not browser.cookie_jar

    play(scene)


def test_sessions_are_limited():
    async def scene(port, browser):
        for _ in range(MOST_SESSIONS + 5):
            await sign_in(browser, "good")
        assert len(port.sign_in._sessions) == MOST_SESSIONS
        assert (await ask(browser, "/dashboard/"))[0] == 200

    play(scene)

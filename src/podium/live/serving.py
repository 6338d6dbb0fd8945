"""Serves health, metrics, the configuration and plugin statistics over HTTP, on loopback.

It runs in the side thread, so that a stalled scheduler still answers.
"""

from __future__ import annotations

import errno
import ipaddress
from collections.abc import Callable, Mapping
from typing import Any, Final

from aiohttp import web

from podium.errors import ServingError
from podium.framework.calls import CallCount
from podium.framework.profile import Profile
from podium.live.health import Answer, Health, all_of, one_of
from podium.metrics import CONTENT_TYPE, Metrics

HEADERS: Final = {
    "Cache-Control": "no-cache, private",
    "X-Content-Type-Options": "nosniff",
}
DRAIN_SECONDS: Final = 5.0

Configuration = Mapping[str, Any]
Json = dict[str, Any]


class Server:
    """An HTTP server; call ``start`` and ``stop`` on one event loop.

    ``configuration`` and ``plugins``, the statistics of plugins, are called at each request.
    """

    def __init__(
        self,
        health: Health,
        metrics: Metrics,
        configuration: Callable[[], Configuration],
        plugins: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        self._checks = health.checks()
        self._metrics = metrics
        self._configuration = configuration
        self._plugins = plugins
        self._runner: web.AppRunner | None = None

    async def start(self, host: str, port: int) -> tuple[str, int]:
        """Listen, and return the address; port 0 takes a free one."""
        require_loopback(host)
        runner = web.AppRunner(self._app(), access_log=None, shutdown_timeout=DRAIN_SECONDS)
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port).start()
        except OSError as error:
            await runner.cleanup()
            raise ServingError(_why(host, port, error)) from error
        self._runner = runner
        address = runner.addresses[0]
        return address[0], address[1]

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def _app(self) -> web.Application:
        app = web.Application()
        app.on_response_prepare.append(_add_headers)
        for endpoint in self._checks:
            app.router.add_get(f"/{endpoint}", self._all_checks)
            app.router.add_get(f"/{endpoint}/{{check}}", self._one_check)
        app.router.add_get("/metrics", self._show_metrics)
        app.router.add_delete("/metrics", self._reset_metrics)
        app.router.add_get("/configz", self._show_configuration)
        app.router.add_get("/debug/plugins", self._show_plugins)
        return app

    async def _all_checks(self, request: web.Request) -> web.Response:
        endpoint = request.path.strip("/")
        query = request.query
        excluded = query.getall("exclude", [])
        return _text(all_of(endpoint, self._checks[endpoint], excluded, "verbose" in query))

    async def _one_check(self, request: web.Request) -> web.Response:
        endpoint = request.path.split("/")[1]
        for check in self._checks[endpoint]:
            if check.name == request.match_info["check"]:
                return _text(one_of(check))
        raise web.HTTPNotFound

    async def _show_metrics(self, request: web.Request) -> web.Response:
        return web.Response(body=self._metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    async def _reset_metrics(self, request: web.Request) -> web.Response:
        self._metrics.reset()
        return web.Response(text="metrics reset\n")

    async def _show_configuration(self, request: web.Request) -> web.Response:
        return web.json_response({"componentconfig": self._configuration()})

    async def _show_plugins(self, request: web.Request) -> web.Response:
        return web.json_response(self._plugins())


async def _add_headers(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


def _text(answer: Answer) -> web.Response:
    return web.Response(status=answer.status, text=answer.text)


def require_loopback(host: str) -> None:
    """Refuse other addresses: there is no authentication yet, so anyone could read there."""
    if host == "localhost":
        return
    try:
        is_loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        raise ServingError(f'"{host}" is not an IP address; use for example 127.0.0.1') from None
    if not is_loopback:
        raise ServingError(
            f"cannot serve health and metrics on {host}: podium has no TLS and authentication yet, "
            "so it serves them only on a loopback address such as 127.0.0.1"
        )


def _why(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"{host}:{port} is taken, most likely by another scheduler: end that one, "
            "choose another port, or port 0 to serve nothing"
        )
    return f"cannot serve health and metrics on {host}:{port}: {error.strerror or error}"


def stats(profiles: Mapping[str, Profile]) -> Json:
    """Return what plugins have cost so far, for `podium plugin stats`; from any thread."""
    return {
        "profiles": [
            {
                "name": name,
                "withoutSignature": list(profile.unsigned),
                "calls": [_shown(count) for count in profile.calls if count.calls],
            }
            for name, profile in list(profiles.items())
        ]
    }


def _shown(count: CallCount) -> Json:
    return {
        "plugin": count.plugin,
        "point": count.point,
        "calls": count.calls,
        "evaluations": count.evaluations,
        "seconds": count.seconds,
        "longest": count.longest,
        "rejections": count.rejections,
        "errors": count.errors,
    }

"""What is served: health, metrics, the configuration, flags, and the state of plugins.

`serving.py` puts it on ports. Handlers run in the side thread, while the scheduler works.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from aiohttp import web

from podium.api.objects import Pod
from podium.clock import Clock
from podium.framework.calls import CallCount
from podium.framework.profile import Profile
from podium.live.health import Answer, Check, Health, all_of, one_of
from podium.live.health_metrics import HealthMetrics
from podium.live.resource_metrics import resources_text
from podium.metrics import CONTENT_TYPE, Metrics
from podium.release import LATEST, Release
from podium.serving import statuses, zpages
from podium.serving.profiling import Profiling

Configuration = Mapping[str, Any]
Json = dict[str, Any]

_LISTED: Final = ("/configz", "/flagz", "/healthz", "/livez", "/metrics", "/readyz")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The sources of the endpoints. Functions are called at each request, in the server's thread.

    ``pods`` are for `/metrics/resources`, which is empty unless ``is_leading``; ``plugins`` are
    statistics. Pages without data, such as flags of an embedded scheduler, do not exist.
    """

    health: Health
    metrics: Metrics
    clock: Clock
    configuration: Callable[[], Configuration]
    plugins: Callable[[], Mapping[str, Any]] = dict
    pods: Callable[[], Iterable[Pod]] = tuple
    is_leading: Callable[[], bool] = lambda: True
    flags: Mapping[str, str] = field(default_factory=dict)
    shows_status: bool = True
    is_profiled: bool = False
    release: Release = LATEST


class Endpoints:
    """The handlers, which are the same on every port."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self._checks = shown.health.checks()
        self._health_metrics = HealthMetrics()
        self._started = shown.clock.now()

    def routes(self) -> list[web.RouteDef]:
        """Return all routes; as in kube-scheduler, most take any method."""
        found = [
            web.route("*", "/metrics", self._show_metrics),
            web.route("*", "/metrics/slis", self._show_health_metrics),
            web.route("*", "/metrics/resources", self._show_resources),
            web.route("*", "/configz", self._show_configuration),
            web.route("*", "/debug/plugins", self._show_plugins),
        ]
        for endpoint in self._checks:
            found.append(web.route("*", f"/{endpoint}", self._all_checks))
            found.append(web.route("*", f"/{endpoint}/{{check}}", self._one_check))
        if self._shown.flags:
            found.append(web.route("*", "/flagz", self._show_flags))
        if self._shown.shows_status:
            found.append(web.route("*", "/statusz", self._show_status))
        if self._shown.is_profiled:
            found += Profiling(self._shown.clock).routes()
        return found

    # --- health ----------------------------------------------------------------------------------

    async def _all_checks(self, request: web.Request) -> web.Response:
        endpoint = request.path.strip("/")
        query = request.query
        excluded = query.getall("exclude", [])
        checks = [self._counted(endpoint, check) for check in self._checks[endpoint]]
        return _text(all_of(endpoint, checks, excluded, "verbose" in query))

    async def _one_check(self, request: web.Request) -> web.Response:
        endpoint = request.path.split("/")[1]
        for check in self._checks[endpoint]:
            if check.name == request.match_info["check"]:
                return _text(one_of(check))
        return statuses.not_found()

    def _counted(self, endpoint: str, check: Check) -> Check:
        def failing() -> str | None:
            reason = check.failing()
            self._health_metrics.observe(endpoint, check.name, reason)
            return reason

        return Check(check.name, failing)

    # --- metrics ---------------------------------------------------------------------------------

    async def _show_metrics(self, request: web.Request) -> web.Response:
        if request.method == "DELETE":
            self._shown.metrics.reset()
            return _reset()
        return _metrics(self._shown.metrics.text())

    async def _show_health_metrics(self, request: web.Request) -> web.Response:
        if request.method == "DELETE":
            self._health_metrics.reset()
            return _reset()
        return _metrics(self._health_metrics.text())

    async def _show_resources(self, request: web.Request) -> web.Response:
        if not self._shown.is_leading():
            return web.Response()
        if request.method == "DELETE":
            return _reset()
        # In another thread: with many pods it takes long, and the lease is renewed in this one.
        return _metrics(await asyncio.to_thread(resources_text, self._shown.pods()))

    # --- what runs here --------------------------------------------------------------------------

    async def _show_configuration(self, request: web.Request) -> web.Response:
        return _json(self._shown.configuration())

    async def _show_plugins(self, request: web.Request) -> web.Response:
        return _json(self._shown.plugins())

    async def _show_flags(self, request: web.Request) -> web.Response:
        flags = self._shown.flags
        text = zpages.flags_text(flags)
        return zpages.answer(request, "Flagz", {"flags": dict(sorted(flags.items()))}, text)

    async def _show_status(self, request: web.Request) -> web.Response:
        paths = [path for path in _LISTED if path != "/flagz" or self._shown.flags]
        now = self._shown.clock.now
        about = zpages.About(self._started, now, paths, self._shown.release)
        return zpages.answer(request, "Statusz", about.fields(), about.text())


def _text(answer: Answer) -> web.Response:
    return web.Response(status=answer.status, text=answer.text)


def _json(value: object) -> web.Response:
    return web.Response(body=msgspec.json.encode(value), content_type="application/json")


def _metrics(text: bytes) -> web.Response:
    return web.Response(body=text, headers={"Content-Type": CONTENT_TYPE})


def _reset() -> web.Response:
    return web.Response(text="metrics reset\n")


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

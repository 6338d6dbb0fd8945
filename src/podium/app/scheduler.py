"""``podium.Scheduler``: a scheduler inside your own program, like upstream's ``scheduler.New``.

async with podium.Scheduler(client="http://127.0.0.1:8001", plugins=[Cheapest]) as scheduler:
    await scheduler.forever()
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from podium import config
from podium.app import plugin_loading
from podium.app.feature_gates import LiveOptions
from podium.app.live import build_live
from podium.app.own_plugins import in_tree_with_legacy
from podium.client.endpoint import Endpoint
from podium.client.http import Connection
from podium.clock import LoopClock
from podium.config import Configuration, upstream
from podium.config.feature_gates import FeatureGates
from podium.framework.extender import Extender
from podium.framework.profile import Profile
from podium.release import LATEST, release_named

Json = Mapping[str, Any]


class Scheduler:
    """A scheduler that runs in this process while its ``async with`` block runs.

    ``client`` is a connection, or the address of an API server that needs no credentials.
    ``profiles`` are as in a KubeSchedulerConfiguration, and so are ``extenders``, which may also be
    objects that run in this process. ``plugins`` are classes, factories and decorated functions:
    they run in every profile that does not name them. ``on_profile`` is called with each profile.
    The scheduler behaves as kube-scheduler of ``kubernetes_version``, such as "1.36".
    """

    def __init__(  # noqa: PLR0913  # all that a scheduler can be given, each by its name
        self,
        client: Connection | str,
        *,
        profiles: Sequence[Json] = (),
        extenders: Iterable[Json | Extender] = (),
        plugins: Iterable[object] = (),
        percentage_of_nodes_to_score: int | None = None,
        pod_initial_backoff_seconds: int | None = None,
        pod_max_backoff_seconds: int | None = None,
        parallelism: int | None = None,
        on_profile: Callable[[Profile], None] | None = None,
        kubernetes_version: str = str(LATEST),
    ) -> None:
        self._client = client
        self._gates = FeatureGates(release_named(kubernetes_version))
        own = in_tree_with_legacy(self._gates)
        self._registry = plugin_loading.registry(plugins=plugins, own=own)
        given = list(extenders)
        self._extenders = [each for each in given if not isinstance(each, Mapping)]
        fields = {
            "profiles": list(profiles),
            "extenders": [each for each in given if isinstance(each, Mapping)],
            "percentageOfNodesToScore": percentage_of_nodes_to_score,
            "podInitialBackoffSeconds": pod_initial_backoff_seconds,
            "podMaxBackoffSeconds": pod_max_backoff_seconds,
            "parallelism": parallelism,
        }
        self.configuration = self._configuration(fields)
        self._on_profile = on_profile
        self._ends = AsyncExitStack()

    def _configuration(self, fields: Json) -> Configuration:
        value: dict[str, Any] = {"apiVersion": upstream.API_VERSION, "kind": upstream.KIND}
        value |= {name: field for name, field in fields.items() if field not in (None, [])}
        return config.from_value(value, self._registry, source="podium.Scheduler")

    async def __aenter__(self) -> Scheduler:
        """Watch the cluster, and schedule as soon as all objects are known."""
        connection = self._client
        if isinstance(connection, str):
            connection = Connection(Endpoint(connection, "podium.Scheduler"), LoopClock())
            await self._ends.enter_async_context(connection)
        running = build_live(
            self.configuration,
            connection,
            registry=self._registry,
            extenders=self._extenders,
            options=LiveOptions(self._gates),
        )
        if self._on_profile is not None:
            for profile in running.profiles.values():
                self._on_profile(profile)
        await self._ends.enter_async_context(running)
        self._failure = running.failure
        return self

    async def __aexit__(self, *_: object) -> None:
        """Wait for the bindings under way, then end."""
        await self._ends.aclose()

    async def forever(self) -> None:
        """Wait until the task is cancelled; raise what ends the scheduling loop, if it fails."""
        await asyncio.shield(self._failure)

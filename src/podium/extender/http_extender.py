"""HttpExtender: one entry of ``extenders`` in a configuration, called over HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from podium import config
from podium.api.objects import Pod
from podium.clock import Clock
from podium.errors import ExtenderError
from podium.extender import bodies, replies
from podium.extender.transport import Transport
from podium.framework.cluster_view import ClusterView
from podium.framework.extender import Extender, Filtered
from podium.framework.preemption import Candidates
from podium.logs import get_logger
from podium.state.rows import Rows

log = get_logger(__name__)


class HttpExtender(Extender):
    """Calls an extender. An empty verb means that the extender does not implement that call."""

    def __init__(self, settings: config.Extender, clock: Clock) -> None:
        self.name = settings.url_prefix
        self.weight = settings.weight
        self.is_ignorable = settings.ignorable
        self.is_filter = bool(settings.filter_verb)
        self.is_prioritizer = bool(settings.prioritize_verb)
        self.is_binder = bool(settings.bind_verb)
        self.supports_preemption = bool(settings.preempt_verb)
        self._settings = settings
        self._managed = frozenset(resource.name for resource in settings.managed_resources)
        self._transport = Transport(settings, clock)

    def is_interested(self, pod: Pod) -> bool:
        """Whether the pod requests a managed resource; always, if the extender manages none."""
        if not self._managed:
            return True
        spec = pod.spec
        return any(
            not self._managed.isdisjoint(asked)
            for container in (*spec.containers, *spec.init_containers)
            for asked in (container.resources.requests, container.resources.limits)
        )

    async def filter(self, pod: Pod, nodes: Rows) -> Filtered:
        names_only = self._settings.node_cache_capable
        body = bodies.node_request(pod, nodes, names_only)
        reply = await self._transport.post(self._settings.filter_verb, body)
        return replies.filtered(reply, names_only)

    async def prioritize(self, pod: Pod, nodes: Rows) -> Mapping[str, int]:
        if not self.is_prioritizer:
            return await super().prioritize(pod, nodes)
        body = bodies.node_request(pod, nodes, self._settings.node_cache_capable)
        return replies.scores(await self._transport.post(self._settings.prioritize_verb, body))

    async def process_preemption(
        self, pod: Pod, candidates: Candidates, cluster: ClusterView
    ) -> Candidates:
        body = bodies.preemption_request(pod, candidates, self._settings.node_cache_capable)
        reply = await self._transport.post(self._settings.preempt_verb, body)
        return replies.candidates(reply, self.name, cluster)

    async def bind(self, pod: Pod, node_name: str) -> None:
        body = bodies.binding_request(pod, node_name)
        error = replies.error(await self._transport.post(self._settings.bind_verb, body))
        if error:
            raise ExtenderError(error)

    async def close(self) -> None:
        await self._transport.close()


def build(extenders: Iterable[config.Extender], clock: Clock) -> list[HttpExtender]:
    """Build all extenders; raise ``CredentialsError`` if TLS settings cannot be used."""
    built = []
    for settings in extenders:
        log.v(2, "Creating extender", extender=settings.url_prefix)
        built.append(HttpExtender(settings, clock))
    return built

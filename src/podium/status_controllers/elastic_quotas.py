"""The status of ElasticQuotas: what the running pods of their namespaces request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from podium.api import quantity
from podium.api.objects import Pod
from podium.client.api_client import ApiClient
from podium.client.event_recorder import ApiEventRecorder, EventSender
from podium.client.event_series import Regarding
from podium.client.informer import Informer
from podium.client.known_objects import Handler
from podium.client.resources import custom_resource
from podium.clock import Clock
from podium.framework.handle import EventNote
from podium.scheduler_plugins.capacity_scheduling.quotas import RESOURCE
from podium.status_controllers.reconciler import Reconciler

QUOTAS: Final = RESOURCE
Listed = dict[str, str]


class ElasticQuotaStatuses(Reconciler):
    """Follows quotas and pods. ``_running`` has the requests of running pods, by namespace."""

    kind = custom_resource(QUOTAS)

    def __init__(
        self,
        quotas: Informer[dict[str, Any]],
        follow_pods: Callable[[Handler[Pod]], None],
        client: ApiClient,
        events: EventSender,
        clock: Clock,
    ) -> None:
        super().__init__(client, clock)
        self._events = ApiEventRecorder(events, "ElasticQuotaController")
        self._quotas = quotas
        self._follow_pods = follow_pods
        self._running: dict[str, dict[str, Listed]] = {}

    async def run(self) -> None:
        self._follow_pods(self._on_pod)
        self._quotas.subscribe(self._on_quota)
        await super().run()

    def _on_pod(self, old: Pod | None, new: Pod | None) -> None:
        pod = new or old
        if pod is None:
            return
        there = self._running.setdefault(pod.namespace, {})
        requests = requests_of(new) if new is not None and new.status.phase == "Running" else None
        if there.get(pod.uid) == requests:
            return
        if requests is None:
            del there[pod.uid]
        else:
            there[pod.uid] = requests
        self._look_at_all(pod.namespace)

    def _on_quota(self, old: dict[str, Any] | None, new: dict[str, Any] | None) -> None:
        changed = new or old
        if changed is not None:
            self._look_at_all(changed["metadata"].get("namespace", ""))

    def _look_at_all(self, namespace: str) -> None:
        for quota in self._quotas.objects():
            meta = quota["metadata"]
            if meta.get("namespace") == namespace:
                self.look_at(f"{namespace}/{meta['name']}")

    def status(self, key: str) -> Mapping[str, Any]:
        quota = self._quotas.get(key)
        if quota is None:
            return {}
        running = self._running.get(key.partition("/")[0], {}).values()
        return changed_status(quota, running)

    def written(self, key: str) -> None:
        quota = self._quotas.get(key)
        if quota is not None:
            note = f"Elastic Quota {key} synced successfully"
            self._events.record_about(_about(quota), EventNote("Normal", "Synced", "Sync", note))


def _about(quota: Mapping[str, Any]) -> Regarding:
    meta = quota["metadata"]
    return Regarding(
        name=meta["name"],
        namespace=meta.get("namespace", ""),
        resource_version=meta.get("resourceVersion", ""),
        uid=meta.get("uid", ""),
        api_version="scheduling.x-k8s.io/v1alpha1",
        kind="ElasticQuota",
    )


def changed_status(quota: Mapping[str, Any], running: Iterable[Listed]) -> dict[str, Any]:
    """Return what of the status has to change; resources that are no longer used are removed."""
    spec, before = quota.get("spec") or {}, (quota.get("status") or {}).get("used") or {}
    used: dict[str, str] = dict.fromkeys((*(spec.get("min") or ()), *(spec.get("max") or ())), "0")
    for requests in running:
        for name, text in requests.items():
            known = used.get(name, "0")
            used[name] = text if known == "0" else quantity.plus(known, text)
    changed: dict[str, str | None] = {
        name: text
        for name, text in used.items()
        if name not in before or quantity.parse(before[name]) != quantity.parse(text)
    }
    changed |= dict.fromkeys(before.keys() - used.keys(), None)
    return {"used": changed} if changed else {}


def requests_of(pod: Pod) -> Listed:
    """Return what counts for a pod: the sum of its containers, or its largest init container."""
    total: Listed = {}
    for container in pod.spec.containers:
        for name, text in container.resources.requests.items():
            total[name] = quantity.plus(total.get(name), str(text))
    for container in pod.spec.init_containers:
        for name, text in container.resources.requests.items():
            if quantity.parse(text) > quantity.parse(total.get(name, "0")):
                total[name] = quantity.canonical(text)
    return total

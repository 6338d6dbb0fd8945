"""Pods as controllers see them: the few fields they use, indexed by owner, namespace and node.

A controller with thousands of pods looks at all of them each time, so they are decoded once per
change and not once per look.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from podium.api.times import parse_time
from podium.apiserver.statuses import Refusal
from podium.apiserver.store import Key, ObjectStore
from podium.apiserver.watches import DELETED, Item

NANOSECONDS = 10**9
FINISHED = ("Succeeded", "Failed")


class Owner(msgspec.Struct, rename="camel", gc=False):
    kind: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    controller: bool | None = None


class PodMeta(msgspec.Struct, rename="camel", gc=False):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[Owner] | None = None
    finalizers: list[str] | None = None
    creation_timestamp: str = ""
    deletion_timestamp: str | None = None


class PodClaim(msgspec.Struct, rename="camel", gc=False):
    """A claim to devices in a pod's spec, or its name in the status."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class ExtendedClaim(msgspec.Struct, rename="camel", gc=False):
    resource_claim_name: str = ""


class SchedulingGroup(msgspec.Struct, rename="camel", gc=False):
    pod_group_name: str = ""


class PodSpec(msgspec.Struct, rename="camel", gc=False):
    node_name: str = ""
    resource_claims: list[PodClaim] | None = None
    scheduling_group: SchedulingGroup | None = None


class Condition(msgspec.Struct, rename="camel", gc=False):
    type: str = ""
    status: str = ""
    last_transition_time: str | None = None


class PodStatus(msgspec.Struct, rename="camel", gc=False):
    phase: str = ""
    start_time: str | None = None
    conditions: list[Condition] | None = None
    resource_claim_statuses: list[PodClaim] | None = None
    extended_resource_claim_status: ExtendedClaim | None = None


class PodView(msgspec.Struct, gc=False):
    """The fields of a pod that controllers use."""

    metadata: PodMeta = msgspec.field(default_factory=PodMeta)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)

    @property
    def key(self) -> Key:
        return (self.metadata.namespace, self.metadata.name)

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def labels(self) -> dict[str, str]:
        return self.metadata.labels or {}

    @property
    def controller(self) -> Owner | None:
        owners = self.metadata.owner_references or []
        return next((owner for owner in owners if owner.controller), None)

    @property
    def group_name(self) -> str:
        """The PodGroup that the pod belongs to, if any."""
        group = self.spec.scheduling_group
        return group.pod_group_name if group else ""

    @property
    def is_finished(self) -> bool:
        return self.status.phase in FINISHED

    @property
    def is_deleting(self) -> bool:
        return bool(self.metadata.deletion_timestamp)

    @property
    def is_active(self) -> bool:
        return not self.is_finished and not self.is_deleting

    @property
    def ready(self) -> Condition | None:
        """Return the Ready condition if it is true."""
        for condition in self.status.conditions or []:
            if condition.type == "Ready":
                return condition if condition.status == "True" else None
        return None

    @property
    def ready_since(self) -> float | None:
        ready = self.ready
        if ready is None:
            return None
        return seconds(ready.last_transition_time) if ready.last_transition_time else 0.0


def seconds(text: str) -> float:
    """Return a time of the API in seconds, as the clock counts."""
    return parse_time(text) / NANOSECONDS


def available_in(pod: PodView, min_ready: int, now: float) -> float | None:
    """Return the seconds until a ready pod counts as available.

    0 if it is available, None if it is not ready.
    """
    since = pod.ready_since
    if since is None:
        return None
    return max(0.0, since + min_ready - now) if min_ready else 0.0


_DECODER = msgspec.json.Decoder(PodView)


def view(item: Item) -> PodView:
    return _DECODER.decode(item.encoded)


Group = dict[Key, PodView]


class PodIndex:
    """All pods of the store by owner, namespace and node.

    The four dicts hold the same pods. They are brought up to date by reading the watch at each
    look, so that a look always shows the present state.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._list()

    def get(self, key: Key) -> PodView | None:
        self._follow()
        return self._all.get(key)

    def owned_by(self, uid: str) -> Collection[PodView]:
        """Return the pods that an object controls."""
        self._follow()
        return list(self._by_owner.get(uid, {}).values())

    def orphans(self, namespace: str) -> Collection[PodView]:
        """Return the pods of a namespace that no object controls."""
        self._follow()
        return list(self._by_owner.get(_nobody(namespace), {}).values())

    def inside(self, namespace: str) -> Collection[PodView]:
        self._follow()
        return list(self._by_namespace.get(namespace, {}).values())

    def on_node(self, node: str) -> Collection[PodView]:
        self._follow()
        return list(self._by_node.get(node, {}).values())

    def _list(self) -> None:
        self._all: Group = {}
        self._by_owner: dict[str, Group] = {}
        self._by_namespace: dict[str, Group] = {}
        self._by_node: dict[str, Group] = {}
        listing = self._store.list("pods")
        for item in listing.items:
            self._put(view(item))
        self._watch = self._store.watch("pods", listing.version, _nothing)

    def _follow(self) -> None:
        try:
            while events := self._watch.poll():
                for event in events:
                    self._take(event.key)
                    if event.type != DELETED:
                        self._put(view(event.new))
        except Refusal:  # 410: more changes between two looks than the history holds
            self._watch.close()
            self._list()

    def _put(self, pod: PodView) -> None:
        self._all[pod.key] = pod
        for groups, name in self._groups_of(pod):
            groups.setdefault(name, {})[pod.key] = pod

    def _take(self, key: Key) -> None:
        pod = self._all.pop(key, None)
        for groups, name in self._groups_of(pod) if pod else ():
            group = groups[name]
            del group[key]
            if not group:
                del groups[name]

    def _groups_of(self, pod: PodView) -> list[tuple[dict[str, Group], str]]:
        owner = pod.controller
        namespace = pod.metadata.namespace
        return [
            (self._by_owner, owner.uid if owner else _nobody(namespace)),
            (self._by_namespace, namespace),
            (self._by_node, pod.spec.node_name),
        ]


def _nobody(namespace: str) -> str:
    return f"nobody in {namespace}"  # unlike any uid, it has spaces


def _nothing() -> None:
    """Ignore the notification: the index reads its watch at each look."""

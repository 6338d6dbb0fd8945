"""A cluster with its scheduler in the process of a test: real API, real scheduler, fake time.

    async with SimulatedCluster() as cluster:
        await cluster.create(node, pod)
        await cluster.settle()
        assert cluster.node_of("web") == "n1"

Nodes and kubelets are simulated as in `podium up`; time passes only in ``wait``.
"""

from __future__ import annotations

import asyncio
import builtins
import copy
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, ClassVar, Final

import msgspec

from podium import app, config
from podium.api.meta import ApiObject
from podium.api.objects import encode
from podium.apiserver.api import Call
from podium.apiserver.bootstrap import new_api
from podium.apiserver.controllers.all_controllers import all_controllers
from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.controllers.runner import Runner
from podium.apiserver.deletion import DeleteOptions
from podium.apiserver.features import features_of
from podium.apiserver.kinds.api_kind import ApiKind
from podium.apiserver.kubelet import PodAgent
from podium.apiserver.kubelet_nodes import NodeAgent
from podium.apiserver.server import EmbeddedServer
from podium.app.feature_gates import LiveOptions
from podium.app.live import build_live
from podium.client.endpoint import Endpoint
from podium.client.http import Connection, Options
from podium.client.resources import resource_of
from podium.clock import FakeClock, give_way
from podium.config import Configuration
from podium.config.feature_gates import NO_CHOICE, FeatureGates
from podium.framework.registry import Registry
from podium.live.running import RunningScheduler

Json = dict[str, Any]
Change = Callable[[Json], None]

# A message takes a turn of the loop or two from one end of a connection to the other.
_QUIET_TURNS: Final = 40
_MOST_TURNS: Final = 20_000
_MOMENT: Final = 1e-6
_ENDING_STEP: Final = 0.1
_MOST_NAMES: Final = 20


class SimulatedCluster:
    """``configuration`` says how to schedule; ``registry`` holds plugins of the test's own.

    Objects are structs of podium or dicts as in a manifest; without a namespace they are in
    ``default``. ``address`` tells the scheduler where its API server is: a test may put something
    between the two. A subclass may choose other ``gates``, or the ``seed`` that decides among
    nodes with equal scores. Everything behaves as in the release of the registry.
    """

    gates: ClassVar[FeatureGates] = NO_CHOICE
    seed: ClassVar[int | None] = None

    def __init__(
        self, configuration: Configuration | None = None, registry: Registry | None = None
    ) -> None:
        self.clock = FakeClock()
        self._registry = registry or app.in_tree(self.gates)
        release = self._registry.release
        self._gates = self.gates if self.gates.release == release else FeatureGates(release)
        features = features_of(self._gates)
        self.api = new_api(self.clock, seed=1, release=release, features=features)
        self._cluster = Cluster(self.api)
        self._runner = Runner(
            self.api.store,
            [NodeAgent(self._cluster), PodAgent(self._cluster), *all_controllers(self._cluster)],
        )
        self._server = EmbeddedServer(self.api, clock=self.clock)
        self._configuration = configuration or config.default(self._registry, gates=self._gates)
        self._requests = 0
        self._ends = AsyncExitStack()
        self.scheduler: RunningScheduler

    # --- life ------------------------------------------------------------------------------------

    async def __aenter__(self) -> SimulatedCluster:
        self._runner.start()
        self._ends.callback(self._runner.stop)
        await self._ends.enter_async_context(self._server)
        endpoint = Endpoint(await self.address(self._server.url), "the simulated cluster")
        connection = Connection(endpoint, self.clock, Options(qps=-1), self._observe)
        await self._ends.enter_async_context(connection)
        self.scheduler = build_live(
            self._configuration,
            connection,
            registry=self._registry,
            options=LiveOptions(self._gates, seed=self.seed),
        )
        await self._ends.enter_async_context(self.scheduler)
        await self.settle()
        return self

    async def __aexit__(self, *_: object) -> None:
        ending = asyncio.ensure_future(self._ends.aclose())
        while not ending.done():  # a scheduler that stops waits for bindings, but not for long
            await give_way()
            self.clock.advance(_ENDING_STEP)
        await ending

    async def address(self, url: str) -> str:
        return url

    def _observe(self, method: str, code: int, seconds: float) -> None:
        self._requests += 1

    # --- what a user does ------------------------------------------------------------------------

    async def create(self, *objects: ApiObject | Json) -> None:
        """Create objects in this order; what happens then happens in ``settle``."""
        for each in objects:
            obj = _manifest(each)
            kind = self._kind_of(obj)
            namespace = obj["metadata"].get("namespace", "default") if kind.namespaced else ""
            self.api.create(kind, namespace, obj, Call())

    async def update(self, kind: str, name: str, change: Change) -> None:
        """``change`` alters the object that it is given; ``name`` may have a namespace before."""
        found = self.api.kind(kind)

        def altered(obj: Json) -> Json:
            change(obj)
            return obj

        self.api.modify(found, _key(found, name), altered, Call())

    async def set_status(self, kind: str, name: str, change: Change) -> None:
        """Update the status, as controllers do; otherwise like ``update``."""
        key = _key(self.api.kind(kind), name)
        status = self.api.store.item(kind, key).decode().get("status", {})
        change(status)
        self._cluster.set_status(kind, key, status)

    async def delete(self, kind: str, name: str, **options: Any) -> None:
        found = self.api.kind(kind)
        self.api.delete(found, _key(found, name), DeleteOptions(**options))

    # --- what a user sees ------------------------------------------------------------------------

    def get(self, kind: str, name: str) -> Json | None:
        return self._cluster.find(kind, _key(self.api.kind(kind), name))

    def list(self, kind: str, namespace: str | None = None) -> builtins.list[Json]:
        """Return all objects of a kind, or those of a namespace, in the order of their names."""
        self.api.kind(kind)  # raises for a kind that there is none of
        objects = self.api.store.objects(kind)
        return [one for one in objects if namespace in (None, one["metadata"].get("namespace"))]

    def node_of(self, pod: str) -> str | None:
        """Return the node that the pod is bound to; ``LookupError`` when there is no such pod."""
        node: str | None = self._pod(pod)["spec"].get("nodeName")
        return node

    def why_pending(self, pod: str) -> str:
        """Return what the pod's condition says about why it has no node; nothing when it has one.

        ``LookupError`` when there is no such pod.
        """
        conditions = self._pod(pod).get("status", {}).get("conditions", ())
        why = (one for one in conditions if one["type"] == "PodScheduled")
        return next((one.get("message", "") for one in why if one["status"] == "False"), "")

    def events_of(self, pod: str) -> builtins.list[Json]:
        """The events about a pod, oldest first."""
        name = pod.rpartition("/")[2]
        events = self.api.store.objects("events")
        return [one for one in events if one["involvedObject"]["name"] == name]

    # --- time ------------------------------------------------------------------------------------

    async def settle(self) -> None:
        """Let everything happen that can without time passing."""
        quiet, pulse = 0, None
        for _ in range(_MOST_TURNS):
            await give_way()
            self.clock.advance(0)
            now = (self.api.store.version, self._requests)
            quiet, pulse = (quiet + 1, pulse) if now == pulse else (0, now)
            if quiet == _QUIET_TURNS:
                return self._check()
        raise AssertionError("the cluster does not come to rest")

    async def wait(self, seconds: float) -> None:
        """Let time pass, and everything happen at its time."""
        await self.settle()  # what can happen now must not find that time has passed
        end = self.clock.now() + seconds
        while (left := end - self.clock.now()) > _MOMENT:
            step = self.clock.until_next()
            # A moment more: what falls due then must not be missed by a rounding.
            self.clock.advance(left if step is None else min(step + _MOMENT, left))
            await self.settle()

    def _check(self) -> None:
        self.scheduler.scheduler.services.cluster.check_invariants()
        self.scheduler.scheduler.services.devices.check_invariants()
        self.scheduler.scheduler.queue.check_invariants()
        self.api.store.check_invariants()

    # --- inside ----------------------------------------------------------------------------------

    def _pod(self, name: str) -> Json:
        """A pod that is there: else a test with a misspelled name passes."""
        found = self.get("pods", name)
        if found is None:
            there = [_name(obj["metadata"]) for obj in self.api.store.objects("pods")]
            raise LookupError(f"no pod {name}; there {_named(sorted(there))}")
        return found

    def _kind_of(self, obj: Json) -> ApiKind:
        api_version = obj.get("apiVersion", "v1")
        kind = self.api.kinds.of(api_version, obj["kind"])
        if kind is None:
            raise LookupError(f"no kind {obj['kind']} in {api_version}")
        return kind


def _key(kind: ApiKind, name: str) -> tuple[str, str]:
    namespace, _, last = name.rpartition("/")
    return (namespace or "default") if kind.namespaced else "", last


def _name(meta: Json) -> str:
    """Return the name that ``_key`` reads."""
    namespace, name = meta["namespace"], meta["name"]
    return str(name) if namespace == "default" else f"{namespace}/{name}"


def _named(names: list[str]) -> str:
    if not names:
        return "are none"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{'is' if len(names) == 1 else 'are'} {', '.join(names[:_MOST_NAMES])}{more}"


def _manifest(obj: ApiObject | Json) -> Json:
    """Return the object as it is sent to the API server."""
    if not isinstance(obj, ApiObject):
        return copy.deepcopy(obj)
    resource = resource_of(type(obj))
    group = f"{resource.group}/" if resource.group else ""
    manifest: Json = msgspec.json.decode(encode(obj))
    return {"apiVersion": f"{group}{resource.version}", "kind": resource.kind, **manifest}

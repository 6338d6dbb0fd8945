"""What must hold in every trial, checked from the side of the API server as things happen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar, Final, NamedTuple

from podium.api import quantity
from podium.apiserver.api import Api
from podium.apiserver.watches import Event
from podium.chaos.faults import Faults
from podium.chaos.gateway import Write
from podium.clock import FakeClock

Json = dict[str, Any]

# The writes that the rights of a scheduler allow, as docs/running.md lists them.
ALLOWED: Final = tuple(
    re.compile(f"({method}) {path}")
    for method, path in (
        ("POST", r"/api/v1/namespaces/[^/]+/pods/[^/]+/binding"),
        ("PATCH", r"/api/v1/namespaces/[^/]+/pods/[^/]+/status"),
        ("DELETE", r"/api/v1/namespaces/[^/]+/pods/[^/]+"),
        ("POST|PATCH", r"/apis/events.k8s.io/v1/namespaces/[^/]+/events(/[^/]+)?"),
        ("POST|PATCH", r"/api/v1/namespaces/[^/]+/events(/[^/]+)?"),
        ("POST", r"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"),
        ("PUT", r"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"),
    )
)
# Every candidate reads and writes the lease, and a former leader records that it has stopped.
_OF_THE_LEASE: Final = re.compile(r".*/leases|POST /api/v1/namespaces/kube-system/events")
LEASES: Final = "leases.coordination.k8s.io"
LOCK: Final = ("kube-system", "kube-scheduler")
_ENDED: Final = ("Succeeded", "Failed")


class Violation(NamedTuple):
    """An invariant that did not hold; ``at`` is in seconds after the start of the trial."""

    at: float
    invariant: str
    detail: str

    def __str__(self) -> str:
        return f"{self.at:.3f} s: {self.invariant}: {self.detail}"


class Invariants:
    """Listens to the store of the API server, and is told about the writes of schedulers."""

    allowed: ClassVar[tuple[re.Pattern[str], ...]] = ALLOWED

    def __init__(self, api: Api, clock: FakeClock, faults: Faults) -> None:
        self._api = api
        self._faults = faults
        self._clock = clock
        self._start = clock.now()
        self._holders: list[tuple[float, str]] = [(clock.now(), "")]
        self._bound: dict[str, str] = {}  # node by pod uid
        # What a binding has broken, by pod, until it is known who sent it.
        self._broken: dict[str, list[tuple[str, str]]] = {}
        self.bindings = 0
        self.excused = 0  # over-commitments by misinformed hosts
        self.violations: list[Violation] = []
        api.store.listen(self._on_change)

    @property
    def holder(self) -> str:
        """The identity that holds the lease now; empty if nobody does."""
        return self._holders[-1][1]

    @property
    def leaders(self) -> int:
        """Return how many times a process has begun to lead."""
        return sum(1 for _, holder in self._holders if holder)

    def fail(self, invariant: str, detail: str) -> None:
        self.violations.append(Violation(self._clock.now() - self._start, invariant, detail))

    # --- what schedulers write -------------------------------------------------------------------

    def on_write(self, write: Write) -> None:
        line = f"{write.method} {write.path}"
        if not any(allowed.fullmatch(line) for allowed in self.allowed):
            self.fail("no write outside the rights", f"{write.host}: {line}")
        if write.path.endswith("/binding"):
            self._judge_binding(write)
        holder = self._holder_at(write.sent_at)
        if holder.rpartition("_")[0] not in ("", write.host) and not _OF_THE_LEASE.match(line):
            detail = f"{write.host}: {line}, sent while {holder} held the lease"
            self.fail("only the leader writes", detail)

    def _judge_binding(self, write: Write) -> None:
        for invariant, detail in self._broken.pop(write.path.split("/")[-2], ()):
            if write.host in self._faults.misinformed:
                self.excused += 1
            else:
                self.fail(invariant, f"{write.host}: {detail}")

    def _holder_at(self, moment: float) -> str:
        return next(holder for at, holder in reversed(self._holders) if at <= moment)

    # --- what changes in the cluster -------------------------------------------------------------

    def _on_change(self, resource: str, event: Event) -> None:
        if resource == LEASES and event.key == LOCK:
            self._on_lease(event.new.decode())
        elif resource == "pods":
            self._on_pod(event.new.decode())

    def _on_lease(self, lease: Json) -> None:
        holder = lease["spec"].get("holderIdentity") or ""
        if holder != self.holder:
            self._holders.append((self._clock.now(), holder))

    def _on_pod(self, pod: Json) -> None:
        node = pod["spec"].get("nodeName")
        uid, name = pod["metadata"]["uid"], pod["metadata"]["name"]
        if not node or self._bound.get(uid) == node:
            return
        if uid in self._bound:
            self.fail("no pod is bound twice", f"{name}: {self._bound[uid]}, then {node}")
        self._bound[uid] = node
        self.bindings += 1
        if broken := list(self._broken_by(pod)):
            self._broken[name] = broken

    def _broken_by(self, pod: Json) -> Iterator[tuple[str, str]]:
        """Yield what a pod that was just bound has broken, unless its host was misinformed."""
        name, node, world = pod["metadata"]["name"], pod["spec"]["nodeName"], World(self._api)
        if world.free(node) < 0:
            yield "no node is over-committed", f"{name} on {node}: {world.free(node)}m left"


class World:
    """The pods and nodes as the API server has them, judged by these few rules alone."""

    def __init__(self, api: Api) -> None:
        pods = api.store.objects("pods")
        alive = [pod for pod in pods if pod.get("status", {}).get("phase") not in _ENDED]
        self.placed = [pod for pod in alive if pod["spec"].get("nodeName")]
        waiting = [pod for pod in alive if not pod["spec"].get("nodeName")]
        self.pending = [pod for pod in waiting if not pod["metadata"].get("deletionTimestamp")]
        self.nodes = {node["metadata"]["name"]: node for node in api.store.objects("nodes")}
        self._used: Counter[str] = Counter()
        for pod in self.placed:
            self._used[pod["spec"]["nodeName"]] += cpu_milli(pod)

    def free(self, node: str) -> int:
        amount = self.nodes[node]["status"]["allocatable"]["cpu"]
        return milli(amount) - self._used[node]

    def open_nodes(self) -> list[str]:
        return [name for name, node in self.nodes.items() if not _is_closed(node)]

    def schedulable(self) -> list[str]:
        """Return the names of all that waits and would fit now."""
        return self.single_pods_that_fit()

    def single_pods_that_fit(self) -> list[str]:
        """Return the names of the pending pods that would fit somewhere now."""
        most = max((self.free(name) for name in self.open_nodes()), default=-1)
        return [pod["metadata"]["name"] for pod in self.pending if cpu_milli(pod) <= most]


def _is_closed(node: Json) -> bool:
    return bool(node["spec"].get("unschedulable") or node["spec"].get("taints"))


def cpu_milli(pod: Json) -> int:
    return milli(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])


def milli(amount: str) -> int:
    return quantity.milli(quantity.parse(amount))

"""DynamicResources on a small cluster, and what its tests build."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

import msgspec

from podium import framework as fwk
from podium.api.objects import AllocationResult, Pod, ResourceClaim, ResourceClaimStatus
from podium.devices import DeviceRules
from podium.plugins.dynamic_resources import DynamicResources
from podium.plugins.dynamic_resources.pod_claims import PodClaims
from podium.testing.builders import node, pod
from podium.testing.builders_devices import DRIVER, device_class, resource_claim, resource_slice
from podium.testing.handle import FakeHandle

ON_A = {"nodeSelectorTerms": [{"matchFields": [
    {"key": "metadata.name", "operator": "In", "values": ["a"]}
]}]}  # fmt: skip


def claiming(*claims: str, name: str = "web", **fields: Any) -> Pod:
    """A pod that names these claims."""
    references = [{"name": f"claim-{at}", "resourceClaimName": c} for at, c in enumerate(claims)]
    return pod(name, resource_claims=references, **fields)


def templated(generated: str | None = None, name: str = "web") -> Pod:
    """A pod whose claim comes from a template; ``generated`` is its name, once it is there."""
    statuses = [] if generated is None else [{"name": "gpu", "resourceClaimName": generated}]
    return pod(
        name,
        resource_claims=[{"name": "gpu", "resourceClaimTemplateName": "gpu"}],
        status={"resource_claim_statuses": statuses},
    )


def two_nodes(devices: int = 2) -> list[Any]:
    """Nodes a and b with so many devices each, and the class of these devices."""
    slices = [resource_slice(f"{name}-gpus", node=name, devices=devices) for name in "ab"]
    return [node("a"), node("b"), device_class("gpu"), *slices]


def with_status(claim: ResourceClaim, status: dict[str, Any]) -> ResourceClaim:
    """The claim with this status, as in a manifest."""
    return msgspec.structs.replace(claim, status=msgspec.convert(status, ResourceClaimStatus))


def allocated(
    name: str = "gpu",
    *,
    selector: dict[str, Any] | None = None,
    since: str = "",
    result: Any = (),
    conditions: Iterable[Any] = (),
    **fields: Any,
) -> ResourceClaim:
    """A claim that has gpu-0 of node a; other fields are those of ``resource_claim``."""
    first = {"request": "request-0", "driver": "gpu.example.com", "pool": "a", "device": "gpu-0"}
    named = {key: first[key] for key in ("driver", "pool", "device")}
    status: dict[str, Any] = {
        "allocation": {
            "devices": {"results": [{**first, **dict(result)}]},
            **({"nodeSelector": selector} if selector else {}),
            **({"allocationTimestamp": since} if since else {}),
        },
        "devices": [{**named, "conditions": list(conditions)}] if conditions else [],
    }
    return with_status(resource_claim(name, **fields), status)


def device(name: str) -> str:
    """``a/gpu-0`` as ``resource_claim(allocated=...)`` takes it."""
    return f"{DRIVER}/{name}"


def devices_of(allocation: AllocationResult | None) -> list[str]:
    """The devices of an allocation, such as ``a/gpu-0``."""
    results = () if allocation is None else allocation.devices.results
    return [f"{result.pool}/{result.device}" for result in results]


class Trial:
    """One plugin on a cluster of its own: ``Trial(*two_nodes(), resource_claim("gpu"))``."""

    def __init__(
        self,
        *objects: Any,
        kind: type[DynamicResources] = DynamicResources,
        rules: DeviceRules | None = None,
        **args: Any,
    ) -> None:
        self.handle = FakeHandle(*objects, device_rules=rules)
        self.cluster = self.handle.state
        self.devices = self.handle.devices
        self.plugin = kind(kind.Args(**args), self.handle)
        self.handle.use(self.plugin)
        self.state = fwk.CycleState()

    def claim(self, name: str) -> ResourceClaim:
        found = self.cluster.objects(ResourceClaim).get(f"default/{name}")
        assert found is not None, f"there is no claim {name}"
        return found

    def pre_filter(self, asking: Pod) -> fwk.Status:
        self.state = fwk.CycleState()
        return self.plugin.pre_filter(self.state, asking, self.handle.rows) or fwk.SUCCESS

    def verdicts(self, asking: Pod) -> dict[str, tuple[str, ...]]:
        """The reasons against each node, asked for one and for all; none for one that will do."""
        status = self.pre_filter(asking)
        assert status.ok, status
        one_by_one = [self.plugin.filter(self.state, asking, each) for each in self.handle.rows]
        assert list(self.plugin.filter_all(self.state, asking, self.handle.rows)) == one_by_one
        return dict(zip(self.handle.rows.names, (s.reasons for s in one_by_one), strict=True))

    def feasible(self, asking: Pod) -> str:
        """The names of the nodes that will do, in one word."""
        return "".join(name for name, reasons in self.verdicts(asking).items() if not reasons)

    def post_filter(self, asking: Pod) -> fwk.Status:
        statuses = fwk.NodeStatuses.none(self.handle.rows, fwk.Status.unschedulable("full"))
        nominate, status = self.plugin.post_filter(self.state, asking, statuses)
        assert nominate is None
        return status

    def reserve(self, asking: Pod, node_name: str = "a") -> fwk.Status:
        """Judge all nodes and take the devices on one of them."""
        self.verdicts(asking)
        return self.plugin.reserve(self.state, asking, node_name) or fwk.SUCCESS

    def unreserve(self, asking: Pod, node_name: str = "a") -> None:
        left = self.plugin.unreserve(self.state, asking, node_name)
        if left is not None:
            self.run(left)

    def pre_bind(self, asking: Pod, node_name: str = "a", **steps: Any) -> fwk.Status:
        """Run PreBind; ``steps`` as ``run`` takes them."""
        work = self.plugin.pre_bind(self.state, asking, node_name)
        return self.run(work, **steps) or fwk.SUCCESS

    def run_spawned(self) -> list[str]:
        """Run what the plugin does in the background; return the names of that work."""
        spawned, self.handle.spawned[:] = list(self.handle.spawned), []
        for _, work in spawned:
            self.run(work)
        return [name for name, _ in spawned]

    def run(self, work: Coroutine[Any, Any, Any], *, then: Callable[[], Any] = int) -> Any:
        """Run to the end; time passes while it waits, and ``then`` is called after each second."""
        return asyncio.run(self._driven(work, then))

    async def _driven(self, work: Coroutine[Any, Any, Any], then: Callable[[], Any]) -> Any:
        task = asyncio.ensure_future(work)
        for _ in range(1000):
            for _ in range(5):
                await asyncio.sleep(0)
            if task.done():
                return task.result()
            self.handle.clock.advance(1)
            then()
        raise AssertionError("it does not end")

    @property
    def claims(self) -> PodClaims:
        return self.state.get(PodClaims)

    @property
    def taken(self) -> list[str]:
        """All devices that are taken, by claims that have them and by those in flight."""
        return sorted(_taken(self.devices.taken))


def _taken(taken: Any) -> Iterable[str]:
    for key, use in taken._pools.items():
        for name in use.taken():
            yield f"{key.pool}/{name}"

"""A loop that only binds, on an embedded server."""

from podium.apiserver.api import Call
from podium.bench.live.bind_loop import BindLoop
from tests.support.client import with_world
from tests.support.faulty_proxy import answering

ALONE = {"leaderElect": False}
HELD = {"leaderElect": True, "resourceNamespace": "default", "resourceName": "drain-1"}


def add_node(world, name):
    status = {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"}}
    world.create("nodes", metadata={"name": name}, status=status)


def add_pod(world, name, cpu="1", **spec):
    resources = {"requests": {"cpu": cpu}}
    containers = [{"name": "app", "image": "app:1", "resources": resources}]
    meta = {"name": name, "namespace": "default"}
    world.create("pods", metadata=meta, spec={"containers": containers, **spec})


def pods(world):
    """The node of each pod by its name."""
    found = world.api.store.objects("pods")
    return {one["metadata"]["name"]: one["spec"].get("nodeName", "") for one in found}


@with_world
async def test_pods_go_to_the_nodes_in_turn_whatever_they_require(world):
    add_node(world, "a")
    add_node(world, "b")
    for number in range(4):
        add_pod(world, f"p{number}", cpu="99", nodeSelector={"no": "where"})

    world.start(BindLoop(world.connection).run(ALONE))

    await world.until(lambda: all(pods(world).values()))
    assert sorted(pods(world).values()) == ["a", "a", "b", "b"]


@with_world
async def test_without_nodes_pods_say_so_and_wait(world):
    add_pod(world, "early")
    world.start(BindLoop(world.connection).run(ALONE))
    await world.until(lambda: "there are no nodes" in repr(stored(world, "early")))

    add_node(world, "a")

    await world.until(lambda: pods(world)["early"] == "a")


def stored(world, name):
    (found,) = (one for one in world.api.store.objects("pods") if one["metadata"]["name"] == name)
    return found


@with_world
async def test_a_gated_pod_waits_for_its_gates(world):
    add_node(world, "a")
    add_pod(world, "gated", schedulingGates=[{"name": "g"}])
    add_pod(world, "plain")

    world.start(BindLoop(world.connection).run(ALONE))

    await world.until(lambda: pods(world)["plain"] == "a")
    assert pods(world)["gated"] == ""


@with_world
async def test_lower_pods_are_deleted_for_higher_ones(world):
    add_node(world, "a")
    world.create("priorityclasses.scheduling.k8s.io", metadata={"name": "high"}, value=100)
    for number in range(4):
        add_pod(world, f"low-{number}", nodeName="a", terminationGracePeriodSeconds=0)
    add_pod(world, "high", cpu="2", priorityClassName="high")

    world.start(BindLoop(world.connection).run(ALONE))

    await world.until(lambda: pods(world).get("high") == "a")
    assert len(pods(world)) == 3


@with_world
async def test_a_victim_that_is_gone_already_does_not_matter(world):
    add_node(world, "a")
    world.create("priorityclasses.scheduling.k8s.io", metadata={"name": "high"}, value=100)
    add_pod(world, "low", cpu="4", nodeName="a")
    world.proxy.instead("/pods/low", answering(404, "not found"))
    add_pod(world, "high", cpu="4", priorityClassName="high")

    world.start(BindLoop(world.connection).run(ALONE))

    await world.until(lambda: pods(world)["high"] == "a")


@with_world
async def test_the_lease_says_when_it_begins(world):
    world.start(BindLoop(world.connection).run(HELD))

    await world.until(lambda: world.api.store.objects("leases.coordination.k8s.io"))
    (lease,) = world.api.store.objects("leases.coordination.k8s.io")
    assert lease["metadata"]["name"] == "drain-1"
    assert lease["spec"]["holderIdentity"] == "bind-loop"


CLAIMS = "resourceclaims.resource.k8s.io"
ASKED = [
    {"name": "one", "exactly": {"deviceClassName": "gpu"}},
    {"name": "any", "firstAvailable": [{"name": "best", "deviceClassName": "gpu"}]},
]


@with_world
async def test_claims_are_written_as_by_a_scheduler(world):
    add_node(world, "a")
    meta = {"name": "shared", "namespace": "default"}
    world.create(CLAIMS, metadata=meta, spec={"devices": {"requests": ASKED}})
    for number in range(3):
        entry = {"name": "gpu", "resourceClaimName": "shared"}
        add_pod(world, f"p{number}", resourceClaims=[entry])

    world.start(BindLoop(world.connection).run(ALONE))

    await world.until(lambda: all(pods(world).values()))
    (claim,) = world.api.store.objects(CLAIMS)
    assert claim["metadata"]["finalizers"] == ["resource.kubernetes.io/delete-protection"]
    results = claim["status"]["allocation"]["devices"]["results"]
    assert [one["request"] for one in results] == ["one", "any/best"]
    assert sorted(one["name"] for one in claim["status"]["reservedFor"]) == ["p0", "p1", "p2"]
    # The binding has removed the expected node again, but not who wrote it.
    managed = stored(world, "p0")["metadata"]["managedFields"]
    assert "status" in [entry.get("subresource") for entry in managed]


@with_world
async def test_a_pod_waits_for_the_claim_from_its_template(world):
    add_node(world, "a")
    entry = {"name": "gpu", "resourceClaimTemplateName": "gpus"}
    add_pod(world, "waiting", resourceClaims=[entry])
    world.start(BindLoop(world.connection).run(ALONE))
    await world.quiet()
    assert pods(world) == {"waiting": ""}

    meta = {"name": "made", "namespace": "default"}
    world.create(CLAIMS, metadata=meta, spec={"devices": {"requests": ASKED}})
    status = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "made"}]}
    kind = world.api.kind("pods")
    obj = {**world.api.get(kind, ("default", "waiting")), "status": status}
    world.api.update(kind, ("default", "waiting"), obj, Call(subresource="status"))

    await world.until(lambda: pods(world)["waiting"] == "a")

"""Extended resources that devices provide: the claim that the scheduler makes up for a pod."""

import msgspec
import pytest

from podium import framework as fwk
from podium.api.objects import Pod, ResourceClaim, ResourceClaimSpec
from podium.api.selectors import only_node
from podium.devices.extended_resources import EXTENDED_CLAIM_ANNOTATION, ExtendedResources
from podium.plugins.dynamic_resources.extended import IN_MEMORY, needs_of
from podium.testing.builders import node, pod
from podium.testing.builders_devices import device_class, resource_claim, resource_slice
from tests.support.dynamic_resources import Trial, allocated, claiming, devices_of

GPU = "example.com/gpu"
CLASS = device_class("gpu", extended_resource_name=GPU)
OWNER = {"kind": "Pod", "name": "web", "uid": "uid-web", "controller": True}


def asking(amount="1", **fields):
    return pod("web", containers=[container("main", amount)], **fields)


def container(name, amount, **fields):
    requests = {"cpu": "1", GPU: amount} if amount else {"cpu": "1"}
    return {"name": name, "resources": {"requests": requests}, **fields}


def cluster(*objects):
    """a has two devices, b offers two itself, c has nothing."""
    nodes = node("a"), node("b", allocatable={GPU: "2"}), node("c")
    return Trial(*nodes, CLASS, resource_slice("a-gpus", node="a", devices=2), *objects)


def test_filter_by_what_serves_the_pod():
    """On b a device plugin does: NodeResourcesFit judges that."""
    assert cluster().verdicts(asking()) == {"a": (), "b": (), "c": ("cannot allocate all claims",)}


def test_resource_that_nothing_offers():
    """It is asked for beside one that devices provide."""
    requests = {"cpu": "1", GPU: "1", "example.com/nic": "1"}
    both = pod("web", containers=[{"name": "main", "resources": {"requests": requests}}])

    verdicts = cluster().verdicts(both)

    assert verdicts == dict.fromkeys("abc", ("cannot fit resource",))


def test_pod_without_such_resources_is_skipped():
    trial = cluster()

    assert trial.pre_filter(pod("web")).is_skip
    assert trial.pre_filter(asking("0")).is_skip
    assert trial.plugin.sign(pod("web")) is None
    with pytest.raises(fwk.NotSignable):
        trial.plugin.sign(asking())


def test_claim_is_created_in_pre_bind():
    trial = cluster()
    trial.reserve(asking("2"))
    assert trial.claims.extended.name == IN_MEMORY
    assert (trial.taken, trial.devices.in_flight) == (["a/gpu-0", "a/gpu-1"], 1)

    def show():
        """The watch shows the claim that was created."""
        trial.cluster.set_object(unallocated(trial.claims.extended))

    assert trial.pre_bind(asking("2"), then=show).ok

    created, finalizers, status, mapped = trial.handle.client.writes
    assert created[:2] == ("create claim", "default/web-extended-resources-made")
    [request] = created[2].devices.requests
    assert (request.name, request.exactly.count) == ("container-0-request-1", 2)
    assert devices_of(status[2]["allocation"]) == ["a/gpu-0", "a/gpu-1"]
    assert mapped[2].resource_claim_name == "web-extended-resources-made"
    [mapping] = mapped[2].request_mappings
    assert (mapping.container_name, mapping.resource_name) == ("main", GPU)
    assert finalizers[0] == "finalizers"
    assert (trial.taken, trial.devices.in_flight) == (["a/gpu-0", "a/gpu-1"], 0)


def unallocated(claim):
    plain = msgspec.to_builtins(claim)
    plain.pop("status", None)
    plain["metadata"]["resourceVersion"] = "0"
    return msgspec.convert(plain, ResourceClaim)


def test_failure_deletes_the_claim():
    trial = cluster()
    trial.reserve(asking())
    trial.pre_bind(asking())

    trial.unreserve(asking())

    assert trial.handle.client.writes[-1][0] == "delete claim"
    assert (trial.taken, trial.devices.in_flight) == ([], 0)


def test_device_plugin_serves_the_pod():
    trial = cluster()

    assert trial.reserve(asking(), "b").ok
    assert trial.pre_bind(asking(), "b").ok
    assert (trial.handle.client.writes, trial.taken) == ([], [])


def test_claim_of_an_earlier_attempt_is_deleted():
    """Whether it is still right would be hard to tell."""
    old = resource_claim(
        "web-extended-resources-x",
        annotations={EXTENDED_CLAIM_ANNOTATION: "true"},
        owner_references=[OWNER],
        finalizers=["resource.kubernetes.io/delete-protection"],
    )
    trial = cluster(old)

    verdicts = trial.verdicts(asking())
    assert verdicts == dict.fromkeys("abc", ("cannot schedule extended resource claim",))
    assert trial.post_filter(asking()).reasons == ("deletion of ResourceClaim completed",)
    trial.run_spawned()

    key = "default/web-extended-resources-x"
    assert trial.handle.client.writes == [("finalizers", key, ()), ("delete claim", key)]


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        pytest.param((), dict.fromkeys("abc", ()), id="alone"),
        pytest.param(
            ("own",),
            {"a": (), **dict.fromkeys("bc", ("resourceclaim not available on the node",))},
            id="beside-a-claim-of-the-pod",
        ),
    ],
)
def test_allocated_claim_that_asks_for_nothing(named, expected):
    """Upstream looks at where it is allocated only if the pod has other claims."""
    old = allocated(
        "web-extended-resources-x",
        selector=only_node("a"),
        annotations={EXTENDED_CLAIM_ANNOTATION: "true"},
        owner_references=[OWNER],
    )
    old = msgspec.structs.replace(old, spec=ResourceClaimSpec())

    trial = cluster(old, allocated("own"))

    assert trial.verdicts(claiming(*named, containers=[container("main", "1")])) == expected


def test_beside_a_claim_of_the_pod():
    trial = cluster(resource_claim("own"))
    both = claiming("own", containers=[container("main", "1")])

    assert trial.feasible(both) == "a"
    trial.reserve(both)
    assert trial.taken == ["a/gpu-0", "a/gpu-1"]


def made(init=(), main=()):
    """A pod with these amounts of its init containers ("2s" for a sidecar) and containers."""
    inits = [
        container(
            f"i{at}", amount.rstrip("s"), **({"restartPolicy": "Always"} if "s" in amount else {})
        )
        for at, amount in enumerate(init)
    ]
    mains = [container(f"m{at}", amount) for at, amount in enumerate(main)]
    return pod("web", init_containers=inits, containers=mains)


@pytest.mark.parametrize(
    ("asked", "requests", "mappings"),
    [
        pytest.param(made(main=["2"]), {"0-1": 2}, {"m0": ["0-1"]}, id="one-container"),
        pytest.param(
            made(main=["1", "2"]), {"0-1": 1, "1-1": 2}, {"m0": ["0-1"], "m1": ["1-1"]}, id="two"
        ),
        pytest.param(
            made(["1"], ["2"]), {"1-1": 2}, {"m0": ["1-1"], "i0": ["1-1"]}, id="init-reuses"
        ),
        pytest.param(
            made(["3"], ["1", "1"]),
            {"0-1": 1, "1-1": 1, "2-1": 1},
            {"m0": ["1-1"], "m1": ["2-1"], "i0": ["1-1", "2-1", "0-1"]},
            id="init-needs-more",
        ),
        pytest.param(
            made(["3", "2"], [""]),
            {"0-1": 3},
            {"i0": ["0-1"], "i1": ["0-1"]},
            id="init-containers-share-the-largest",
        ),
        pytest.param(
            made(["2", "1s"], ["1"]),
            {"1-1": 1, "2-1": 1},
            {"i1": ["1-1"], "m0": ["2-1"], "i0": ["1-1", "2-1"]},
            id="sidecar-lasts",
        ),
        pytest.param(
            made(["1s", "1"], [""]),
            {"0-1": 1, "1-1": 1},
            {"i0": ["0-1"], "i1": ["1-1"]},
            id="sidecar-before-it-is-not-reused",
        ),
        pytest.param(made(main=["500m"]), {}, {}, id="not-whole"),
    ],
)
def test_requests_of_containers(asked: Pod, requests, mappings):
    classes = ExtendedResources()
    classes.class_changed(None, CLASS)

    needs = needs_of(asked, [GPU], classes)

    found = {each.name: each.exactly.count for each in needs.requests}
    assert found == {_name(short): count for short, count in requests.items()}
    by_container = {}
    for mapping in needs.mappings:
        by_container.setdefault(mapping.container_name, []).append(mapping.request_name)
    assert by_container == {name: list(map(_name, each)) for name, each in mappings.items()}


def _name(short):
    index, resource = short.split("-")
    return f"container-{index}-request-{resource}"

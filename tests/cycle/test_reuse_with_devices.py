"""What is kept of equal pods is right while devices, their classes and claims change."""

from hypothesis import given
from hypothesis import strategies as st

from podium import app, config
from podium.api.objects import DeviceClass, ResourceClaim, ResourceSlice
from podium.testing.builders import node, pod
from podium.testing.builders_devices import device_class, resource_claim, resource_slice
from tests.support.clusters import Cluster
from tests.support.dynamic_resources import claiming, device
from tests.support.reuse import Pair, delete
from tests.support.search import examples

GPU = "example.com/gpu"
NODES = ("a", "b", "c")
CLAIMS = ("one", "two", "three")
REGISTRY = app.in_tree()
BY_DEVICES = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "scoringStrategy": {
                            "type": "MostAllocated",
                            "resources": [{"name": "cpu", "weight": 1}, {"name": GPU, "weight": 3}],
                        }
                    },
                },
                {
                    "name": "NodeResourcesBalancedAllocation",
                    "args": {"resources": [{"name": "cpu"}, {"name": GPU}]},
                },
            ]
        }
    ],
}
CONFIGURATIONS = st.sampled_from(
    [config.default(REGISTRY), config.from_value(BY_DEVICES, REGISTRY)]
)


def change_class(pair, number, draw):
    name = draw(st.sampled_from(("gpu", "other")))
    if draw(st.integers(0, 3)):
        resource = draw(st.sampled_from(("", GPU)))
        made = device_class(name, extended_resource_name=resource)
        pair.each(lambda core: core.cluster.set_object(made))
    else:
        pair.each(lambda core: core.cluster.remove_object(DeviceClass, name))


def change_slice(pair, number, draw):
    name = draw(st.sampled_from(NODES))
    if draw(st.integers(0, 3)):
        made = resource_slice(f"{name}-gpus", node=name, devices=draw(st.integers(0, 3)))
        pair.each(lambda core: core.cluster.set_object(made))
    else:
        pair.each(lambda core: core.cluster.remove_object(ResourceSlice, f"{name}-gpus"))


def change_claim(pair, number, draw):
    name = draw(st.sampled_from(CLAIMS))
    if draw(st.integers(0, 3)):
        held = draw(st.sampled_from(("", "a/gpu-0", "b/gpu-1")))
        made = resource_claim(name, count=draw(st.integers(1, 2)), allocated=held and device(held))
        pair.each(lambda core: core.cluster.set_object(made))
    else:
        pair.each(lambda core: core.cluster.remove_object(ResourceClaim, f"default/{name}"))


def change_node(pair, number, draw):
    offered = {GPU: "1"} if draw(st.booleans()) else {}
    made = node(draw(st.sampled_from(NODES)), cpu="2", allocatable=offered)
    pair.each(lambda core: core.cluster.set_node(made))


EVENTS = (change_class, change_slice, change_claim, change_node, delete)


def asking(kind, number, draw):
    """A pod of one kind: equal to others of its kind in all but its name and claims."""
    name = f"p{number}"
    match kind:
        case "claims":
            claims = draw(st.lists(st.sampled_from(CLAIMS), min_size=1, max_size=2, unique=True))
            return claiming(*claims, name=name, cpu="100m")
        case "extended":
            return pod(name, cpu="100m", requests={GPU: 1})
    return pod(name, cpu="100m")


@examples(200)
@given(configuration=CONFIGURATIONS, data=st.data())
def test_reuse_equals_scratch(configuration, data):
    pair = Pair(Cluster(nodes=[node(name, cpu="2") for name in NODES]), configuration)
    for name in NODES:
        made = resource_slice(f"{name}-gpus", node=name, devices=2)
        pair.each(lambda core, made=made: core.cluster.set_object(made))
    pair.each(lambda core: core.cluster.set_object(device_class("gpu", extended_resource_name=GPU)))
    for number in range(data.draw(st.integers(2, 16))):
        if data.draw(st.integers(0, 2)):
            kind = data.draw(st.sampled_from(("claims", "extended", "plain")))
            pair.attempt(asking(kind, number, data.draw))
        else:
            data.draw(st.sampled_from(EVENTS))(pair, number, data.draw)
    pair.each(lambda core: core.cluster.check_invariants())
    pair.each(lambda core: core.services.devices.check_invariants())

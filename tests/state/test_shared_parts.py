"""Equal parts of pods and nodes are stored once, and the objects stay what they were."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from podium.api.objects import Node, Pod
from podium.state.cluster import ClusterState
from podium.state.pod_info import PodInfo
from podium.state.shared_parts import SharedParts
from podium.testing.builders import node, pod

texts = st.sampled_from(["", "a", "b"])
amounts = st.dictionaries(st.sampled_from(["cpu", "memory"]), st.sampled_from(["1", "2"]))
resources = st.fixed_dictionaries({}, optional={"requests": amounts, "limits": amounts})
containers = st.lists(
    st.fixed_dictionaries(
        {"name": texts, "image": texts, "resources": resources},
        optional={"ports": st.just([{"hostPort": 80}]), "restartPolicy": st.just("Always")},
    ),
    max_size=2,
)
conditions = st.lists(st.fixed_dictionaries({"type": texts, "lastTransitionTime": texts}))
statuses = st.lists(
    st.fixed_dictionaries(
        {"name": texts, "ready": st.booleans(), "restartCount": st.integers(0, 1)},
        optional={"resources": resources, "allocatedResources": amounts, "imageID": texts},
    ),
    max_size=2,
)
pods = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries(
            {},
            optional={
                "namespace": texts,
                "annotations": st.dictionaries(texts, texts),
                "ownerReferences": st.lists(st.fixed_dictionaries({"name": texts}), max_size=2),
            },
        ),
        "spec": st.fixed_dictionaries(
            {"containers": containers},
            optional={
                "tolerations": st.lists(st.fixed_dictionaries({"key": texts}), max_size=2),
                "nodeSelector": st.dictionaries(texts, texts),
                "overhead": amounts,
            },
        ),
        "status": st.fixed_dictionaries(
            {},
            optional={
                "conditions": conditions,
                "containerStatuses": statuses,
                "allocatedResources": amounts,
            },
        ),
    }
)
images = st.lists(st.fixed_dictionaries({"names": st.lists(texts), "sizeBytes": st.just(7)}))


@given(st.lists(pods, max_size=6))
def test_pods_stay_as_they_were(objects):
    parts = SharedParts()
    for obj in objects:
        shared = msgspec.convert(obj, Pod)
        parts.share_pod(shared)

        assert shared == msgspec.convert(obj, Pod)
        assert msgspec.json.encode(shared) == msgspec.json.encode(msgspec.convert(obj, Pod))


@given(st.lists(images, max_size=4))
def test_nodes_stay_as_they_were(lists):
    parts = SharedParts()
    for found in lists:
        shared = msgspec.convert({"status": {"images": found}}, Node)
        parts.share_node(shared)

        assert shared == msgspec.convert({"status": {"images": found}}, Node)


def replica(name, node_name="n"):
    spec = {
        "nodeName": node_name,
        "containers": [{"name": "app", "resources": {"requests": {"cpu": "1"}}}],
        "tolerations": [{"key": "spot"}],
    }
    meta = {"name": name, "uid": name, "namespace": "x", "labels": {"app": "web"}}
    status = {"conditions": [{"type": "Ready", "status": "True"}]}
    return msgspec.convert({"metadata": meta, "spec": spec, "status": status}, Pod)


def assert_alike(one, other):
    assert one.labels is other.labels
    assert one.node_name is other.node_name
    assert one.spec.containers is other.spec.containers
    assert one.spec.tolerations is other.spec.tolerations
    assert one.status.conditions[0] is other.status.conditions[0]


def test_replicas_in_the_state_share_what_they_have_in_common():
    state = ClusterState()
    state.set_node(node("n"))
    one, other = replica("one"), replica("other")
    state.add_pod(one)
    state.add_pod(other)
    assert_alike(one, other)

    later = replica("one")
    state.update_pod(later)
    assert_alike(later, other)


def test_a_confirmed_pod_is_shared_when_it_is_updated():
    state = ClusterState()
    state.set_node(node("n"))
    state.add_pod(other := replica("other"))
    state.assume(PodInfo(pending := replica("one", "")), 0)
    state.add_pod(replica("one"))
    assert state.pods["one"].pod != pending
    state.update_pod(updated := replica("one"))

    assert_alike(updated, other)
    state.check_invariants()


def test_images_of_nodes_are_shared():
    state = ClusterState()
    big = {"names": ["big:1"], "sizeBytes": 10**9}
    for name in "ab":
        obj = {"metadata": {"name": name}, "status": {"images": [big]}}
        state.set_node(msgspec.convert(obj, Node))

    one, other = (state.node(name).node.status.images for name in "ab")
    assert one[0] is other[0]


def test_parts_seen_long_ago_are_forgotten(monkeypatch):
    monkeypatch.setattr("podium.state.shared_parts._MOST_KEPT", 10)
    parts = SharedParts()
    for number in range(100):
        parts.share_pod(pod(f"p{number}", tolerates=f"key{number}:"))

    assert len(parts._parts) < 20

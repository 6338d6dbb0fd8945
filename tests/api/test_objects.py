import msgspec
import pytest

from podium.api.objects import (
    CSIDriver,
    CSINode,
    Node,
    ObjectMeta,
    OwnerReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PodSpec,
    Service,
    StorageClass,
    Toleration,
    decode,
    encode,
)
from podium.errors import InvalidObject

POD = b"""{
  "apiVersion": "v1", "kind": "Pod",
  "metadata": {"name": "web", "namespace": "shop", "uid": "u1", "labels": {"app": "web"}},
  "spec": {
    "containers": [{"name": "c", "image": "nginx", "command": ["sleep"],
                    "ports": [{"containerPort": 80, "hostPort": 8080, "hostIP": "10.0.0.1"}],
                    "resources": {"requests": {"cpu": "100m", "memory": 1024}}}],
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
      {"nodeSelectorTerms": [{"matchExpressions": [{"key": "z", "operator": "Exists"}]}]}}},
    "tolerations": [{"key": "gpu", "operator": "Exists"}],
    "volumes": [{"name": "d", "awsElasticBlockStore": {"volumeID": "v1"}}]
  },
  "status": {"phase": "Pending", "podIPs": [{"ip": "10.1.2.3"}]}
}"""


def test_decode_reads_what_scheduling_needs():
    pod = decode(Pod, POD)
    (container,) = pod.spec.containers

    assert (pod.key, pod.uid, pod.labels) == ("shop/web", "u1", {"app": "web"})
    assert container.ports[0].host_ip == "10.0.0.1"
    assert container.resources.requests == {"cpu": "100m", "memory": 1024}
    assert pod.spec.affinity.node_affinity.required.node_selector_terms[0].match_fields == ()
    assert pod.spec.tolerations == (Toleration("gpu", "Exists"),)
    assert pod.spec.volumes[0].aws_elastic_block_store.volume_id == "v1"


def test_bytes_text_and_dicts_decode_alike():
    plain = msgspec.json.decode(POD)

    assert decode(Pod, POD) == decode(Pod, POD.decode()) == decode(Pod, plain)


def test_an_empty_pod_has_defaults():
    pod = Pod()

    assert (pod.key, pod.namespace, pod.node_name, pod.nominated_node_name) == ("", "", "", "")
    assert (pod.priority, pod.scheduler_name) == (0, "default-scheduler")
    assert not pod.is_terminating
    assert pod.controller is None


def test_what_a_pod_says_about_itself():
    owners = (OwnerReference(name="a"), OwnerReference(name="b", controller=True))
    meta = ObjectMeta(name="p", deletion_timestamp="2024-01-01T00:00:00Z", owner_references=owners)
    pod = Pod(meta, PodSpec(priority=-5, scheduler_name="other"))

    assert pod.is_terminating
    assert pod.controller is owners[1]
    assert (pod.priority, pod.scheduler_name) == (-5, "other")


@pytest.mark.parametrize("as_dict", [False, True], ids=["json", "dict"])
def test_null_means_absent(as_dict):
    data = b"""{"metadata": {"name": "p", "creationTimestamp": null, "labels": null},
      "spec": {"containers": [{"name": "c", "ports": null, "resources": null}, null],
               "affinity": null, "nodeSelector": null, "priority": null, "unknown": null}}"""

    pod = decode(Pod, msgspec.json.decode(data) if as_dict else data)

    assert pod.labels == {}
    assert pod.spec.containers[0].ports == ()
    assert pod.spec.containers[1].name == ""
    assert pod.spec.affinity is None


def test_null_inside_a_map_is_the_zero_value():
    data = b'{"metadata": {"labels": {"a": null}}, "status": {"allocatable": {"cpu": null}}}'

    node = decode(Node, data)

    assert node.labels == {"a": ""}
    assert node.status.allocatable == {"cpu": 0}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(
            b'{"metadata": {"name": "p", "namespace": "n"}, "spec": {"priority": "x"}}',
            "Pod n/p: spec.priority: Expected `int | null`, got `str`",
            id="type",
        ),
        pytest.param(
            b'{"metadata": {"name": "p"}, "spec": {"containers": [{"name": 3}]}}',
            "Pod p: spec.containers[0].name: Expected `str`, got `int`",
            id="in-a-list",
        ),
        pytest.param(
            b'{"metadata": {"name": "p", "labels": {"a": true}}}',
            "Pod p: metadata.labels[...]: Expected `str`, got `bool`",
            id="label-value",
        ),
        pytest.param(
            b'{"metadata": {"name": "p", "labels": null}, "spec": {"priority": 1e30}}',
            "Pod p: spec.priority: Expected `int | null`, got `float`",
            id="after-a-null",
        ),
        pytest.param(b'{"metadata": 3}', "Pod: metadata: Expected `object`, got `int`", id="meta"),
        pytest.param(b"[]", "Pod: Expected `object`, got `array`", id="no-object"),
        pytest.param(b"{", "Pod: Input data was truncated", id="no-json"),
        pytest.param(b'"\xff"', "Pod: ", id="no-utf8"),
        pytest.param(b'{"x": ' + b"[" * 100_000, "Pod: ", id="too-deep"),
        pytest.param({3: 4}, "Pod: ", id="number-as-key"),
        pytest.param({"spec": []}, "Pod: spec: Expected `object`, got `array`", id="dict"),
    ],
)
def test_decode_names_object_field_and_reason(data, message):
    with pytest.raises(InvalidObject) as caught:
        decode(Pod, data)

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("data", [POD, POD.decode(), msgspec.json.decode(POD)], ids=["b", "s", "d"])
def test_raw_reads_the_kept_json(data):
    pod = decode(Pod, data, keep_raw=True)

    assert pod.raw("status.podIPs") == [{"ip": "10.1.2.3"}]
    assert pod.raw("status.podIPs.0.ip") == "10.1.2.3"
    assert pod.raw("status.podIPs.1.ip") is None
    assert pod.raw("status.phase.deeper") is None
    assert pod.raw("spec.nothing") is None


def test_raw_survives_replace_and_does_not_count_for_equality():
    kept, plain = decode(Pod, POD, keep_raw=True), decode(Pod, POD)

    changed = msgspec.structs.replace(kept, spec=PodSpec(node_name="n1"))

    assert changed.raw("kind") == "Pod"
    assert kept == plain
    assert encode(kept) == encode(plain)


def test_raw_needs_the_json_kept():
    with pytest.raises(LookupError, match="Pod shop/web: its JSON was not kept"):
        decode(Pod, POD).raw("kind")


def test_raw_cannot_come_from_outside():
    with pytest.raises(InvalidObject):
        decode(Pod, b'{"(raw)": {"data": "x"}}')


def test_kinds_without_raw_refuse_to_keep_it():
    with pytest.raises(TypeError, match="Service cannot keep its JSON"):
        decode(Service, b"{}", keep_raw=True)


def test_objects_are_frozen_and_parts_are_cache_keys():
    pod = decode(Pod, POD)

    with pytest.raises(AttributeError):
        pod.spec.node_name = "n1"
    assert hash(pod.spec.tolerations) == hash(decode(Pod, POD).spec.tolerations)
    assert hash(pod.spec.affinity.node_affinity) is not None


def test_absent_and_empty_stay_apart_where_it_matters():
    claim = decode(PersistentVolumeClaim, b'{"spec": {"storageClassName": ""}}')

    assert claim.spec.storage_class_name == ""
    assert PersistentVolumeClaim().spec.storage_class_name is None
    assert Service().spec.selector is None
    assert decode(Service, b'{"spec": {"selector": {}}}').spec.selector == {}


def test_other_kinds():
    csi_node = decode(
        CSINode,
        b'{"spec": {"drivers": [{"name": "d", "nodeID": "i", "allocatable": {"count": 3}}]}}',
    )
    volume = decode(PersistentVolume, b'{"spec": {"csi": {"driver": "d", "volumeHandle": "h"}}}')
    storage_class = decode(StorageClass, b'{"volumeBindingMode": "WaitForFirstConsumer"}')
    budget = decode(PodDisruptionBudget, b'{"spec": {"minAvailable": "50%"}}')

    assert csi_node.spec.drivers[0].allocatable.count == 3
    assert csi_node.spec.drivers[0].node_id == "i"
    assert volume.spec.csi.volume_handle == "h"
    assert storage_class.volume_binding_mode == "WaitForFirstConsumer"
    assert budget.spec.min_available == "50%"
    assert decode(CSIDriver, b'{"spec": {"storageCapacity": true}}').spec.storage_capacity

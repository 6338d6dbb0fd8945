"""Anonymized snapshots: the same decisions about other names, and nothing left of the old ones."""

import json
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import podium
from podium import app, config
from podium.api.codec import decode, encode
from podium.api.images import full_name
from podium.api.objects import Pod
from podium.apiserver.bootstrap import new_api
from podium.apiserver.controllers.cluster import Cluster
from podium.apiserver.restoring import RestoredState, restore
from podium.client.resources import resource_of
from podium.clock import FakeClock
from podium.conformance.core import RESOURCES
from podium.cycle.outcome import Placed
from podium.framework.queued_pod import QueuedPod
from podium.snapshot import KindName, Snapshot
from podium.snapshot.anonymizing import anonymize
from podium.snapshot.kinds import KINDS, creation_order
from podium.snapshot.renaming import Renaming
from podium.state.cluster import load
from podium.testing.builders import node, pod
from podium.testing.builders_devices import resource_slice
from tests.support import clusters
from tests.support.controllers import World, storage_class, workload
from tests.support.controllers import node as node_manifest
from tests.support.generated_devices import CLASSES, DRIVERS, some_claim, some_pool
from tests.support.search import examples
from tests.support.snapshot_story import STORY, objects_of

SOURCES = Path(podium.__file__).parent
KEY = re.compile(
    r'"((?:[a-z0-9.-]+\.)?(?:kubernetes\.io|gke\.io|aws\.com|openstack\.org)/[\w.-]+)"'
)
REGISTRY = app.in_tree_with_legacy()
CONFIGURATION = config.default(REGISTRY)


def snapshot_of(objects):
    """A snapshot of objects of ``podium.api``."""
    found = {}
    for obj in objects:
        resource = resource_of(type(obj))
        version = f"{resource.group}/{resource.version}" if resource.group else resource.version
        typed = {"apiVersion": version, "kind": resource.kind}
        raw = msgspec.json.encode({**typed, **json.loads(encode(obj))})
        found.setdefault(KindName(version, resource.kind), []).append(raw)
    return Snapshot({name: tuple(raws) for name, raws in found.items()})


def judge(snapshot):
    """What is decided about each pending pod alone: by the order of pods and nodes, not by name."""
    objects = [
        decode(RESOURCES[name.kind], raw) for name, raws in snapshot.objects.items() for raw in raws
    ]
    pending = [obj for obj in objects if isinstance(obj, Pod) and not obj.node_name]
    return [_verdict(objects, subject) for subject in pending]


def _verdict(objects, subject):
    core = app.build(CONFIGURATION, registry=REGISTRY)
    load(core.cluster, objects)
    outcome = core.cycle(QueuedPod.of(subject)).run()
    core.background.run()  # evictions
    record = core.records.latest(subject.uid)
    names = [obj.name for obj in objects if type(obj).__name__ == "Node"]
    by_node = [_on_node(record.detail.of_node(name)) for name in names] if record.detail else []
    placed = (
        names.index(outcome.node.name) if isinstance(outcome, Placed) and record.tied < 2 else None
    )
    plugins = sorted((plugin, count) for (plugin, _), count in record.rejected.items())
    uids = {obj.key: obj.uid for obj in objects if isinstance(obj, Pod)}
    victims = [uids[key] for key in record.victims]
    return type(outcome).__name__, placed, plugins, by_node, victims


def _on_node(verdict):
    if verdict is None:
        return None
    score = verdict.scored and (verdict.scored.total, sorted(verdict.scored.scores.items()))
    return verdict.status.code, verdict.status.plugin, score


@st.composite
def snapshots(draw):
    cluster = draw(clusters.clusters())
    waiting = [draw(clusters.pods(f"pending-{number}")) for number in range(2)]
    return snapshot_of([*cluster.nodes, *cluster.pods, *cluster.ghosts, *cluster.others, *waiting])


@given(snapshots())
@examples(150)
def test_decisions_stay_the_same(snapshot):
    assert judge(anonymize(snapshot)) == judge(snapshot)


@st.composite
def snapshots_with_devices(draw):
    nodes = [node(name) for name in ("b", "a", "c")]
    slices = [
        each
        for one in nodes
        for driver in DRIVERS
        for each in draw(some_pool(driver, f"pool-{one.name}", {"node": one.name}, max_devices=3))
    ]
    claim = draw(some_claim("claim"))
    user = pod("user", resource_claims=[{"name": "x", "resourceClaimName": "claim"}])
    return snapshot_of([*nodes, *CLASSES, *slices, claim, user])


@given(snapshots_with_devices())
@examples(60)
def test_decisions_about_devices_stay_the_same(snapshot):
    assert judge(anonymize(snapshot)) == judge(snapshot)


def story():
    found = {}
    for obj in objects_of(STORY):
        name = KindName(obj["apiVersion"], obj["kind"])
        found.setdefault(name, []).append(json.dumps(obj).encode())
    return Snapshot({name: tuple(raws) for name, raws in found.items()})


def test_nothing_is_left_of_the_old_names():
    names = {obj["metadata"]["name"] for obj in objects_of(STORY)}
    words = names | {"example.com", "disk", "ssd", "web", "cache", "/data"}
    text = b"".join(raw for raws in anonymize(story()).objects.values() for raw in raws).decode()
    strings = set(_strings([json.loads(f"[{text.replace('}{', '},{')}]")]))
    left = {string for string in strings if string in words or "example.com" in string}
    assert left == {"example.com/gpu", "local", "port"}  # a resource, and fields


def _strings(value):
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, str):
        yield value


def test_an_anonymized_cluster_can_be_started():
    """Fields that are no names, such as times and quantities, stay readable."""
    world = World()
    world.create("storageclasses.storage.k8s.io", storage_class())
    world.create("nodes", node_manifest("n1"))
    world.create("deployments.apps", workload(replicas=2))
    claims = [{"metadata": {"name": "data"}, "spec": CLAIM}]
    world.create("statefulsets.apps", workload("db", serviceName="db", volumeClaimTemplates=claims))
    for _ in range(3):
        world.run_all()
    found = {}
    for each in (kind.resource for kind in KINDS):
        for obj in world.api.store.objects(each) if each in world.api.store.resources() else ():
            name = KindName(obj["apiVersion"], obj["kind"])
            found.setdefault(name, []).append(json.dumps(obj).encode())
    snapshot = anonymize(Snapshot({name: tuple(raws) for name, raws in found.items()}))

    again = Cluster(new_api(FakeClock(), seed=2))
    restore(again, RestoredState(creation_order(snapshot.objects)))

    assert again.store.count("pods") == len(world.pods()) == 3
    again.store.check_invariants()


CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def one(obj, **more):
    """One object with its kind, after it was made anonymous."""
    name = KindName(obj["apiVersion"], obj["kind"])
    found = anonymize(Snapshot({name: (json.dumps(obj).encode(),)}, **more))
    return json.loads(found.objects[name][0])


def pod_with(**spec):
    meta = {"name": "p", "namespace": "ns", "uid": "u"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"priority": 5, "schedulerName": "default-scheduler"}, id="scheduler"),
        pytest.param(
            {"nodeSelector": {"kubernetes.io/os": "linux", "node.kubernetes.io/x": "16"}},
            id="known-labels",
        ),
        pytest.param(
            {"tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}]},
            id="known-taints",
        ),
        pytest.param({"overhead": {"cpu": "100m", "example.com/gpu": "1"}}, id="quantities"),
    ],
)
def test_what_is_kept(spec):
    assert one(pod_with(**spec))["spec"] == spec


def test_numbers_are_kept_for_comparisons():
    terms = [{"key": "cores", "operator": "Gt", "values": ["16"]}]
    affinity = {"nodeSelectorTerms": [{"matchExpressions": terms}]}
    (found,) = one(pod_with(affinity=affinity))["spec"]["affinity"]["nodeSelectorTerms"]
    (term,) = found["matchExpressions"]
    assert (term["operator"], term["values"]) == ("Gt", ["16"])
    assert term["key"] != "cores"


def test_zones_of_a_volume_are_renamed_one_by_one():
    zone = "topology.kubernetes.io/zone"
    meta = {"name": "v", "labels": {zone: "east__west"}}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta}
    east, west = one(volume)["metadata"]["labels"][zone].split("__")
    assert east < west
    assert "east" not in (east, west)


def test_names_keep_their_order():
    names = ["zeta", "alpha", "alpha-1", "beta", "Z", "10", "9"]
    nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}} for name in names]
    raws = tuple(json.dumps(each).encode() for each in nodes)
    found = anonymize(Snapshot({KindName("v1", "Node"): raws}))
    new = [each["metadata"]["name"] for each in found.dicts("Node")]
    assert sorted(range(7), key=new.__getitem__) == sorted(range(7), key=names.__getitem__)


def test_names_and_labels_with_them_stay_equal():
    labels = {"kubernetes.io/hostname": "n1"}
    raw = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": labels}}
    meta = one(raw)["metadata"]
    assert meta["labels"]["kubernetes.io/hostname"] == meta["name"] != "n1"


def test_claims_of_ephemeral_volumes_are_found():
    volume = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "p-scratch", "namespace": "ns"},
    }
    raw = {
        KindName("v1", "Pod"): (json.dumps(pod_with(volumes=[volume])).encode(),),
        KindName("v1", "PersistentVolumeClaim"): (json.dumps(claim).encode(),),
    }
    found = anonymize(Snapshot(raw))
    (owner,), (made,) = found.dicts("Pod"), found.dicts("PersistentVolumeClaim")
    (renamed,) = owner["spec"]["volumes"]
    assert made["metadata"]["name"] == f"{owner['metadata']['name']}-{renamed['name']}"


def test_the_configuration():
    args = {
        "addedAffinity": {"nodeSelectorTerms": []},
        "defaultConstraints": [{"topologyKey": "rack", "maxSkew": 1}],
        "defaultingType": "List",
    }
    configuration = {
        "kind": "KubeSchedulerConfiguration",
        "extenders": [{"urlPrefix": "https://extender.example.com"}],
        "clientConnection": {"kubeconfig": "/home"},
        "profiles": [
            {
                "schedulerName": "mine",
                "plugins": {"score": {"disabled": [{"name": "ImageLocality"}]}},
                "pluginConfig": [{"name": "PodTopologySpread", "args": args}],
            }
        ],
    }
    raw = {KindName("v1", "Pod"): (json.dumps(pod_with(schedulerName="mine")).encode(),)}
    found = anonymize(Snapshot(raw, configuration=configuration))
    (profile,) = found.configuration["profiles"]
    (user,) = found.dicts("Pod")
    assert profile["schedulerName"] == user["spec"]["schedulerName"] != "mine"
    assert profile["plugins"] == configuration["profiles"][0]["plugins"]
    (entry,) = profile["pluginConfig"]
    assert entry["name"] == "PodTopologySpread"
    assert entry["args"]["defaultingType"] == "List"
    assert entry["args"]["defaultConstraints"][0]["topologyKey"] != "rack"
    assert found.configuration.keys() == {"kind", "profiles"}


def test_every_key_that_rules_name_is_kept():
    """Labels and annotations that a plugin reads would mean nothing under another key."""
    parts = ("plugins", "legacy", "framework", "state", "cycle", "queue", "api", "devices")
    sources = [file.read_text() for part in parts for file in (SOURCES / part).rglob("*.py")]
    found = {key for text in sources for key in KEY.findall(text)}
    assert len(found) > 20
    renaming = Renaming("<{}>".format)
    assert {key for key in found if renaming.key(key) != key} == set()


@pytest.mark.parametrize(
    "key", ["node-role.kubernetes.io/payments", "acme.kubernetes.io/x", "example.com/x", "x"]
)
def test_keys_that_users_choose_are_renamed(key):
    assert Renaming("<{}>".format).key(key) == f"<{key}>"


def test_owners_of_other_kinds_are_renamed():
    def owner(version, kind):
        return {"apiVersion": version, "kind": kind, "name": "o", "uid": "1", "controller": True}

    raw = pod_with()
    raw["metadata"]["ownerReferences"] = [
        owner("apps/v1", "ReplicaSet"),
        owner("acme.com/v1beta1", "PaymentRun"),
    ]
    known, other = one(raw)["metadata"]["ownerReferences"]
    assert (known["apiVersion"], known["kind"]) == ("apps/v1", "ReplicaSet")
    assert "acme" not in other["apiVersion"]
    assert other["apiVersion"].endswith("/v1beta1")
    assert other["kind"] not in ("PaymentRun", known["kind"])


def test_requests_for_devices_are_renamed_with_their_references():
    requests = [{"name": "card", "firstAvailable": [{"name": "big"}, {"name": "small"}]}]
    constraints = [{"requests": ["card/big"], "matchAttribute": "dra.example.com/numa"}]
    meta = {"name": "c", "namespace": "ns", "uid": "u"}
    spec = {"devices": {"requests": requests, "constraints": constraints}}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": meta,
        "spec": spec,
    }
    devices = one(claim)["spec"]["devices"]
    (request,), (constraint,) = devices["requests"], devices["constraints"]
    names = request["name"], request["firstAvailable"][0]["name"]
    assert "card" not in names
    assert constraint["requests"] == ["/".join(names)]
    assert constraint["matchAttribute"] == "dra.example.com/numa"


def test_avoided_controllers_are_found_again():
    signature = {"podController": {"kind": "ReplicaSet", "name": "rs", "uid": "7"}}
    avoid = {"preferAvoidPods": [{"podSignature": signature, "reason": "secret"}]}
    key = "scheduler.alpha.kubernetes.io/preferAvoidPods"
    meta = {"name": "n1", "annotations": {key: json.dumps(avoid)}}
    text = one({"apiVersion": "v1", "kind": "Node", "metadata": meta})["metadata"]["annotations"]
    (entry,) = json.loads(text[key])["preferAvoidPods"]
    assert entry["podSignature"]["podController"]["uid"] == "7"
    assert entry["podSignature"]["podController"]["name"] != "rs"
    assert "reason" not in entry


@pytest.mark.parametrize(
    ("image", "name"),
    [("app", "app:latest"), ("app:1", "app:1"), ("host:5000/app", "host:5000/app:latest")],
)
def test_names_of_images(image, name):
    assert full_name(image) == name


def test_devices_keep_what_selectors_name():
    made = resource_slice("s", driver="gpu.example.com", devices=1, node="n1")
    (raw,) = snapshot_of([made]).objects.values()
    before = json.loads(raw[0])
    after = one(before)
    assert after["spec"]["devices"] == before["spec"]["devices"]
    assert after["spec"]["driver"] == "gpu.example.com"
    assert after["spec"]["pool"]["name"] != before["spec"]["pool"]["name"]
